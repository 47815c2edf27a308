// tarcil serve master
#include <CLI/CLI.hpp>

#include "cli/tarcild/etcd_options.h"
#include "cli/tarcild/serve.h"
#include "core/base/failure.h"
#include "core/model/job.h"
#include "deploy/roles/roles.h"

namespace tarcil {
namespace {

constexpr const char* kMasterExits =
    "  0  stopped by SIGTERM or SIGINT\n"
    "  1  could not go on (for instance no memory left): nothing answered is lost\n"
    "  2  bad arguments, or a file or folder that cannot be used\n"
    "  4  a write to the store failed, or may have, or another master may lead:\n"
    "     nothing answered is lost\n";

struct Master {
  explicit Master(CLI::App& command) : table(command) {}

  OptionTable table;
  MasterFlags flags;
  std::string folder;
  std::vector<std::string> vouching;
};

constexpr NumberRange kWaitProbability{0, 1, NumberRange::Ends::kNone};
constexpr NumberRange kWaitHeadroom{0, 10};
// That the history of waits is cut into: enough to tell regular arrivals from bursts.
constexpr int kIntervals = 360;

int run(Master& master) {
  MasterFlags& flags = master.flags;
  const std::string data = requireInput(dataFolder(master.folder));
  flags.data = data;
  if (flags.store.empty()) flags.store = data + "/master/store";
  if (flags.tokens.empty()) flags.tokens = data + "/master/tokens";
  if (flags.audit.empty()) flags.audit = data + "/master/audit";
  master.table.read();
  for (const std::string& rule : master.vouching) {
    if (const Status taken = flags.options.vouching.add(rule); !taken)
      throw badInput("--vouch: " + taken.error().message);
  }
  flags.options.buckets.interval = flags.options.buckets.window / kIntervals;
  return serveMaster(flags);
}

void addPlaces(Master& master) {
  OptionTable& table = master.table;
  table.text("--data", master.folder, "DIR", "Folder for everything below. Default: as for other commands.");
  table.text("--listen", master.flags.listen, "ADDR",
             "host:port or unix:PATH. Default: as `tarcil init` was told, else unix:DATA/run/master.sock");
  table.text("--join", master.flags.join, "ADDR",
             "host:port for machines that join, where the cluster has an authority. Default: as `tarcil "
             "init` was told.");
  table.texts(
      "--masters", master.flags.masters, "ADDR[,ADDR]",
      "Addresses of all masters, this one among them, as machines that join are told. May be repeated. "
      "Default: this one's.");
  table.duration(
      "--certificate-life", master.flags.certificateLife,
      "How long certificates are good that it makes; roles renew theirs at two thirds of that: 3s to 365d.",
      {std::chrono::seconds(3), std::chrono::days(365)});
  CLI::Option& store =
      table.text("--store", master.flags.store, "DIR", "Folder of the store. Default: DATA/master/store");
  table.text("--tokens", master.flags.tokens, "FILE", "File of tokens. Default: DATA/master/tokens");
  table.text(
      "--secrets-key", master.flags.secretsKey, "FILE",
      "File of the key that secrets are sealed with, and of the one before it; all masters need the same "
      "one. Default: the credential tarcil-secrets-key of systemd, else DATA/master/secrets.key, where "
      "one is there.");
  addEtcdOptions(table, master.flags.etcd).excludes(&store);
  table.size("--etcd-quota", master.flags.etcd.store.quota,
             "Space that etcd has (its --quota-backend-bytes): new jobs are refused while less than "
             "--disk-reserve is left of it.");
  table.duration("--etcd-lease", master.flags.etcd.store.leadership.lease,
                 "How long another master waits after this one is gone; etcd rounds it up to seconds, and "
                 "gives no less than one and "
                 "a half of its election timeouts.",
                 {std::chrono::seconds(1), std::chrono::minutes(5)});
  table.duration("--etcd-wait", master.flags.etcd.store.firstAnswer,
                 "How long etcd may take to answer at the start, as where both start with the machine.");
  table.flag("--etcd-new", master.flags.etcd.store.mayBegin,
             "Begin a new store in etcd where there is none under the prefix.");
  table.texts(
      "--drop-job", master.flags.dropJobs, "ID",
      "Start without this job, for good: where a job keeps the master from starting. May be repeated.");
  table.flag("--hide-others", master.flags.options.hidesOthers,
             "Tell users who are no operators not whose the tasks are that run beside theirs: `server show`, "
             "`plan` and the causes of `job explain` show what those press on and nothing else.");
  table.texts("--vouch", master.vouching, "AGENT=all|known",
              "Believe this agent (*: every one) who its machine's users are, who need no token then: all of "
              "them, as submitters whose jobs run as themselves, or those that `tarcil user add` made known. "
              "Never root. May be repeated. Default: nobody is let in so.");
  table.flag(
      "--read-only", master.flags.options.readOnly,
      "Show what the store holds and change nothing, not even where it exceeds the bounds: takes no jobs, "
      "agents or monitors. Commands that only look reach this master at its own address (--cluster).");
}

// Each member's declaration in master/logic/options.h says why its default is what it is.
void addLimits(OptionTable& table, MasterOptions& options) {
  table.duration("--agent-timeout,--agent-grace", options.agentTimeout,
                 "How long an agent may be disconnected before its jobs go to another.");
  table.duration("--server-timeout,--server-grace", options.serverTimeout,
                 "How long a monitor may be disconnected before its tasks count as lost.");
  table.duration("--remove-down-servers-after", options.removeDownServersAfter,
                 "How long a server may be down before jobs do not count on it any more, as after `tarcil "
                 "server remove`; 0: for ever.");
  table.count("--keep-finished", options.keepFinishedJobs, 1, 10'000'000,
              "Finished jobs that are kept; the oldest go first.");
  table.size("--keep-finished-size", options.keepFinishedBytes,
             "Memory for finished jobs; the oldest go first.");
  table.size(
      "--keep-files-size", options.keepFileBytes,
      "Input files of finished jobs that are not done, kept for `tarcil job rerun`; the oldest go first.");
  table.duration("--keep-finished-for", options.keepFinishedFor, "How long finished jobs are kept at most.");
  table.count("--max-jobs-of-user", options.maxUnfinishedOfUser, 1, 10'000'000,
              "Unfinished jobs that one user may have; beyond, submissions are refused.");
  table.count("--max-jobs", options.maxUnfinished, 1, 10'000'000,
              "Unfinished jobs of all users; beyond, submissions are refused.");
  table.size("--max-jobs-size-of-user", options.maxUnfinishedBytesOfUser,
             "Memory that the unfinished jobs of one user may take; beyond, submissions are refused.");
  table.size("--max-jobs-size", options.maxUnfinishedBytes,
             "Memory that unfinished jobs of all users may take; beyond, submissions are refused.");
  table.size("--max-files-size-of-user", options.maxFileBytesOfUser,
             "Input files of the unfinished jobs of one user; beyond, submissions are refused.");
  table.size("--max-files-size", options.maxFileBytes,
             "Input files of the unfinished jobs of all users; beyond, submissions are refused.");
  table.count("--max-tasks-of-job", options.maxTasksOfJob, 1, kMaxTasks,
              "Tasks that one job may have; jobs with more are refused.");
  table.size("--disk-reserve", options.diskReserve,
             "Space to be left on the store's disk: with less, new jobs are refused.");
}

void addAudit(OptionTable& table, MasterFlags& flags) {
  table.text("--audit", flags.audit, "DIR", "Folder of the audit log. Default: DATA/master/audit");
  table.size("--audit-file-size", flags.auditLog.fileBytes,
             "Size of a file of the audit log, after which the next one begins.");
  table.size("--keep-audit-size", flags.auditLog.keepBytes,
             "Space for the files of the audit log; the oldest go first, the newest stays.");
  table.count("--keep-audit-files", flags.auditLog.keepFiles, 1, 1'000'000,
              "Files of the audit log that are kept; the oldest go first.");
  table.duration("--keep-audit-for", flags.auditLog.keepFor,
                 "How long a file of the audit log is kept after its last entry.");
}

void addPolicies(OptionTable& table, MasterOptions& options) {
  table.duration(
      "--ageing", options.ageing,
      "Raise the priority of a user's waiting jobs by 1 each interval in which none of them gets anything; "
      "0s: never.");
  table.duration(
      "--reservation-delay,--room-patience", options.reservationDelay,
      "How long a gang, or a job whose tasks take several units, waits before servers are reserved for it; "
      "its max_wait takes precedence.");
  table.duration("--adjusting-pause", options.adjustingPause,
                 "Interval between two adjustments for a degraded task, one that performs below what its "
                 "job expects.");
  table.duration("--adjusting-calm", options.adjustingCalm,
                 "How long such a task must perform well again before the adjustments are undone.");
  table.count(
      "--max-auto-cordoned,--most-shielded", options.maxAutoCordonedPercent, 0, 100,
      "Servers, in per cent and at least one, that may be cordoned at once because a task on them performs "
      "badly; 0: none.",
      "PERCENT");
  table.count("--buckets", options.buckets.buckets, 1, 256,
              "Buckets of similar servers, of each platform, that waits are estimated from.");
  table.duration("--wait-history", options.buckets.window,
                 "For how long it is remembered when units came free, to estimate waits: 10m to 30d.",
                 {std::chrono::minutes(10), std::chrono::days(30)});
  table.number("--wait-probability", options.admission.probability, kWaitProbability,
               "How surely a job has its slots by the start that is predicted for it, between 0 and 1.");
  table.number(
      "--wait-headroom", options.admission.headroom, kWaitHeadroom,
      "How many more free slots than it needs a job has to have in its buckets before it is not expected to "
      "wait, as a fraction, 0 to 10.");
  table.count("--quarantine-after", options.quarantineAfter, 0, 1'000'000,
              "Tasks in a row, within 10 minutes, that a server fails to start before it is quarantined for "
              "a minute, then for longer; 0: never.");
}

}  // namespace

void addServeMaster(CLI::App& serve) {
  addCommand(
      serve, "master",
      {"serve master [OPTIONS]", "Keep the cluster's state: one per cluster.",
       "Keeps the one resilient copy of the shared state in RocksDB, or in etcd, takes the commits of "
       "agents, and "
       "answers only what is stored. It may be killed at any moment; started again on the same store, it "
       "continues. With --etcd any number may run, each at an address of its own, of which one leads and the "
       "others stand by.\n\n"
       "Tokens are read at the start and again at SIGHUP, one a line: TOKEN USER ROLE [RUN-AS,...], where "
       "ROLE is submit, "
       "operate, agent or monitor and RUN-AS the system users that jobs may run as, the default first. The "
       "file must be readable by its owner only.",
       "  tarcil serve master --data /var/lib/tarcil --listen 10.0.0.1:7001\n", kMasterExits},
      [](CLI::App& command) {
        auto master = std::make_shared<Master>(command);
        addPlaces(*master);
        addLimits(master->table, master->flags.options);
        addAudit(master->table, master->flags);
        addPolicies(master->table, master->flags.options);
        addRoleOptions(master->table, master->flags.role);
        onRun(command, [master]() { return run(*master); });
      });
}

}  // namespace tarcil
