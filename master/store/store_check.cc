#include "master/store/store_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/hex.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/model/cron_schedule.h"
#include "identity/logic/member_table.h"
#include "identity/logic/people_table.h"
#include "secrets/logic/secret_table.h"

namespace tarcil {
namespace {

std::string jobKeyText(char kind, const JobId& job) {
  return std::string(1, kind) + "/" + toString(job);
}

struct ReadableKey {
  std::string operator()(const ClusterRecord&) const { return "c"; }
  std::string operator()(const QualitySettings&) const { return "g"; }
  std::string operator()(const ServerRecord& r) const { return "s/" + std::to_string(r.id); }
  std::string operator()(const AgentRecord& r) const { return "a/" + r.name; }
  std::string operator()(const AnswerRecord& r) const {
    return "r/" + r.agent + "/" + std::to_string(r.epoch) + "/" + std::to_string(r.answer.sequence);
  }
  std::string operator()(const JobRecord& r) const { return jobKeyText('j', r.id); }
  std::string operator()(const JobProgress& r) const { return jobKeyText('p', r.id); }
  std::string operator()(const TaskRecord& r) const {
    return jobKeyText('t', r.job) + "/" + std::to_string(r.index);
  }
  std::string operator()(const DecisionRecord& r) const {
    return jobKeyText('d', r.job) + "/" + std::to_string(r.number);
  }
  std::string operator()(const FilesRecord& r) const {
    return jobKeyText('f', r.job) + (r.piece == 0 ? "" : "/" + std::to_string(r.piece));
  }
  std::string operator()(const UploadRecord& r) const { return jobKeyText('w', r.job); }
  std::string operator()(const PlatformRecord& r) const { return "h/" + r.name; }
  std::string operator()(const Usage& r) const { return "u/" + r.user; }
  std::string operator()(const StoredProfile& r) const { return "q/" + r.profile.application; }
  std::string operator()(const Profiling& r) const { return "m/" + r.application; }
  std::string operator()(const ObservedProfile& r) const { return "o/" + r.user + "/" + r.application; }
  std::string operator()(const Cron& r) const { return "k/" + r.user + "/" + r.spec.name; }
  std::string operator()(const MemberRecord& r) const {
    return "i/" + std::string(tarcil::name(r.role)) + "/" + r.name;
  }
  std::string operator()(const UserRecord& r) const { return "n/" + r.name; }
  std::string operator()(const AccountRecord& r) const { return "b/" + r.name; }
  std::string operator()(const TokenRecord& r) const { return "x/" + hexOf(r.id); }
  std::string operator()(const AuditRecord& r) const { return "l/" + std::to_string(r.first); }
  std::string operator()(const SecretRecord& r) const { return "e/" + fullName(r.owner, r.name); }
};

// What the states of its tasks make a job.
RunState stateFrom(const std::map<RunState, uint32_t>& counts) {
  for (RunState state : {RunState::kRunning, RunState::kStarting, RunState::kQueued, RunState::kFailed,
                         RunState::kLost, RunState::kCancelled}) {
    const auto found = counts.find(state);
    if (found != counts.end() && found->second > 0) return state;
  }
  return RunState::kDone;
}

class Checker {
 public:
  explicit Checker(const WholeStore& store) : store_(store), contents_(store.contents) {
    if (contents_.cluster) nextAllocation_ = contents_.cluster->nextAllocation;
    for (const ServerRecord& server : contents_.servers) servers_.emplace(server.facts.name, &server);
    for (const AgentRecord& agent : contents_.agents) agents_.emplace(agent.name, &agent);
    for (const JobRecord& job : contents_.jobs) jobs_[job.id].record = &job;
    for (const JobProgress& progress : contents_.progress) {
      if (Job* job = find(progress.id)) job->progress = &progress;
    }
    for (const DecisionRecord& decision : store.decisions) {
      if (Job* job = find(decision.job)) job->decisions.emplace(decision.number, &decision);
    }
    for (const TaskRecord& task : contents_.tasks) {
      if (Job* job = find(task.job)) ++job->stored[task.state];
    }
  }

  std::vector<StoreProblem> run() {
    checkCluster();
    for (const ServerRecord& server : contents_.servers) checkServer(server);
    for (const PlatformRecord& platform : contents_.platforms) checkPlatform(platform);
    for (const AgentRecord& agent : contents_.agents) checkAgent(agent);
    checkAnswers();
    for (const auto& [id, job] : jobs_) checkJob(job);
    for (const JobProgress& progress : contents_.progress) checkProgress(progress);
    for (const TaskRecord& task : contents_.tasks) checkTask(task);
    for (const DecisionRecord& decision : store_.decisions) checkDecision(decision);
    checkFiles();
    checkProfilings();
    for (const Cron& cron : contents_.crons) checkCronRecord(cron);
    checkMembers();
    checkPeople();
    checkAudit();
    checkSecrets();
    return std::move(problems_);
  }

 private:
  struct Job {
    const JobRecord* record = nullptr;
    const JobProgress* progress = nullptr;
    std::map<uint32_t, const DecisionRecord*> decisions;
    std::map<RunState, uint32_t> stored;  // tasks with a record, by state
  };
  using Where = std::pair<std::string, std::string>;  // server; unit or countable thing

  Job* find(const JobId& id) {
    const auto found = jobs_.find(id);
    return found == jobs_.end() ? nullptr : &found->second;
  }

  void report(const Record& record, std::string what) {
    problems_.push_back({readableKey(record), std::move(what)});
  }

  void checkCluster() {
    const bool used = !contents_.servers.empty() || !contents_.agents.empty() || !contents_.jobs.empty();
    if (!contents_.cluster) {
      if (used) problems_.push_back({"c", "the record of the cluster is missing"});
      return;
    }
    const ClusterRecord& cluster = *contents_.cluster;
    if (cluster.cluster.empty()) report(cluster, "the cluster has no name");
    if (cluster.epoch == 0) report(cluster, "the epoch is 0; epochs count from 1");
    if (!contents_.settings) {
      problems_.push_back({"g", "the settings are missing"});
    } else {
      for (const std::string& problem : problems(*contents_.settings)) report(*contents_.settings, problem);
    }
  }

  void checkServer(const ServerRecord& server) {
    const ServerFacts& facts = server.facts;
    if (server.id >= contents_.servers.size()) {
      report(server, "its number leaves a gap: there are " + std::to_string(contents_.servers.size()) +
                         " servers, numbered from 0");
    }
    if (servers_.at(facts.name) != &server)
      report(server, "server " + facts.name + " is also " + readableKey(*servers_.at(facts.name)));
    for (const auto& [what, name] : {std::pair{"name", facts.name}, std::pair{"platform", facts.platform}}) {
      if (const Status good = checkName(what, name); !good) report(server, good.error().message);
    }
    if (facts.rus < 1 || facts.rus > kMaxServerRus) {
      report(server,
             "it has " + std::to_string(facts.rus) + " units, not 1 to " + std::to_string(kMaxServerRus));
    }
  }

  void checkPlatform(const PlatformRecord& platform) {
    if (const Status good = checkName("platform", platform.name); !good)
      report(platform, good.error().message);
  }

  void checkAgent(const AgentRecord& agent) {
    if (const Status good = checkName("agent", agent.name); !good) report(agent, good.error().message);
    if (agent.epoch == 0) report(agent, "its epoch is 0; epochs count from 1");
  }

  // Answers of an agent come without gaps: those before have been taken note of.
  void checkAnswers() {
    std::map<std::string, std::set<uint64_t>> sequences;
    for (const AnswerRecord& answer : contents_.answers) {
      const auto agent = agents_.find(answer.agent);
      if (agent == agents_.end()) {
        report(answer, "there is no agent " + answer.agent);
      } else if (agent->second->epoch != answer.epoch) {
        report(answer, "the agent's epoch is " + std::to_string(agent->second->epoch));
      }
      if (answer.answer.sequence == 0) report(answer, "its sequence is 0; sequences count from 1");
      sequences[answer.agent].insert(answer.answer.sequence);
      for (const Grant& grant : answer.answer.grants) {
        if (grant.verdict == Verdict::kGranted) checkNumber(answer, grant.allocation);
      }
    }
    for (const AnswerRecord& answer : contents_.answers) {
      const std::set<uint64_t>& all = sequences[answer.agent];
      if (answer.answer.sequence != *all.begin() && !all.contains(answer.answer.sequence - 1))
        report(answer, "the answer before it is missing");
    }
  }

  void checkNumber(const Record& record, AllocationId allocation) {
    if (allocation != 0 && allocation < nextAllocation_) return;
    report(record, "allocation " + std::to_string(allocation) + " has never been given out: the next is " +
                       std::to_string(nextAllocation_));
  }

  void checkJob(const Job& job) {
    const JobRecord& record = *job.record;
    if (record.spec.tasks < 1 || record.spec.tasks > kMaxTasks)
      report(record, "it has " + std::to_string(record.spec.tasks) + " tasks");
    if (record.spec.rusPerTask < 1 || record.spec.rusPerTask > kMaxRusPerTask)
      report(record, "its tasks have " + std::to_string(record.spec.rusPerTask) + " units each");
    if (job.progress == nullptr) report(record, "its progress is missing");
    if (record.number == 0) return;  // an earlier version accepted it: the next start numbers it
    const auto [other, isFirst] = numbered_.emplace(record.number, record.id);
    if (!isFirst)
      report(record,
             "its number, " + std::to_string(record.number) + ", is that of j/" + toString(other->second));
  }

  void checkProgress(const JobProgress& progress) {
    const Job* job = find(progress.id);
    if (job == nullptr) return report(progress, "there is no such job");
    std::map<RunState, uint32_t> counts = job->stored;
    uint32_t stored = 0;
    for (const auto& [state, count] : counts) stored += count;
    const RunState withoutRecord = progress.cancelRequested ? RunState::kCancelled : RunState::kQueued;
    if (stored < job->record->spec.tasks) counts[withoutRecord] += job->record->spec.tasks - stored;
    if (const RunState expected = stateFrom(counts); progress.state != expected) {
      report(progress, "it is " + std::string(name(progress.state)) + ", its tasks make it " +
                           std::string(name(expected)));
    }
    if (isFinal(progress.state) != (progress.finished != kNever)) {
      report(progress,
             "it is " + std::string(name(progress.state)) +
                 (progress.finished == kNever ? ", and has no time of its end" : ", and has ended"));
    }
    if (!isFinal(progress.state) && !agents_.contains(progress.owner))
      report(progress, "there is no agent " + progress.owner + ", which is to place it");
    if (progress.cancelRequested && counts[RunState::kQueued] > 0)
      report(progress,
             "it is cancelled, and " + std::to_string(counts[RunState::kQueued]) + " tasks are queued");
    if (progress.decisions != job->decisions.size()) {
      report(progress, std::to_string(progress.decisions) + " decisions are counted, " +
                           std::to_string(job->decisions.size()) + " are there");
    }
  }

  void checkTask(const TaskRecord& task) {
    const Job* job = find(task.job);
    if (job == nullptr) return report(task, "there is no such job");
    if (task.index >= job->record->spec.tasks) {
      report(task, "the job has " + std::to_string(job->record->spec.tasks) + " tasks, numbered from 0");
    }
    if (task.failures > task.attempt + 1)
      report(task, std::to_string(task.failures) + " failures in " + std::to_string(task.attempt + 1) +
                       " attempts");
    if (task.state == RunState::kDone && !task.end.succeeded())
      report(task, "it is done, and did not succeed");
    if (task.stopping && !isActive(task.state)) report(task, "it is being stopped, and does not run");
    if (task.allocation != 0) {
      checkNumber(task, task.allocation);
      const auto [other, isFirst] = byAllocation_.emplace(task.allocation, &task);
      if (!isFirst) {
        report(task, "allocation " + std::to_string(task.allocation) + " is also that of " +
                         readableKey(*other->second));
      }
      checkDecisionOf(task, *job);
    }
    if (isActive(task.state)) checkPlace(task, *job->record);
  }

  void checkDecisionOf(const TaskRecord& task, const Job& job) {
    if (task.decision == kNoDecision) return;
    const auto found = job.decisions.find(task.decision);
    if (found == job.decisions.end()) {
      report(task, "decision " + std::to_string(task.decision) + ", which placed it, is missing");
    } else if (const auto& placed = found->second->tasks;
               std::find(placed.begin(), placed.end(), task.index) == placed.end()) {
      report(task, readableKey(*found->second) + ", which placed it, does not name it");
    }
  }

  // Requires: the task is active.
  void checkPlace(const TaskRecord& task, const JobRecord& job) {
    if (task.allocation == 0) report(task, "it has been placed, and has no allocation");
    const auto found = servers_.find(task.server);
    if (found == servers_.end()) return report(task, "there is no server " + task.server);
    const ServerFacts& facts = found->second->facts;
    const size_t most = size_t{job.spec.rusPerTask} + job.spec.adjust.moreRus;
    if (task.rus.size() < job.spec.rusPerTask || task.rus.size() > most) {
      report(task, "it holds " + std::to_string(task.rus.size()) + " units, and asked for " +
                       std::to_string(job.spec.rusPerTask));
    }
    for (RuIndex ru : task.rus) take(task, "unit", ru, facts.rus);
    for (const auto& [kind, numbers] : task.extras) {
      const auto there = facts.extras.find(kind);
      for (uint16_t number : numbers)
        take(task, kind, number, there == facts.extras.end() ? 0 : there->second);
    }
    for (const auto& [kind, count] : job.spec.extras) {
      const auto held = task.extras.find(kind);
      const size_t has = held == task.extras.end() ? 0 : held->second.size();
      if (has != count)
        report(task,
               "it holds " + std::to_string(has) + " " + kind + ", and asked for " + std::to_string(count));
    }
  }

  // A unit or countable thing of the task's server, which has `count` of them.
  void take(const TaskRecord& task, const std::string& kind, uint32_t number, uint32_t count) {
    const std::string what = kind + " " + std::to_string(number) + " of server " + task.server;
    if (number >= count) {
      // What a server no longer has stays with its tasks until they end.
      report(task, what + ": it has " + std::to_string(count) +
                       ", numbered from 0 (or had more when the task was placed)");
    }
    const auto pool = servers_.find(task.server);
    if (kind == "unit" && pool != servers_.end() &&
        pool->second->pool.held.contains(static_cast<RuIndex>(number)))
      report(task, what + " is also lent to late-bound tasks");
    const auto [owner, isFree] =
        owners_.emplace(Where{task.server, kind + " " + std::to_string(number)}, &task);
    if (!isFree) report(task, what + " is also held by " + readableKey(*owner->second));
  }

  void checkDecision(const DecisionRecord& decision) {
    const Job* job = find(decision.job);
    if (job == nullptr) return report(decision, "there is no such job");
    for (TaskIndex task : decision.tasks) {
      if (task >= job->record->spec.tasks) report(decision, "the job has no task " + std::to_string(task));
    }
    if (job->progress != nullptr && decision.number >= job->progress->decisions) {
      report(decision,
             "the job counts " + std::to_string(job->progress->decisions) + " decisions, numbered from 0");
    }
  }

  void checkFiles() {
    std::set<JobId> uploads;
    for (const UploadRecord& upload : contents_.uploads) {
      uploads.insert(upload.job);
      if (find(upload.job) != nullptr) report(upload, "the job is there, and has its files");
    }
    const std::set<WholeStore::Piece> pieces(store_.files.begin(), store_.files.end());
    for (const WholeStore::Piece& piece : pieces) {
      const Job* job = find(piece.job);
      const FilesRecord record{piece.job, nullptr, piece.number};
      if (job == nullptr) {
        if (!uploads.contains(piece.job)) report(record, "there is no such job");
      } else if (piece.number >= piecesOf(*job->record)) {
        report(record, job->record->hasFiles ? "the job has fewer pieces" : "the job ships no files");
      }
    }
    for (const auto& [id, job] : jobs_) {
      if (job.record == nullptr) continue;
      const bool isOver = job.progress != nullptr && isFinal(job.progress->state);
      const bool needsFiles = !isOver || job.progress->keepsFiles;
      if (needsFiles && !hasFiles(pieces, *job.record)) report(*job.record, "its input files are missing");
    }
  }

  static uint32_t piecesOf(const JobRecord& job) { return job.hasFiles ? std::max(job.filePieces, 1u) : 0; }

  static bool hasFiles(const std::set<WholeStore::Piece>& pieces, const JobRecord& job) {
    for (uint32_t number = 0; number < piecesOf(job); ++number) {
      if (!pieces.contains({job.id, number})) return false;
    }
    return true;
  }

  void checkCronRecord(const Cron& cron) {
    if (const auto schedule = parseCronSchedule(cron.spec.schedule); !schedule)
      report(cron, "schedule: " + schedule.error().message);
    if (std::string problem = whyNotAgain(cron.spec.job); !problem.empty()) report(cron, std::move(problem));
    if (cron.pending > cron.takenUp) report(cron, "a time is pending that was not taken up");
    if (cron.isHeld && cron.pending != kNever) report(cron, "it is held, and a time is pending");
    if (cron.runs.size() > kMaxCronRuns)
      report(cron, "it keeps " + std::to_string(cron.runs.size()) + " of its last times");
    for (const CronRun& run : cron.runs) {
      const Job* job = run.number == 0 ? nullptr : find(run.job);
      if (job != nullptr && job->record->cron != cron.spec.name)
        report(cron, readableKey(*job->record) + " is listed as a job of it, and is none");
    }
  }

  void checkMembers() {
    std::set<uint64_t> serials;
    for (const MemberRecord& member : contents_.members) {
      if (const Status named = checkMemberName("name", member.role, member.name); !named)
        report(member, named.error().message);
      if (member.certificates.size() > kMaxCertificatesOfMember)
        report(member, "it has too many certificates");
      for (const MemberCertificate& certificate : member.certificates) {
        if (!serials.insert(certificate.serial).second) report(member, "two certificates have one serial");
      }
    }
  }

  void checkPeople() {
    std::set<std::string> accounts;
    for (const AccountRecord& account : contents_.accounts) {
      if (const Status good = checkAccount(account); !good) report(account, good.error().message);
      accounts.insert(account.name);
    }
    for (const UserRecord& user : contents_.users) {
      if (const Status good = checkUser(user); !good) report(user, good.error().message);
      if (!user.account.empty() && !accounts.contains(user.account))
        report(user, "its account " + shown(user.account) + " is not there");
    }
    std::map<std::string, size_t> tokens;
    for (const TokenRecord& token : contents_.tokens) {
      if (!isOfUser(token.role)) report(token, "it is a machine's");
      if (++tokens[token.user] == kMaxTokensOfUser + 1) report(token, token.user + " has too many tokens");
    }
  }

  void checkAudit() {
    for (const AuditRecord& record : contents_.audit) {
      const bool isWhole = record.lines.starts_with("{\"sequence\":" + std::to_string(record.first) + ",") &&
                           record.lines.back() == '\n';
      if (!isWhole) report(record, "its lines are none of the audit log from this number on");
    }
  }

  void checkSecrets() {
    for (const SecretRecord& secret : contents_.secrets) {
      if (const Status good = checkSecret(secret); !good) report(secret, good.error().message);
    }
  }

  // What is being measured has a job for it, and each such job measures what nobody else does.
  void checkProfilings() {
    std::set<JobId> measuring;
    for (const Profiling& profiling : contents_.profilings) {
      if (!profiling.isUnderWay()) continue;
      const Job* job = find(profiling.job);
      const bool isOver = job == nullptr || job->progress == nullptr || isFinal(job->progress->state);
      if (isOver || job->record->spec.measures != profiling.application) {
        report(profiling, "it is being measured, and job " + toString(profiling.job) +
                              " is no unfinished one that measures it");
      }
      measuring.insert(profiling.job);
    }
    for (const auto& [id, job] : jobs_) {
      if (job.record == nullptr || job.progress == nullptr || isFinal(job.progress->state)) continue;
      if (!job.record->spec.measures.empty() && !measuring.contains(id)) {
        report(*job.record, "it measures " + job.record->spec.measures + ", and there is no record of that");
      }
    }
  }

  const WholeStore& store_;
  const StoreContents& contents_;
  AllocationId nextAllocation_ = 0;
  std::map<JobNumber, JobId> numbered_;
  std::map<std::string, const ServerRecord*> servers_;  // by name, the first of two
  std::map<std::string, const AgentRecord*> agents_;
  std::map<JobId, Job> jobs_;
  std::map<AllocationId, const TaskRecord*> byAllocation_;
  std::map<Where, const TaskRecord*> owners_;  // of units and countable things
  std::vector<StoreProblem> problems_;
};

}  // namespace

std::vector<StoreProblem> checkStore(const WholeStore& store) {
  return Checker(store).run();
}

std::string readableKey(const Record& record) {
  return std::visit(ReadableKey{}, record);
}

}  // namespace tarcil
