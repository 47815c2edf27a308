#include "master/logic/jobs/commits.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/model/job_check.h"
#include "core/model/job_size.h"
#include "core/state/commit_check.h"
#include "core/state/reason.h"
#include "master/logic/audit/audited.h"
#include "master/logic/jobs/acceptance.h"
#include "master/logic/jobs/dependencies.h"
#include "master/logic/jobs/profiling.h"
#include "master/logic/jobs/task_life.h"
#include "master/logic/jobs/uploads.h"
#include "master/logic/people/account_bounds.h"
#include "master/logic/queue/offers.h"
#include "master/logic/secrets/secrets.h"
#include "master/logic/servers/job_resident.h"

namespace tarcil::master {
namespace {

CommitAnswer refused(uint64_t sequence, std::string problem) {
  return {sequence, CommitAnswer::Outcome::kRefused, std::move(problem), {}, {}};
}

// Most commits have few claims.
template <typename T>
using OfClaims = boost::container::small_vector<T, 8>;

// The newest states of the servers that the commit claims, each once.
std::vector<ServerUpdate> claimedServers(const Tables& tables, const Commit& commit) {
  OfClaims<ServerId> ids;
  for (const Claim& claim : commit.claims) {
    if (claim.server < tables.servers.size()) ids.push_back(claim.server);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::vector<ServerUpdate> updates;
  updates.reserve(ids.size());
  for (ServerId id : ids) updates.push_back({id, std::nullopt, tables.servers.at(id).status});
  return updates;
}

// What no agent that keeps to the protocol sends; empty where there is nothing.
std::string problemOf(const Commit& commit, const JobRecord& job) {
  const JobSpec& spec = job.spec;
  if (job.id != commit.job) return "the job's record is of another job";
  const auto& files = commit.newJob ? commit.newJob->files : nullptr;
  if (files && sizeOf(*files) > kMaxPieceBytes) return "its input files are to go ahead, in pieces";
  if (spec.tasks < 1 || spec.tasks > kMaxTasks) return "tasks: " + std::to_string(spec.tasks);
  if (spec.rusPerTask < 1 || spec.rusPerTask > kMaxRusPerTask) {
    return "rus_per_task: " + std::to_string(spec.rusPerTask);
  }
  OfClaims<TaskIndex> claimed;
  claimed.reserve(commit.claims.size());
  for (const Claim& claim : commit.claims) {
    if (claim.task >= spec.tasks) return "a claim is for task " + std::to_string(claim.task);
    if (claim.rus != spec.rusPerTask) return "a claim is for " + std::to_string(claim.rus) + " units";
    claimed.push_back(claim.task);
  }
  std::sort(claimed.begin(), claimed.end());
  const auto twice = std::adjacent_find(claimed.begin(), claimed.end());
  return twice == claimed.end() ? "" : "task " + std::to_string(*twice) + " is claimed for twice";
}

// The preferred units that are free, then the lowest free ones.
std::vector<RuIndex> chooseUnits(const RuSet& free, const Claim& claim) {
  RuSet chosen;
  std::vector<RuIndex> units;
  units.reserve(claim.rus);
  const auto take = [&free, &chosen, &units, &claim](RuIndex ru) {
    if (units.size() == claim.rus || !free.contains(ru) || chosen.contains(ru)) return;
    chosen.insert(ru);
    units.push_back(ru);
  };
  for (RuIndex ru : claim.preferred) take(ru);
  if (units.size() < claim.rus) {
    for (RuIndex ru : free.first(static_cast<uint32_t>(2 * claim.rus))) take(ru);
  }
  std::sort(units.begin(), units.end());
  return units;
}

// What the job's account may still have while the claims of one commit are judged.
class Allowance {
 public:
  Allowance(const Tables& tables, const Job& job, const Commit& commit)
      : tables_(tables),
        left_(commit.claims.empty() ? 0 : UnitsLeft(tables).of(job.record.user)),
        ahead_(tables.jobs.countedUnits(), job.index.user) {}

  // Whether a task may start. The last one may count for more than is left: by what it keeps of one server.
  bool allows(const Claim& claim) {
    isSpent_ |= claim.rus > left_;
    return claim.rus <= left_;
  }
  void take(const JobSpec& spec, const Claim& claim, const Server& server) {
    if (left_ == kUnbounded) return;
    left_ -= std::min(left_, ahead_.add(claim.server, claim.rus, unitsKept(tables_, spec, server)));
  }
  // Whether some task might not.
  bool isSpent() const { return isSpent_; }

 private:
  const Tables& tables_;
  uint64_t left_;
  UnitsAhead ahead_;
  bool isSpent_ = false;
};

// Judges one claim on the newest state; takes the units and extras where it is granted.
Grant tryClaim(EventContext& context, const Job& job, const Judging& judging, const Claim& claim,
               Allowance& allowance) {
  const bool mayNotStart = job.progress.held || context.now.steady < job.notBefore;
  const bool waits = job.tasks.state(claim.task) == RunState::kQueued;
  if (mayNotStart || !waits || job.awaiting.contains(claim.task) ||
      job.tasks.attempt(claim.task) != claim.attempt) {
    return {Verdict::kTaskNotWaiting};
  }
  // To its account, none are.
  if (!allowance.allows(claim)) return {Verdict::kNotFree};
  ServerTable& servers = context.tables.servers;
  if (claim.server >= servers.size()) return {Verdict::kUnknownServer};
  Server& server = servers.at(claim.server);
  const Verdict verdict =
      checkClaim(claim, judging, job.record.spec, server.record.facts, server.status, server.share);
  if (verdict != Verdict::kGranted) {
    ++server.refusedClaims;
    return {verdict};
  }
  const JobSpec& spec = job.record.spec;
  Grant grant{verdict, newAllocation(context), chooseUnits(server.status.free, claim),
              lowestExtras(server.status.freeExtras, spec.extras)};
  allowance.take(spec, claim, server);
  servers.occupy(server, residentOf(spec, grant.allocation, grant.rus, grant.extras));
  return grant;
}

// What a gang's claims are undone with.
struct Before {
  ServerId server;
  ServerStatus status;
  size_t residents;
};

std::vector<Before> statesBefore(const Tables& tables, const Commit& commit) {
  std::vector<Before> before;
  for (ServerUpdate& update : claimedServers(tables, commit)) {
    before.push_back({update.id, std::move(update.status), tables.servers.at(update.id).residents.size()});
  }
  return before;
}

// The verdict on each claim; what granted ones hold is taken, of a gang all or none.
std::vector<Grant> judgeClaims(EventContext& context, const Job& job, const Commit& commit,
                               Allowance& allowance) {
  std::vector<Before> before;
  if (commit.gang) before = statesBefore(context.tables, commit);
  std::vector<Grant> grants;
  grants.reserve(commit.claims.size());
  size_t granted = 0;
  for (const Claim& claim : commit.claims) {
    grants.push_back(tryClaim(context, job, commit.judging, claim, allowance));
    if (grants.back().verdict == Verdict::kGranted) ++granted;
  }
  if (!commit.gang || granted == grants.size()) return grants;
  ServerTable& servers = context.tables.servers;
  for (const Before& b : before) servers.rollBack(servers.at(b.server), b.status, b.residents);
  for (Grant& grant : grants) {
    if (grant.verdict == Verdict::kGranted) grant = {Verdict::kNotAll};
  }
  return grants;
}

// Stores the explanation if it is worth keeping; the number that tasks placed by it carry.
uint32_t recordDecision(EventContext& context, Job& job, const Commit& commit,
                        const std::vector<Grant>& grants) {
  if (commit.explanation.wanted == 0) return kNoDecision;
  DecisionRecord decision{commit.job, job.progress.decisions, {}, commit.explanation};
  for (size_t i = 0; i < grants.size(); ++i) {
    if (grants[i].verdict == Verdict::kGranted) decision.tasks.push_back(commit.claims[i].task);
  }
  const bool worthKeeping = decision.number == 0 || !decision.tasks.empty();
  if (!worthKeeping || decision.number >= kMaxDecisions) return kNoDecision;
  ++job.progress.decisions;
  context.tables.jobs.noteProgress(job);
  context.out.put(std::move(decision));
  return job.progress.decisions - 1;
}

std::vector<Grant> applyClaims(EventContext& context, Job& job, const Commit& commit) {
  // An agent that submits a job untried, to be offered it later, says nothing of a decision. One that decided
  // on an older state is to look again.
  job.changes.tried = commit.explanation.wanted > 0 &&
                      commit.capacityVersion == context.tables.jobs.queue().capacityVersion();
  Allowance allowance(context.tables, job, commit);
  std::vector<Grant> grants = judgeClaims(context, job, commit, allowance);
  const uint32_t decision = recordDecision(context, job, commit, grants);
  for (size_t i = 0; i < grants.size(); ++i) {
    if (grants[i].verdict != Verdict::kGranted) continue;
    const Claim& claim = commit.claims[i];
    placeTask(context, job, claim, grants[i], decision);
  }
  context.tables.jobs.forgetNews(job);  // the answer tells the owner
  // But for how long its tasks wait, which it has not heard yet, or its clock goes faster.
  if (context.now.steady < job.notBefore) context.tables.jobs.noteWhole(job);
  std::string reason = asReason(commit.waitReason);
  if (job.waits() && (allowance.isSpent() || !mayStart(context.tables, job))) {
    reason = whyNoUnits(context.tables, job);
  }
  if (!job.progress.held && job.progress.reason != reason) {
    job.progress.reason = std::move(reason);
    context.tables.jobs.noteProgress(job);
  }
  context.tables.jobs.queue().endOffer(JobTable::queueKeyOf(job));
  if (job.changes.tried && commit.claims.empty()) noteFailedAttempt(context, job);
  return grants;
}

// Its input files, which come with the commit or came before it, are the job's. Whatever else came for a job
// of this id is not.
void takeFiles(EventContext& context, const NewJob& job) {
  const JobId& id = job.record.id;
  if (job.sentFilesAhead()) return giveUpload(context, id);
  dropUpload(context, id);
  if (job.files && !job.files->empty()) context.out.put(FilesRecord{id, job.files});
}

CommitAnswer applyNewJob(EventContext& context, Agent& agent, const CommitArrived& event) {
  const Commit& commit = event.commit;
  const JobRecord& record = commit.newJob->record;
  if (const Job* existing = context.tables.jobs.find(commit.job)) {
    if (existing->record.user != record.user) {
      return refused(commit.sequence, "this job id is taken; submit with a new one");
    }
    return {commit.sequence, CommitAnswer::Outcome::kJobExists, {}, {}, {}};
  }
  if (!event.mayNot.empty()) return refused(commit.sequence, event.mayNot);
  if (std::string problem = problemOf(commit, record); !problem.empty()) {
    return refused(commit.sequence, std::move(problem));
  }
  const bool sentAhead = commit.newJob->sentFilesAhead();
  if (sentAhead && !hasUpload(context.tables, *agent.session, record)) {
    return {commit.sequence, CommitAnswer::Outcome::kFilesMissing, {}, {}, {}};
  }
  if (const Status good = checkJob(record.spec, record.hasFiles); !good) {
    return refused(commit.sequence, good.error().message);
  }
  if (std::string problem = tooLarge(context.tables.options, record); !problem.empty()) {
    return refused(commit.sequence, std::move(problem));
  }
  if (std::string problem = whyNotByAccount(context.tables, record); !problem.empty()) {
    return refused(commit.sequence, std::move(problem));
  }
  if (std::string problem = tooManyUsers(context.tables, record.user); !problem.empty()) {
    return refused(commit.sequence, std::move(problem));
  }
  if (std::string problem = whyNotMeasure(context, record); !problem.empty()) {
    return refused(commit.sequence, std::move(problem));
  }
  if (std::string problem = whyNotAfter(context.tables, record); !problem.empty()) {
    return refused(commit.sequence, std::move(problem));
  }
  if (std::string problem = whyNotSecrets(context.tables, record); !problem.empty()) {
    return refused(commit.sequence, std::move(problem));
  }
  std::string problem = tooMany(context.tables, record);
  if (problem.empty()) problem = tooManyOfAccount(context.tables, record);
  if (problem.empty() && !sentAhead) problem = tooManyFiles(context.tables, record.user, record.fileBytes);
  if (problem.empty()) problem = whyNoNewJobs(context.tables);
  if (!problem.empty()) {
    return {commit.sequence, CommitAnswer::Outcome::kBusy, std::move(problem), {}, {}};
  }
  JobRecord accepted = record;
  // Only the master makes jobs for crons.
  accepted.cron.clear();
  accepted.planned = kNever;
  Job& job = acceptJob(context, std::move(accepted), agent);
  takeFiles(context, *commit.newJob);
  return {commit.sequence, CommitAnswer::Outcome::kOk, {}, applyClaims(context, job, commit), {}};
}

CommitAnswer applyCommit(EventContext& context, Agent& agent, const CommitArrived& event) {
  const Commit& commit = event.commit;
  if (commit.newJob) return applyNewJob(context, agent, event);
  Job* job = context.tables.jobs.find(commit.job);
  if (job == nullptr || isFinal(job->progress.state) || job->progress.cancelRequested ||
      job->progress.owner != agent.record.name) {
    return {commit.sequence, CommitAnswer::Outcome::kJobOver, {}, {}, {}};
  }
  if (std::string problem = problemOf(commit, job->record); !problem.empty()) {
    return refused(commit.sequence, std::move(problem));
  }
  return {commit.sequence, CommitAnswer::Outcome::kOk, {}, applyClaims(context, *job, commit), {}};
}

void forgetAnswers(EventContext& context, Agent& agent, uint64_t answered) {
  while (!agent.answers.empty() && agent.answers.begin()->first <= answered) {
    context.out.erase(EraseAnswer{agent.record.name, agent.record.epoch, agent.answers.begin()->first});
    agent.answers.erase(agent.answers.begin());
  }
}

CommitAnswer repeatAnswer(const Agent& agent, const Commit& commit) {
  const auto stored = agent.answers.find(commit.sequence);
  if (stored != agent.answers.end()) return stored->second;
  return refused(commit.sequence,
                 "this commit was answered before, and the agent said that it has the answer");
}

// Every claim. Where the whole commit is refused there are no grants.
bool areGranted(const std::vector<Grant>& grants, const Commit& commit) {
  return grants.size() == commit.claims.size() &&
         std::ranges::all_of(grants, [](const Grant& grant) { return grant.verdict == Verdict::kGranted; });
}

CommitAnswer answerTo(EventContext& context, const CommitArrived& event) {
  const Commit& commit = event.commit;
  Agent* agent = context.tables.agents.attached(event.session);
  if (agent == nullptr) {
    return {commit.sequence, CommitAnswer::Outcome::kSuperseded, {}, {}, {}};
  }
  if (commit.sequence <= agent->lastSequence) return repeatAnswer(*agent, commit);
  if (commit.sequence != agent->lastSequence + 1) {
    return refused(commit.sequence, "commit " + std::to_string(agent->lastSequence + 1) + " is missing");
  }
  forgetAnswers(context, *agent, std::min(commit.answered, agent->lastSequence));
  CommitAnswer answer = applyCommit(context, *agent, event);
  // What the commit has not taken, nobody will.
  const Upload* left = context.tables.uploads.find(commit.job);
  if (commit.newJob && left != nullptr && left->session == event.session) dropUpload(context, commit.job);
  // The slots of refused claims were hidden from other jobs of the agent meanwhile.
  if (!areGranted(answer.grants, commit)) context.tables.jobs.queue().wakeAll();
  agent->lastSequence = commit.sequence;
  agent->answers[commit.sequence] = answer;
  context.out.put(AnswerRecord{agent->record.name, agent->record.epoch, answer});
  return answer;
}

// A repeat gets the first answer, which may be older than what the agent has been told since. Where the job
// has ended or changed hands, it would hold for ever what it was granted then, or be without tasks that
// waited no more at the time, and do now. Where it was granted nothing it holds nothing, and the job may have
// been handed to it anew meanwhile: that must not count as over.
void tellWhatBecame(EventContext& context, SessionId session, const Commit& commit,
                    const std::vector<Grant>& grants) {
  const Agent* agent = context.tables.agents.attached(session);
  Job* job = context.tables.jobs.find(commit.job);
  if (agent == nullptr) return;
  if (job == nullptr || isFinal(job->progress.state) || job->progress.owner != agent->record.name) {
    JobAssignment over;
    over.job.id = commit.job;
    over.over = true;
    context.out.send(AssignJob{session, std::move(over)});
  } else if (std::ranges::find(grants, Verdict::kTaskNotWaiting, &Grant::verdict) != grants.end()) {
    context.tables.jobs.noteWhole(*job);
  }
}

}  // namespace

void handleCommit(EventContext& context, const CommitArrived& event) {
  noteSignOfLife(context, event.session);
  const Agent* agent = context.tables.agents.attached(event.session);
  const bool isRepeat = agent != nullptr && event.commit.sequence <= agent->lastSequence;
  CommitAnswer answer = answerTo(context, event);
  answer.servers = claimedServers(context.tables, event.commit);
  const bool isStale = isRepeat && answer.outcome == CommitAnswer::Outcome::kOk;
  const std::vector<Grant> grants = isStale ? answer.grants : std::vector<Grant>();
  if (event.commit.newJob && !isRepeat) audit(context, event, answer);
  context.out.send(AnswerCommit{event.request, std::move(answer)});
  if (isStale) tellWhatBecame(context, event.session, event.commit, grants);
}

}  // namespace tarcil::master
