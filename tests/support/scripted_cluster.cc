#include "tests/support/scripted_cluster.h"

#include <kj/async-io.h>
#include <signal.h>

#include <algorithm>
#include <future>
#include <set>

#include "rpc/connection.h"
#include "rpc/errors.h"
#include "rpc/token.h"
#include "schema/agent.capnp.h"
#include "schema/convert.h"
#include "schema/convert_profile.h"
#include "schema/convert_results.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

constexpr const char* kToken = "0123456789abcdef";

struct Job {
  JobStatus status;
  std::vector<ScriptedTask> script;                         // one for each task
  std::set<std::pair<TaskIndex, wire::Stream>> begunAgain;  // of which the first attempt's output is copied
  kj::Own<kj::PromiseFulfiller<void>> end;
  kj::ForkedPromise<void> over = nullptr;
};

// What the allocation of the first attempt is above that of the last.
constexpr AllocationId kFirstAttempt = 1'000'000;

[[noreturn]] void fail(ErrorCode code, const std::string& message) {
  kj::throwFatalException(toException({code, message}));
}

}  // namespace

struct ScriptedCluster::State {
  ClusterScript script;
  size_t agents = 1;

  mutable std::mutex mutex;
  Record record;  // guarded by mutex

  // Of the serving thread.
  std::map<JobId, kj::Own<Job>> jobs;
  std::vector<kj::Promise<void>> serving;
  kj::Own<kj::TaskSet> tasks;

  Job& find(const JobId& id) {
    const auto found = jobs.find(id);
    if (found == jobs.end()) fail(ErrorCode::kNotFound, "no job " + toString(id));
    return *found->second;
  }

  Job& add(JobStatus status) {
    auto job = kj::heap<Job>();
    auto pair = kj::newPromiseAndFulfiller<void>();
    job->end = kj::mv(pair.fulfiller);
    job->over = pair.promise.fork();
    job->status = std::move(status);
    job->script.resize(job->status.tasks.size());
    if (isFinal(job->status.progress.state)) job->end->fulfill();
    Job& added = *job;
    jobs[added.status.record.id] = kj::mv(job);
    return added;
  }

  void submit(const JobId& id, const JobSpec& spec) {
    JobStatus status;
    status.record = {id, spec, "alice", "alice", false, WallTime(std::chrono::seconds(1'700'000'000))};
    status.record.number = kNumberOfSubmitted;
    status.progress.id = id;
    status.progress.state = RunState::kRunning;
    for (TaskIndex i = 0; i < spec.tasks; ++i) {
      TaskRecord task;
      task.job = id;
      task.index = i;
      task.state = RunState::kRunning;
      task.allocation = i + 1;
      task.server = "s1";
      status.tasks.push_back(task);
    }
    Job& job = add(std::move(status));
    for (TaskIndex i = 0; i < spec.tasks; ++i) job.script[i] = script.tasks[i % script.tasks.size()];
    if (!script.runsUntilCancelled) finish(job);
  }

  void finish(Job& job) {
    bool allDone = true;
    for (size_t i = 0; i < job.status.tasks.size(); ++i) {
      job.status.tasks[i].state = job.script[i].state;
      job.status.tasks[i].end = job.script[i].end;
      allDone = allDone && job.script[i].state == RunState::kDone;
    }
    job.status.progress.state = allDone ? RunState::kDone : RunState::kFailed;
    job.end->fulfill();
  }

  void cancel(Job& job) {
    for (ScriptedTask& task : job.script) {
      task.state = RunState::kCancelled;
      task.end.cause = EndCause::kCancelled;
      task.end.signal = SIGTERM;
    }
    finish(job);
    job.status.progress.state = RunState::kCancelled;
  }

  // Whether the agent is to die of this call: then its connections break and nobody listens there any more.
  bool kills(ClusterScript::Deadly call, size_t agent) {
    if (script.deadly != call) return false;
    script.deadly = ClusterScript::Deadly::kNothing;
    tasks->add(kj::evalLater([this, agent]() { serving[agent] = nullptr; }));
    return true;
  }
};

class ScriptedCluster::Server final : public kj::TaskSet::ErrorHandler {
 public:
  Server(State& state, const std::vector<std::string>& addresses)
      : state_(state), thread_([this, addresses]() { serveAll(addresses); }) {
    ready_.get_future().get();
  }

  ~Server() {
    stopOn_->executeSync([this]() { stop_->fulfill(); });
    thread_.join();
  }

 private:
  class User;
  class Agent;
  class Gate;

  void serveAll(const std::vector<std::string>& addresses);
  void taskFailed(kj::Exception&& exception) override { ADD_FAILURE() << exception.getDescription().cStr(); }

  State& state_;
  std::promise<void> ready_;
  kj::Own<const kj::Executor> stopOn_;
  kj::Own<kj::PromiseFulfiller<void>> stop_;
  std::thread thread_;
};

class ScriptedCluster::Server::User final : public wire::UserPort::Server {
 public:
  User(State& state, size_t agent) : state_(state), agent_(agent) {}

 protected:
  kj::Promise<void> job(JobContext context) override {
    const auto params = context.getParams();
    const JobStatus& status = state_.find(readJobId(params.getId())).status;
    const size_t first = std::min<size_t>(params.getFirstTask(), status.tasks.size());
    const size_t end = std::min(first + state_.script.tasksAPage, status.tasks.size());
    auto to = context.getResults().initJob();
    write(status.record, to.initJob());
    write(status.progress, to.initProgress());
    auto tasks = to.initTasks(static_cast<unsigned>(end - first));
    for (unsigned i = 0; i < tasks.size(); ++i) write(status.tasks[first + i], tasks[i]);
    if (end < status.tasks.size()) to.setNextTask(static_cast<uint32_t>(end));
    auto inState = to.initInState(7);
    for (const TaskRecord& task : status.tasks) {
      const auto state = static_cast<unsigned>(task.state);
      inState.set(state, inState[state] + 1);
    }
    to.setAhead(status.ahead);
    return kj::READY_NOW;
  }

  // By id; whatever the filter asks for.
  kj::Promise<void> jobs(JobsContext context) override {
    auto params = context.getParams();
    noteFilter(params.getFilter());
    auto it = params.hasAfter() ? state_.jobs.upper_bound(readJobId(params.getAfter().getId()))
                                : state_.jobs.begin();
    const auto left = static_cast<size_t>(std::distance(it, state_.jobs.end()));
    const size_t count = std::min<size_t>({left, params.getLimit(), state_.script.jobsAPage});
    auto results = context.getResults();
    auto list = results.initJobs(static_cast<unsigned>(count));
    for (unsigned i = 0; i < count; ++i, ++it) {
      auto to = list[i];
      const JobStatus& job = it->second->status;
      to.setId(bytesOf(it->first));
      to.setNumber(job.record.number);
      to.setName(job.record.spec.name);
      to.setUser(job.record.user);
      to.setReason(job.progress.reason);
      to.setState(toWire(job.progress.state));
      to.setTasks(static_cast<uint32_t>(job.tasks.size()));
      to.setSubmitted(toWire(job.record.submitted));
      if (i + 1 == count && count < left) results.initNext().setId(bytesOf(it->first));
    }
    return kj::READY_NOW;
  }

  kj::Promise<void> find(FindContext context) override {
    const auto params = context.getParams();
    std::vector<const JobRecord*> found;
    for (const auto& [id, job] : state_.jobs) {
      const JobRecord& record = job->status.record;
      const bool isMeant = params.getNumber() > 0 ? record.number == params.getNumber()
                                                  : toString(id).starts_with(params.getPrefix().cStr());
      if (isMeant && found.size() < 2) found.push_back(&record);
    }
    auto ids = context.getResults().initIds(static_cast<unsigned>(found.size()));
    auto numbers = context.getResults().initNumbers(static_cast<unsigned>(found.size()));
    for (unsigned i = 0; i < found.size(); ++i) {
      ids.set(i, bytesOf(found[i]->id));
      numbers.set(i, found[i]->number);
    }
    return kj::READY_NOW;
  }

  kj::Promise<void> foreseeAfter(ForeseeAfterContext context) override {
    const JobSpec spec = read(context.getParams().getSpec());
    const JobId& other = spec.after.ok.at(0);
    context.getResults().setReason("starts after " + std::to_string(state_.find(other).status.record.number));
    return kj::READY_NOW;
  }

  kj::Promise<void> wait(WaitContext context) override {
    if (state_.kills(ClusterScript::Deadly::kWait, agent_)) return kj::NEVER_DONE;
    Job& job = state_.find(readJobId(context.getParams().getId()));
    return job.over.addBranch().then(
        [&job, context]() mutable { context.getResults().setState(toWire(job.status.progress.state)); });
  }

  kj::Promise<void> cancel(CancelContext context) override {
    const JobId id = readJobId(context.getParams().getId());
    Job& job = state_.find(id);
    const RunState before = job.status.progress.state;
    context.getResults().setState(toWire(before));
    if (!state_.script.ignoresCancel && !isFinal(before)) state_.cancel(job);
    const std::lock_guard lock(state_.mutex);
    state_.record.cancelled.push_back(id);
    return kj::READY_NOW;
  }

  kj::Promise<void> decisions(DecisionsContext context) override {
    const auto& decisions = state_.script.decisions;
    auto list = context.getResults().initDecisions(static_cast<unsigned>(decisions.size()));
    for (unsigned i = 0; i < list.size(); ++i) write(decisions[i], list[i]);
    const auto& servers = state_.script.servers;
    auto names = context.getResults().initServers(static_cast<unsigned>(servers.size()));
    for (unsigned i = 0; i < names.size(); ++i) {
      names[i].setId(i);
      names[i].setName(servers[i].facts.name);
      names[i].setPlatform(servers[i].facts.platform);
    }
    return kj::READY_NOW;
  }

  kj::Promise<void> servers(ServersContext context) override {
    const auto& servers = state_.script.servers;
    const size_t first = std::min<size_t>(context.getParams().getFirst(), servers.size());
    const size_t end = std::min(first + state_.script.serversAPage, servers.size());
    auto list = context.getResults().initServers(static_cast<unsigned>(end - first));
    for (unsigned i = 0; i < list.size(); ++i) fill(servers[first + i], list[i]);
    if (end < servers.size()) context.getResults().setNext(static_cast<uint32_t>(end));
    return kj::READY_NOW;
  }

  kj::Promise<void> server(ServerContext context) override {
    for (const ScriptedServer& server : state_.script.servers) {
      if (server.facts.name != context.getParams().getName().cStr()) continue;
      fill(server, context.getResults().initServer());
      return kj::READY_NOW;
    }
    fail(ErrorCode::kNotFound, "no server of this name");
  }

  kj::Promise<void> settings(SettingsContext context) override {
    write(state_.script.settings, context.getResults().initSettings());
    return kj::READY_NOW;
  }

  kj::Promise<void> setSettings(SetSettingsContext context) override {
    state_.script.settings = read(context.getParams().getSettings());
    const std::lock_guard lock(state_.mutex);
    state_.record.settings = state_.script.settings;
    return kj::READY_NOW;
  }

  kj::Promise<void> platforms(PlatformsContext context) override {
    const auto& platforms = state_.script.platforms;
    auto it = platforms.upper_bound(context.getParams().getAfter().cStr());
    const auto left = static_cast<size_t>(std::distance(it, platforms.end()));
    auto list =
        context.getResults().initPlatforms(static_cast<unsigned>(std::min(left, state_.script.entriesAPage)));
    for (unsigned i = 0; i < list.size(); ++i, ++it) write(it->first, it->second, list[i]);
    if (list.size() < left) context.getResults().setNext(std::prev(it)->first.c_str());
    return kj::READY_NOW;
  }

  kj::Promise<void> setPlatform(SetPlatformContext context) override {
    auto platform = context.getParams().getPlatform();
    const std::lock_guard lock(state_.mutex);
    state_.record.platforms[platform.getName().cStr()] = readShare(platform);
    return kj::READY_NOW;
  }

  kj::Promise<void> steerServers(SteerServersContext context) override {
    constexpr const char* kChanges[] = {"cordon", "uncordon", "drain"};
    auto params = context.getParams();
    const std::lock_guard lock(state_.mutex);
    for (auto name : params.getNames()) {
      state_.record.steered.push_back(std::string(kChanges[static_cast<size_t>(params.getChange())]) + " " +
                                      name.cStr() + " " + std::to_string(params.getDeadline()));
    }
    return kj::READY_NOW;
  }

  kj::Promise<void> watchDrain(WatchDrainContext context) override {
    auto& left = state_.script.tasksLeft;
    context.getResults().setDraining(!left.empty());
    context.getResults().setTasks(left.empty() ? 1 : left.front());
    if (!left.empty()) left.erase(left.begin());
    return kj::READY_NOW;
  }

  // Nothing waits.
  kj::Promise<void> queue(QueueContext) override { return kj::READY_NOW; }

  kj::Promise<void> usage(UsageContext context) override {
    const auto& usage = state_.script.usage;
    const std::string after = context.getParams().getAfter().cStr();
    const auto from = std::ranges::find_if(usage, [&after](const Usage& each) { return each.user > after; });
    const auto left = static_cast<size_t>(std::distance(from, usage.end()));
    auto list =
        context.getResults().initUsers(static_cast<unsigned>(std::min(left, state_.script.entriesAPage)));
    for (unsigned i = 0; i < list.size(); ++i) write(from[i], list[i]);
    if (list.size() < left) context.getResults().setNext(from[list.size() - 1].user.c_str());
    return kj::READY_NOW;
  }

  kj::Promise<void> profiles(ProfilesContext context) override {
    const auto& profiles = state_.script.profiles;
    const std::string after = context.getParams().getAfter().getApplication().cStr();
    const auto from = std::ranges::find_if(
        profiles, [&after](const StoredProfile& each) { return each.profile.application > after; });
    const auto left = static_cast<size_t>(std::distance(from, profiles.end()));
    auto list =
        context.getResults().initProfiles(static_cast<unsigned>(std::min(left, state_.script.entriesAPage)));
    for (unsigned i = 0; i < list.size(); ++i) write(from[i], list[i]);
    if (list.size() < left)
      context.getResults().initNext().setApplication(from[list.size() - 1].profile.application.c_str());
    return kj::READY_NOW;
  }

  kj::Promise<void> agents(AgentsContext context) override {
    auto list = context.getResults().initAgents(1);
    list[0].setName("a1");
    list[0].setAddress("unix:/a1");
    list[0].setAttached(true);
    return kj::READY_NOW;
  }

 private:
  void noteFilter(wire::JobFilter::Reader filter) {
    const std::lock_guard lock(state_.mutex);
    state_.record.listedUser = filter.getUser().cStr();
    state_.record.listedName = filter.getName().cStr();
    state_.record.listedStates.clear();
    for (auto state : filter.getStates()) state_.record.listedStates.push_back(fromWire(state));
    state_.record.listedSince = wallTime(filter.getSince());
  }

  static void fill(const ScriptedServer& server, wire::ServerDetails::Builder to) {
    to.setReason(server.reason);
    to.setDraining(server.draining);
    to.setAsideUntil(toWire(server.asideUntil));
    write(server.facts, to.initFacts());
    write(server.status, to.initStatus());
    to.setContention(bytesOf(server.contention));
    auto tasks = to.initTasks(static_cast<unsigned>(server.tasks.size()));
    for (unsigned i = 0; i < tasks.size(); ++i) {
      const ScriptedServer::Task& task = server.tasks[i];
      tasks[i].setJob(bytesOf(task.job));
      tasks[i].setJobNumber(task.job.bytes.front());  // as in the tests' jobs
      tasks[i].setIndex(task.index);
      tasks[i].setCaused(bytesOf(task.caused));
      tasks[i].setTolerated(bytesOf(task.tolerated));
      write(task.extras, tasks[i].initExtras(static_cast<unsigned>(task.extras.size())));
      tasks[i].setRus(kj::arrayPtr(task.rus.data(), task.rus.size()));
      tasks[i].setOver(kj::arrayPtr(task.over.data(), task.over.size()));
    }
  }

  State& state_;
  const size_t agent_;
};

class ScriptedCluster::Server::Agent final : public wire::ClientPort::Server {
 public:
  Agent(State& state, size_t agent) : state_(state), agent_(agent) {}

 protected:
  kj::Promise<void> submit(SubmitContext context) override {
    if (state_.script.refusal) kj::throwFatalException(toException(*state_.script.refusal));
    const JobId id = readJobId(context.getParams().getId());
    const JobSpec spec = read(context.getParams().getSpec());
    const bool isNew = !state_.jobs.contains(id);
    if (isNew) state_.submit(id, spec);
    {
      const std::lock_guard lock(state_.mutex);
      ++state_.record.submissions;
      if (isNew) {
        state_.record.submitted.push_back(spec);
        state_.record.files.push_back(read(context.getParams().getFiles()));
      }
    }
    if (state_.kills(ClusterScript::Deadly::kSubmit, agent_)) return kj::NEVER_DONE;
    return kj::READY_NOW;
  }

  kj::Promise<void> plan(PlanContext context) override {
    if (state_.script.refusal) kj::throwFatalException(toException(*state_.script.refusal));
    JobPlan plan = state_.script.plan;
    plan.explanation.seed = context.getParams().getSeed();
    write(plan, context.getResults().initPlan());
    const std::lock_guard lock(state_.mutex);
    state_.record.planned.push_back(read(context.getParams().getSpec()));
    return kj::READY_NOW;
  }

  // In pieces of 5 bytes, so that offsets matter.
  kj::Promise<void> output(OutputContext context) override {
    auto params = context.getParams();
    Job& job = state_.find(readJobId(params.getId()));
    if (params.getTask() >= job.script.size()) fail(ErrorCode::kNotFound, "the job has no such task");
    const ScriptedTask& task = job.script[params.getTask()];
    if (task.isGone) fail(ErrorCode::kNotFound, "the output is gone");
    const bool isOut = params.getStream() == wire::Stream::STDOUT;
    const AllocationId last = job.status.tasks[params.getTask()].allocation, first = last + kFirstAttempt;
    const std::pair which(params.getTask(), params.getStream());
    if (params.getAfter() == first) job.begunAgain.insert(which);
    const bool isFirst = !task.first.empty() && !job.begunAgain.contains(which);
    const std::string none;
    const std::string& text = !isOut ? (isFirst ? none : task.err) : isFirst ? task.first : task.out;
    const uint64_t from = std::max<uint64_t>(params.getOffset(), isOut ? task.dropped : 0);
    const std::string piece = text.substr(std::min<size_t>(from, text.size()), 5);
    const AllocationId allocation = isFirst ? first : last;
    if (isOut && params.getTaken() == allocation) {
      const std::lock_guard lock(state_.mutex);
      state_.record.taken.push_back(params.getOffset());
    }
    const bool isOver = isFirst || isFinal(job.status.progress.state);
    auto results = context.getResults();
    results.setAllocation(allocation);
    if (params.getAfter() == allocation) {
      results.setEnded(true);
      return isOver ? kj::Promise<void>(kj::READY_NOW) : job.over.addBranch();
    }
    results.setStart(from);
    results.setContent(kj::StringPtr(piece.c_str()).asBytes());
    results.setEnded(isOver && from + piece.size() == text.size());
    if (!piece.empty() || isOver || !params.getWait()) return kj::READY_NOW;
    return job.over.addBranch().then([context]() mutable { context.getResults().setEnded(true); });
  }

  // All that are behind `after`, in the order in which they are written down.
  kj::Promise<void> resultFiles(ResultFilesContext context) override {
    std::vector<ResultFile> files;
    const std::string after = convert::text(context.getParams().getAfter());
    if (after.empty()) files = state_.script.files;
    auto results = context.getResults();
    tarcil::write(files, results.initFiles(static_cast<uint32_t>(files.size())));
    results.setEnded(true);
    results.setAllocation(1);
    return kj::READY_NOW;
  }

  // In pieces of 5 bytes; of files longer than their paths only so much.
  kj::Promise<void> readResult(ReadResultContext context) override {
    auto params = context.getParams();
    const std::string path = convert::text(params.getPath());
    const std::string piece = path.substr(std::min<size_t>(params.getOffset(), path.size()), 5);
    context.getResults().setContent(kj::StringPtr(piece.c_str()).asBytes());
    return kj::READY_NOW;
  }

  kj::Promise<void> user(UserContext context) override {
    context.getResults().setPort(kj::heap<User>(state_, agent_));
    return kj::READY_NOW;
  }

 private:
  State& state_;
  const size_t agent_;
};

class ScriptedCluster::Server::Gate final : public wire::AgentGate::Server {
 public:
  Gate(State& state, size_t agent) : state_(state), agent_(agent) {}

 protected:
  kj::Promise<void> login(LoginContext context) override {
    if (agent_ < state_.script.hangingAgents) return kj::NEVER_DONE;
    if (context.getParams().getToken() != kToken) fail(ErrorCode::kDenied, "the token is not known here");
    context.getResults().setClient(kj::heap<Agent>(state_, agent_));
    return kj::READY_NOW;
  }

 private:
  State& state_;
  const size_t agent_;
};

void ScriptedCluster::Server::serveAll(const std::vector<std::string>& addresses) {
  auto io = kj::setupAsyncIo();
  auto pair = kj::newPromiseAndFulfiller<void>();
  stop_ = kj::mv(pair.fulfiller);
  stopOn_ = kj::getCurrentThreadExecutor().addRef();
  state_.tasks = kj::heap<kj::TaskSet>(*this);
  for (const JobStatus& job : state_.script.jobs) state_.add(job);
  for (size_t i = 0; i < addresses.size(); ++i) {
    auto listener =
        listenAt(io.provider->getNetwork(), *io.lowLevelProvider, addresses[i]).wait(io.waitScope);
    const Greeter greeter = [this, i](const LetIn& letIn) -> capnp::Capability::Client {
      letIn(Peer::kUser);
      return kj::heap<Gate>(state_, i);
    };
    state_.serving.push_back(
        serve(io.provider->getTimer(), kj::mv(listener.receiver), greeter).eagerlyEvaluate(nullptr));
  }
  ready_.set_value();
  pair.promise.wait(io.waitScope);
  state_.serving.clear();
  state_.tasks = nullptr;
  state_.jobs.clear();
}

ScriptedCluster::ScriptedCluster(ClusterScript script, size_t agents) : state_(std::make_unique<State>()) {
  state_->script = std::move(script);
  state_->agents = agents;
  if (!writeTokenFile(tokenFile(), kToken)) ADD_FAILURE() << "cannot write " << tokenFile();
  server_ = std::make_unique<Server>(*state_, addresses());
}

ScriptedCluster::~ScriptedCluster() = default;

std::vector<std::string> ScriptedCluster::addresses() const {
  std::vector<std::string> list;
  for (size_t i = 0; i < state_->agents; ++i)
    list.push_back("unix:" + folder_.at("agent" + std::to_string(i)));
  return list;
}

std::map<std::string, std::string> ScriptedCluster::environment() const {
  std::string cluster;
  for (const std::string& address : addresses()) cluster.append(cluster.empty() ? "" : ",").append(address);
  return {{"TARCIL_CLUSTER", cluster}, {"TARCIL_TOKEN_FILE", tokenFile()}};
}

ScriptedCluster::Record ScriptedCluster::record() const {
  const std::lock_guard lock(state_->mutex);
  return state_->record;
}

}  // namespace tarcil
