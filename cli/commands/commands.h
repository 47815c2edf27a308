// The commands that the program tarcil carries out itself: those that talk to a cluster or compute something
// small. The others are in cli/tarcild/. Each adds itself to the application: its flags, its help, and what
// it does (cli/command.h).
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace tarcil {

struct SubmissionFlags;

// Jobs.
// Shows what would become of the job, as `tarcil plan`; the exit code.
int showPlan(const ContextFlags& cluster, const OutputFlags& output, const SubmissionFlags& job);
void addSubmit(CLI::App& app);
void addPlan(CLI::App& app);
// `command` is what followed "--" on the command line: it is the user's, and no flag of ours is looked for
// in it.
void addRun(CLI::App& app, const std::vector<std::string>& command);
void addJob(CLI::App& app);  // with all below it
void addJobList(CLI::App& job);
void addJobStatus(CLI::App& job);
void addJobExplain(CLI::App& job);
void addJobLogs(CLI::App& job);
void addJobFiles(CLI::App& job);
void addJobFetch(CLI::App& job);
void addJobWait(CLI::App& job);
void addJobCancel(CLI::App& job);
void addJobSteering(CLI::App& job);
void addCron(CLI::App& app);  // with all below it

// The cluster's parts and settings.
void addStatus(CLI::App& app);
void addTop(CLI::App& app);
void addServer(CLI::App& app);  // with all below it
void addServerSteering(CLI::App& server);
void addAgent(CLI::App& app);
void addAudit(CLI::App& app);
void addJoinToken(CLI::App& app);
void addCertificate(CLI::App& app);  // with all below it
void addPlatform(CLI::App& app);
void addTune(CLI::App& app);
void addUsage(CLI::App& app);
void addUser(CLI::App& app);     // with all below it
void addAccount(CLI::App& app);  // with all below it
void addSecret(CLI::App& app);   // with all below it
void addLogin(CLI::App& app);
void addQueue(CLI::App& app);
void addBuckets(CLI::App& app);
void addMetrics(CLI::App& app);
void addPage(CLI::App& app);

void addToken(CLI::App& app);  // with all below it; but for these without a cluster

// Without a cluster.
void addQuality(CLI::App& app);
void addVersion(CLI::App& app);

}  // namespace tarcil
