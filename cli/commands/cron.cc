// tarcil cron: jobs that the cluster makes again and again.
#include <cstdlib>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/cron.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/submission.h"
#include "cli/unmeasured.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/units.h"
#include "core/model/cron_schedule.h"
#include "env/time_zone.h"
#include "schema/convert.h"
#include "schema/convert_cron.h"

namespace tarcil {
namespace {

struct CronFlags {
  ContextFlags cluster;
  OutputFlags output;
  std::string name;
  std::string user;  // of whose it is, for operators
};

struct CronAddFlags : CronFlags {
  SubmissionFlags job;
  std::string schedule;
  std::string zone;
  std::string ifRunning = "skip";
  std::string deadline;
  bool replace = false;
};

CronStatus fetchCron(Cluster& cluster, const std::string& user, const std::string& name) {
  auto answer = cluster.ask([&user, &name](Session& session) {
    auto request = session.user.cronRequest();
    request.setUser(user.c_str());
    request.setName(name.c_str());
    return request.send();
  });
  return readCronStatus(answer.getCron());
}

std::string zoneNameFor(const CronAddFlags& flags) {
  const auto users = zoneNameOfUser(std::getenv("TZ"));
  if (flags.zone.empty() && !users) throw badInput("--zone: " + users.error().message);
  const std::string& name = flags.zone.empty() ? *users : flags.zone;
  if (const auto known = systemTimeZones().named(name); !known)
    throw badInput("--zone: " + known.error().message);
  return name;
}

Duration cronDeadlineOf(const CronAddFlags& flags) {
  if (flags.deadline.empty()) return kDefaultCronDeadline;
  const auto deadline = parseDuration(flags.deadline);
  if (!deadline) throw badInput("--deadline: " + deadline.error().message);
  if (const Status good = checkCronDeadline("--deadline", *deadline); !good)
    throw badInput(good.error().message);
  return *deadline;
}

// What of the job file keeps it from being made again and again.
void requireRepeatable(const CronAddFlags& flags, const JobFile& job) {
  std::string problem = whyNotAgain(job.spec);
  if (!job.files.empty()) {
    problem =
        "files: are shipped with one job; put them where the servers can read them, and name them by their "
        "paths "
        "there";
  } else if (job.after.size() > 0) {
    problem = kNoCronAfter;
  }
  if (!problem.empty()) throw badInput(flags.job.file + ": " + problem);
}

// All but its job, which the cluster may have a profile for. All that can be said without the cluster has
// been checked.
CronSpec cronOf(const CronAddFlags& flags, const JobFile& job) {
  if (const Status good = checkName("NAME", flags.name); !good) throw badInput(good.error().message);
  if (const auto schedule = parseCronSchedule(flags.schedule); !schedule)
    throw badInput("SCHEDULE: " + schedule.error().message);
  requireRepeatable(flags, job);
  return {.id = makeJobId(),
          .name = flags.name,
          .schedule = flags.schedule,
          .zone = zoneNameFor(flags),
          .ifRunning = valueIn(kIfRunningNames, flags.ifRunning).value(),
          .deadline = cronDeadlineOf(flags)};
}

int submitCron(const CronAddFlags& flags) {
  JobFile job = readSubmission(flags.job);
  if (!job.isNamed && flags.job.name.empty()) job.spec.name = flags.name;
  CronSpec cron = cronOf(flags, job);
  Cluster cluster(flags.cluster);
  addStoredProfile(cluster, flags.job.file, job);
  cron.job = std::move(job.spec);
  cluster.ask([&cron, &flags](Session& session) {
    auto request = session.user.addCronRequest();
    write(cron, request.initCron());
    request.setReplace(flags.replace);
    return request.send();
  });
  if (cron.job.profile.isAssumed) submitMeasuring(cluster, cron.job, {});
  const CronStatus status = fetchCron(cluster, "", flags.name);
  if (flags.output.json) {
    printJson(jsonOf(status));
  } else {
    const Style style = styleFor(flags.output.verbose);
    print(aligned({{"Name", flags.name},
                   {"Schedule", cron.schedule},
                   {"Zone", cron.zone},
                   {"State", stateText(status)},
                   {"Next", status.next.empty() ? "" : style.start(status.next.front())}}));
  }
  return kExitDone;
}

std::vector<CronStatus> fetchCrons(Cluster& cluster) {
  std::vector<CronStatus> crons;
  std::string user, name;
  while (true) {
    auto answer = cluster.ask([&user, &name](Session& session) {
      auto request = session.user.cronsRequest();
      request.initAfter().setUser(user.c_str());
      request.getAfter().setName(name.c_str());
      return request.send();
    });
    for (auto cron : answer.getCrons()) crons.push_back(readCronStatus(cron));
    if (!answer.hasNext()) return crons;
    user = answer.getNext().getUser().cStr();
    name = answer.getNext().getName().cStr();
  }
}

int listCrons(const CronFlags& flags) {
  Cluster cluster(flags.cluster);
  const std::vector<CronStatus> crons = fetchCrons(cluster);
  if (flags.output.json) {
    Json all = Json::array();
    for (const CronStatus& cron : crons) all.push_back(jsonOf(cron));
    printJson(all);
  } else {
    print(tableOf(crons, styleFor(flags.output.verbose)));
  }
  return kExitDone;
}

int showCron(const CronFlags& flags) {
  Cluster cluster(flags.cluster);
  const CronStatus cron = fetchCron(cluster, flags.user, flags.name);
  if (flags.output.json) {
    printJson(jsonOf(cron));
  } else {
    print(textOf(cron, styleFor(flags.output.verbose)));
  }
  return kExitDone;
}

void steerCron(Cluster& cluster, const CronFlags& flags, wire::CronChange change, const JobId& job = {}) {
  cluster.ask([&flags, change, &job](Session& session) {
    auto request = session.user.steerCronRequest();
    request.setUser(flags.user.c_str());
    request.setName(flags.name.c_str());
    request.setChange(change);
    request.setJob(bytesOf(job));
    return request.send();
  });
}

int changeCron(const CronFlags& flags, wire::CronChange change, const char* done) {
  Cluster cluster(flags.cluster);
  steerCron(cluster, flags, change);
  if (flags.output.json) {
    printJson({{"name", flags.name}, {"done", done}});
  } else {
    print(aligned({{done, flags.name}}));
  }
  return kExitDone;
}

int runCron(const CronFlags& flags) {
  Cluster cluster(flags.cluster);
  const JobId id = makeJobId();
  steerCron(cluster, flags, wire::CronChange::RUN, id);
  const JobNumber number = cluster.numberOf(id);
  printAccepted(flags.output, number, id);
  return kExitDone;
}

// NAME, whose it is, and the flags of every command.
void addCronName(CLI::App& command, CronFlags& flags) {
  command.add_option("NAME", flags.name, "The cron.")->required();
  command.add_option("--user", flags.user, "Whose it is, where it is not yours; for operators.")
      ->type_name("NAME");
  addOutputFlags(command, flags.output);
  addClusterFlags(command, flags.cluster);
}

template <typename Body>
void addCronCommand(CLI::App& cron, const char* name, const Help& help, Body body) {
  addCommand(cron, name, help, [body](CLI::App& command) {
    auto flags = std::make_shared<CronFlags>();
    addCronName(command, *flags);
    onRun(command, [flags, body]() { return body(*flags); });
  });
}

void addCronChange(CLI::App& cron, const char* name, const Help& help, wire::CronChange what,
                   const char* done) {
  addCronCommand(cron, name, help,
                 [what, done](const CronFlags& flags) { return changeCron(flags, what, done); });
}

const Help kAddHelp = {
    "cron add [OPTIONS] NAME SCHEDULE FILE", "Have a job made again and again.",
    "The cluster keeps the job file as it is now, with the values of --set and the profile, and makes a job "
    "of it "
    "at each time of the schedule; nothing on this machine is needed for that. Jobs are called NAME where "
    "the file "
    "gives no name.\n\n"
    "SCHEDULE has the five fields of cron(5), minute, hour, day of month, month and day of week: each *, "
    "numbers, "
    "ranges (1-5) and lists (0,30), steps (*/15), and names (JAN, MON); or it is @hourly, @daily, @weekly, "
    "@monthly or @yearly. It is read by the clock of --zone. docs/cron.md says what happens when clocks are "
    "put "
    "forward and back, and to times that pass while the master is down.",
    "  tarcil cron add nightly '0 6 * * 1-5' job.yaml\n"
    "  tarcil cron add poll '*/5 * * * *' poll.yaml --if-running wait\n"
    "  tarcil cron add report @monthly report.yaml --zone Europe/Berlin --set dir=/data\n"
    "  tarcil cron add nightly '0 5 * * 1-5' job.yaml --replace\n",
    "  0  added\n"
    "  1  refused\n"
    "  2  bad arguments or files; nothing was changed\n"
    "  3  no cluster in reach, or not allowed\n"};

void addCronAdd(CLI::App& cron) {
  addCommand(cron, "add", kAddHelp, [](CLI::App& command) {
    auto flags = std::make_shared<CronAddFlags>();
    command.add_option("NAME", flags->name, "What it is called, among yours.")->required();
    command.add_option("SCHEDULE", flags->schedule, "When, such as '0 6 * * 1-5'.")->required();
    addJobFlags(command, flags->job);
    command
        .add_option("--zone", flags->zone,
                    "By the clock of this time zone, such as Europe/Berlin; default: yours, or UTC.")
        ->type_name("ZONE");
    command
        .add_option(
            "--if-running", flags->ifRunning,
            "If the last job has not ended when a time comes: skip that time (default), wait for the end, "
            "start the next one beside it, or replace it (cancel it, then start).")
        ->check(oneOf(namesIn(kIfRunningNames)))
        ->type_name("WHAT");
    command
        .add_option(
            "--deadline", flags->deadline,
            "How long after its time a job may still be started, where it cannot be at once; default 1h.")
        ->type_name("DURATION");
    command.add_flag(
        "--replace", flags->replace,
        "Where you have a cron NAME already, give it this schedule and job. Its jobs, and what became "
        "of its times, stay; so does a hold.");
    addOutputFlags(command, flags->output);
    addClusterFlags(command, flags->cluster);
    onRun(command, [flags]() { return submitCron(*flags); });
  });
}

void addCronList(CLI::App& cron) {
  addCommand(cron, "list",
             {"cron list [OPTIONS]", "List crons, a line each.",
              "Yours; as an operator, everybody's. With the next time, the last job and what became of it.",
              "  tarcil cron list\n  tarcil cron list --json\n", ""},
             [](CLI::App& command) {
               auto flags = std::make_shared<CronFlags>();
               addOutputFlags(command, flags->output);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return listCrons(*flags); });
             });
}

}  // namespace

void addCron(CLI::App& app) {
  addGroup(
      app, "cron",
      {"cron COMMAND ...", "Have jobs made again and again.",
       "A cron is a job file with a schedule; the master makes the jobs.",
       "  tarcil cron add nightly '0 6 * * 1-5' job.yaml\n  tarcil cron list\n  tarcil cron show nightly\n",
       ""},
      [](CLI::App& cron) {
        addCronAdd(cron);
        addCronList(cron);
        addCronCommand(
            cron, "show",
            {"cron show [OPTIONS] NAME", "Show all of a cron.",
             "The next five times, and what became of the last ten: the number of the job, or why there "
             "was none.",
             "  tarcil cron show nightly\n", ""},
            showCron);
        addCronChange(cron, "hold",
                      {"cron hold [OPTIONS] NAME", "Have a cron make no jobs.",
                       "Its times pass until `tarcil cron release`; jobs that there are go on.",
                       "  tarcil cron hold nightly\n  tarcil cron release nightly\n", ""},
                      wire::CronChange::HOLD, "Held");
        addCronChange(cron, "release",
                      {"cron release [OPTIONS] NAME", "Have a held cron make jobs again.",
                       "From its next time on; times that passed meanwhile are not made up for.",
                       "  tarcil cron release nightly\n", ""},
                      wire::CronChange::RELEASE, "Released");
        addCronCommand(
            cron, "run",
            {"cron run [OPTIONS] NAME", "Have a cron make one job now.",
             "Refused while its last job has not ended (but for those with --if-running start), within a "
             "minute of the last one, and while it is held.",
             "  tarcil cron run nightly\n", ""},
            runCron);
        addCronChange(cron, "remove",
                      {"cron remove [OPTIONS] NAME", "Remove a cron.", "Jobs that it made go on.",
                       "  tarcil cron remove nightly\n", ""},
                      wire::CronChange::REMOVE, "Removed");
      });
}

}  // namespace tarcil
