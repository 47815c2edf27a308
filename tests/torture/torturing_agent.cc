#include "tests/torture/torturing_agent.h"

#include <kj/debug.h>

#include <iterator>

#include "schema/convert.h"
#include "schema/convert_support.h"
#include "tests/torture/master_process.h"

namespace tarcil::torture {
namespace {

using convert::text;

constexpr uint64_t kMaxPause = 3'000;  // microseconds between two acts
constexpr size_t kMaxUnanswered = 8;
constexpr size_t kMaxJobs = 25;
// Beyond the agent timeout of the run: jobs go to others meanwhile.
constexpr uint64_t kLongAway = 600'000;

std::vector<JobAssignment> readJobs(capnp::List<wire::JobAssignment>::Reader from) {
  std::vector<JobAssignment> jobs;
  for (auto job : from) jobs.push_back(read(job));
  return jobs;
}

// The request for a link to speak for the agent, noted.
auto attachRequest(Stage& stage, wire::AgentPort::Client& port, const AgentAttaching& event,
                   wire::AgentFeed::Client feed) {
  auto request = port.attachRequest();
  request.setAgent(text(event.agent));
  request.setEpoch(event.epoch);
  request.setAddress("unix:/nowhere");
  request.setFeed(kj::mv(feed));
  stage.history.note(event);
  return request;
}

}  // namespace

// Notes what the master tells; an agent that listens gets it too.
class TorturingAgent::Feed final : public wire::AgentFeed::Server {
 public:
  Feed(Stage& stage, LinkId link, TorturingAgent* agent) : stage_(stage), link_(link), agent_(agent) {}

  kj::Promise<void> update(UpdateContext context) override {
    auto params = context.getParams();
    News news{link_, {}, readJobs(params.getAssignments())};
    for (auto server : params.getServers()) news.servers.push_back(read(server));
    stage_.history.note(news);
    if (agent_ != nullptr) agent_->takeNews(news, params.getSnapshotComplete());
    // Sometimes slow, so that news has to be joined.
    return stage_.chance(20) ? stage_.pause(50'000) : kj::Promise<void>(kj::READY_NOW);
  }

 private:
  Stage& stage_;
  const LinkId link_;
  TorturingAgent* const agent_;
};

// Another process of the same name: attaches, which raises the epoch, and goes away.
class TorturingAgent::Rival final {
 public:
  Rival(Stage& stage, const std::string& agent)
      : stage_(stage),
        agent_(agent),
        link_(stage, kAgentToken, [this](MasterLink::Login&& login) { return attach(kj::mv(login)); }) {}

  bool done() const { return link_.attached(); }

 private:
  kj::Promise<void> attach(MasterLink::Login&& login) {
    const AgentAttaching event{++stage_.lastCall, ++stage_.lastLink, agent_, 0};
    wire::AgentPort::Client port = login.getAgent();
    auto request = attachRequest(stage_, port, event, kj::heap<Feed>(stage_, event.link, nullptr));
    port_ = kj::mv(port);
    return request.send().then([this, call = event.call](auto&& response) {
      stage_.history.note(AgentAttached{call, response.getEpoch(), readJobs(response.getJobs())});
    });
  }

  Stage& stage_;
  const std::string agent_;
  kj::Maybe<wire::AgentPort::Client> port_;
  MasterLink link_;
};

TorturingAgent::TorturingAgent(Stage& stage, std::string name)
    : stage_(stage),
      name_(std::move(name)),
      link_(stage, kAgentToken, [this](MasterLink::Login&& login) { return attach(kj::mv(login)); }),
      tasks_(*this) {
  tasks_.add(live());
}

TorturingAgent::~TorturingAgent() noexcept = default;

bool TorturingAgent::quiet() const {
  return link_.attached() && seesAll_ && unanswered_.empty() && launches_.empty() && calls_ == 0 && !rival_;
}

// --- Attaching --------------------------------------------------------------------------------------------

kj::Promise<void> TorturingAgent::attach(MasterLink::Login&& login) {
  currentLink_ = ++stage_.lastLink;
  seesAll_ = false;
  const AgentAttaching event{++stage_.lastCall, currentLink_, name_, epoch_};
  wire::AgentPort::Client port = login.getAgent();
  auto request = attachRequest(stage_, port, event, kj::heap<Feed>(stage_, currentLink_, this));
  port_ = kj::mv(port);
  return request.send().then([this, call = event.call](auto&& response) {
    const AgentAttached event{call, response.getEpoch(), readJobs(response.getJobs())};
    stage_.history.note(event);
    attached(event.epoch, event.jobs);
  });
}

void TorturingAgent::attached(uint64_t epoch, const std::vector<JobAssignment>& jobs) {
  if (epoch != epoch_) {
    epoch_ = epoch;
    sequence_ = 0;
    unanswered_.clear();
    recent_.clear();
  }
  jobs_.clear();
  takeJobs(jobs);
  logInUsers();
  for (const auto& [sequence, commit] : unanswered_) send(commit);
}

// An agent may submit jobs of those alone who have logged in at it.
void TorturingAgent::logInUsers() {
  KJ_IF_MAYBE (port, port_) {
    for (const char* token : kUserTokens) {
      auto request = port->authenticateRequest();
      request.setToken(token);
      tasks_.add(request.send().ignoreResult().catch_([](kj::Exception&&) {}));
    }
  }
}

void TorturingAgent::takeNews(const News& news, bool complete) {
  if (news.link != currentLink_) return;
  takeServers(news.servers);
  takeJobs(news.jobs);
  launchWhatCanBe();
  if (complete) seesAll_ = true;
}

void TorturingAgent::takeServers(const std::vector<ServerUpdate>& servers) {
  for (const ServerUpdate& update : servers) {
    SeenServer& seen = servers_[update.id];
    if (update.facts) seen.name = update.facts->name;
    if (update.status.version > seen.status.version) seen.status = update.status;
  }
}

void TorturingAgent::takeJobs(const std::vector<JobAssignment>& jobs) {
  for (const JobAssignment& told : jobs) {
    if (told.over) {
      jobs_.erase(told.job.id);
      continue;
    }
    HeldJob& job = jobs_[told.job.id];
    job.spec = told.job.spec;
    job.tasks.resize(job.spec.tasks);
    if (told.complete) job.tasks.assign(job.spec.tasks, {0, false});
    forEachWaiting(told, [&job](TaskIndex task) { job.tasks.at(task) = {0, true}; });
    for (const TaskAssignment& task : told.tasks) {
      job.tasks.at(task.index) = {task.attempt, task.state == RunState::kQueued};
      if (task.state == RunState::kStarting) launch(task.allocation, task.server);
    }
  }
}

void TorturingAgent::launch(AllocationId allocation, ServerId server) {
  launches_.emplace_back(allocation, server);
  launchWhatCanBe();
}

void TorturingAgent::launchWhatCanBe() {
  std::erase_if(launches_, [this](const auto& launch) {
    const std::string& name = servers_[launch.second].name;
    if (!name.empty()) stage_.launch(launch.first, name);
    return !name.empty();
  });
}

// --- Acting -----------------------------------------------------------------------------------------------

kj::Promise<void> TorturingAgent::live() {
  return stage_.pause(kMaxPause).then([this]() {
    if (rival_ && rival_->done()) rival_ = nullptr;
    if (stage_.acting && link_.attached()) act();
    return live();
  });
}

void TorturingAgent::act() {
  if (stage_.chance(150)) return disturbLink();
  const uint64_t draw = stage_.rng.below(100);
  if (draw < 7) return repeatSomething();
  if (draw < 10) return skipSequences();
  if (unanswered_.size() >= kMaxUnanswered) return;
  if (draw < 15) return commitForeignJob();
  if (draw < 60 && !jobs_.empty()) return commitHeldJob();
  if (jobs_.size() < kMaxJobs) commitNewJob();
}

void TorturingAgent::disturbLink() {
  switch (stage_.rng.below(6)) {
    case 0:
      epoch_ = 0;  // killed, and started again
      return link_.cut();
    case 1:
      epoch_ += stage_.chance(2) ? 3 : static_cast<uint64_t>(-1);
      return link_.cut();
    case 2:
      return link_.cut(kLongAway);
    case 3:
      if (!rival_) rival_ = std::make_unique<Rival>(stage_, name_);
      return;
    default:
      return link_.cut();
  }
}

void TorturingAgent::commitNewJob() {
  Commit commit = newJob(stage_.rng);
  const JobSpec& spec = commit.newJob->record.spec;
  std::vector<Waiting> waiting;
  for (TaskIndex task = 0; task < spec.tasks; ++task) waiting.push_back({task, 0});
  if (!stage_.chance(10)) addClaims(stage_.rng, spec, waiting, servers_, commit);
  stage_.noteJob(commit.job);
  this->commit(std::move(commit));
}

void TorturingAgent::commitHeldJob() {
  const auto& [id, job] = *std::next(jobs_.begin(), static_cast<ptrdiff_t>(stage_.rng.below(jobs_.size())));
  std::vector<Waiting> waiting;
  for (TaskIndex task = 0; task < job.tasks.size(); ++task) {
    // Now and then for a task that has a place, or is over.
    if (job.tasks[task].waiting || stage_.chance(50)) waiting.push_back({task, job.tasks[task].attempt});
  }
  Commit commit;
  commit.job = id;
  addClaims(stage_.rng, job.spec, waiting, servers_, commit);
  if (!commit.claims.empty()) this->commit(std::move(commit));
}

// A job that another agent may own, or that is over: submitted once more, or claimed for.
void TorturingAgent::commitForeignJob() {
  if (stage_.recentJobs.empty()) return;
  const JobId id = stage_.recentJobs[stage_.rng.below(stage_.recentJobs.size())];
  Commit commit = newJob(stage_.rng);
  const JobSpec spec = commit.newJob->record.spec;
  commit.job = commit.newJob->record.id = id;
  if (stage_.chance(2)) commit.newJob.reset();
  addClaims(stage_.rng, spec, {{0, 0}}, servers_, commit);
  this->commit(std::move(commit));
}

void TorturingAgent::repeatSomething() {
  if (!recent_.empty()) send(recent_[stage_.rng.below(recent_.size())]);
}

void TorturingAgent::skipSequences() {
  Commit commit = newJob(stage_.rng);
  commit.sequence = sequence_ + 2 + stage_.rng.below(5);
  addClaims(stage_.rng, commit.newJob->record.spec, {{0, 0}}, servers_, commit);
  send(commit, Answer::kOfNoUse);
}

// --- Commits ----------------------------------------------------------------------------------------------

void TorturingAgent::commit(Commit commit) {
  commit.answered = unanswered_.empty() ? sequence_ : unanswered_.begin()->first - 1;
  commit.sequence = ++sequence_;
  recent_.push_back(commit);
  if (recent_.size() > 2 * kMaxUnanswered) recent_.pop_front();
  send(unanswered_.emplace(commit.sequence, std::move(commit)).first->second);
}

void TorturingAgent::send(const Commit& commit, Answer use) {
  const CommitSent event{++stage_.lastCall, currentLink_, commit};
  auto request = KJ_ASSERT_NONNULL(port_).commitRequest();
  write(commit, request.initCommit());
  stage_.history.note(event);
  ++calls_;
  tasks_.add(request.send().then(
      [this, use, call = event.call, link = event.link](auto&& response) {
        --calls_;
        const CommitAnswered event{call, read(response.getAnswer())};
        stage_.history.note(event);
        if (use == Answer::kApplies) answered(link, event.answer);
      },
      [this](kj::Exception&&) { --calls_; }));
}

void TorturingAgent::answered(LinkId link, const CommitAnswer& answer) {
  if (link != currentLink_) return;
  if (answer.outcome == CommitAnswer::Outcome::kSuperseded) return link_.cut();
  takeServers(answer.servers);
  // Unless a repeat has brought it already.
  if (const auto commit = unanswered_.extract(answer.sequence)) apply(commit.mapped(), answer);
}

void TorturingAgent::apply(const Commit& commit, const CommitAnswer& answer) {
  if (answer.outcome == CommitAnswer::Outcome::kJobOver) jobs_.erase(commit.job);
  if (answer.outcome != CommitAnswer::Outcome::kOk) return;
  if (commit.newJob) {
    const JobSpec& spec = commit.newJob->record.spec;
    jobs_[commit.job] = {spec, std::vector<HeldTask>(spec.tasks)};
  }
  const auto job = jobs_.find(commit.job);
  for (size_t i = 0; i < answer.grants.size(); ++i) {
    if (answer.grants[i].verdict != Verdict::kGranted) continue;
    if (job != jobs_.end()) job->second.tasks.at(commit.claims[i].task).waiting = false;
    launch(answer.grants[i].allocation, commit.claims[i].server);
  }
}

void TorturingAgent::taskFailed(kj::Exception&& exception) {
  KJ_LOG(FATAL, name_, exception);
}

}  // namespace tarcil::torture
