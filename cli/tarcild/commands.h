// The commands that take more than a user of a cluster needs, and that the program tarcild carries out: those
// that start roles, open a store, simulate or measure.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_line.h"

namespace tarcil {

// A cluster and its roles.
void addUp(CLI::App& app);
void addDown(CLI::App& app);
void addInit(CLI::App& app);
void addJoin(CLI::App& app);
void addServe(CLI::App& app);   // with all below it
void addMaster(CLI::App& app);  // with all below it
void addOptions(CLI::App& app);
// Pages of all commands, these `verbs` among them.
void addMan(CLI::App& app, const MakeVerbs& verbs);

// From a command to a profile, and where profiles are kept. `command` as of addRun (cli/commands/commands.h).
void addProfile(CLI::App& app, const std::vector<std::string>& command);  // with all below it
void addProfileStore(CLI::App& profile);

// What a cluster does, recorded, and simulated.
void addRecord(CLI::App& app);
void addSim(CLI::App& app);

}  // namespace tarcil
