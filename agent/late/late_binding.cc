#include "agent/late/late_binding.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>

#include "agent/late/task_servers.h"
#include "core/base/units.h"
#include "core/model/job_check.h"
#include "core/model/job_size.h"
#include "core/state/run_as.h"
#include "core/state/usage.h"
#include "latebinding/names.h"
#include "rpc/turns.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

// Repeats need not come to the millisecond: those of many jobs are looked at together.
constexpr Duration kSlack = std::chrono::milliseconds(20);

constexpr double kMaxProbeRatio = 100;

// Versions that an agent remembers to have told a monitor; where one more comes all are told again.
constexpr size_t kMaxToldGrants = 10'000;

Status checkTasks(const LateSubmission& job) {
  for (size_t i = 0; i < job.tasks.size(); ++i) {
    const bool isGood = job.tasks[i] < job.spec.tasks && (i == 0 || job.tasks[i - 1] < job.tasks[i]);
    if (!isGood) return invalid("tasks: they must be the job's own, ascending");
  }
  if (!job.descriptions.empty() && job.descriptions.size() != job.spec.tasks) {
    return invalid("descriptions: write one for each task, or none");
  }
  if (job.probeRatio && !(*job.probeRatio >= 1 && *job.probeRatio <= kMaxProbeRatio)) {
    return invalid("probe_ratio: write a number from 1 to 100");
  }
  return {};
}

Status checkExecutor(const LateSubmission& job) {
  if (job.executor.empty()) {
    return job.descriptions.empty() ? Status() : invalid("descriptions: there is no executor to read them");
  }
  const Container& container = job.spec.container;
  if (!container.seesTheServer()) {
    return invalid("container: an executor sees the server's own files; leave rootfs, bundle and image out");
  }
  for (const std::string& word : job.executor) {
    if (word.find('\0') != std::string::npos) return invalid("executor: a word holds a zero byte");
  }
  return job.executor.front().empty() ? invalid("executor: names no program") : Status();
}

Status checkLate(const LateSubmission& job) {
  if (job.spec.policy != Policy::kLateBinding)
    return invalid("policy: is not late-binding; submit the job as others are");
  if (Status good = checkJob(job.spec, /*hasFiles=*/false); !good) return good;
  if (Status good = checkTasks(job); !good) return good;
  return checkExecutor(job);
}

// Without pairs of its tasks and servers.
LateLoad loadOf(const LateSubmission& job) {
  LateLoad load{.tasks = job.spec.tasks, .bytes = sizeOf(job.spec)};
  for (const std::string& word : job.executor) load.bytes += word.size();
  for (const std::string& description : job.descriptions) load.bytes += description.size();
  return load;
}

LaunchSpec launchOf(const LateSubmission& job, const std::string& submitter, const std::string& runAs) {
  LaunchSpec launch;
  launch.job = job.id;
  launch.jobName = job.spec.name;
  launch.tasks = job.spec.tasks;
  static_cast<TaskSpec&>(launch) = job.spec;
  launch.user = runAs;
  launch.submitter = submitter;
  launch.caused = job.spec.profile.caused;
  launch.tolerated = job.spec.profile.tolerated;
  return launch;
}

// --- Messages

template <typename Builder>
void writeProbe(const auto& message, uint32_t index, Builder to) {
  to.setServer(index);
  to.setProbe(message.probe);
  to.setJob(message.job);
}

void writeReserve(const late::Reserve& reserve, uint32_t index, wire::LateReserve::Builder to) {
  writeProbe(reserve, index, to);
  to.setCount(reserve.count);
  to.setUser(reserve.user);
  to.setShares(reserve.shares);
  to.setPriority(reserve.priority);
  static const late::Bearing kNone;
  if (reserve.bearing.caused != kNone.caused) to.setCaused(bytesOf(reserve.bearing.caused));
  if (reserve.bearing.tolerated != kNone.tolerated) to.setTolerated(bytesOf(reserve.bearing.tolerated));
}

void writeGive(const late::Give& give, uint32_t index, const LateHeld* job, wire::LateGive::Builder to) {
  to.setServer(index);
  to.setJob(give.job);
  to.setLease(give.lease);
  to.setTask(late::kNoTask);
  if (give.task == late::kNoTask || job == nullptr) return;
  to.setTask(give.task);
  const TaskIndex number = job->numberOf(give.task);
  auto work = to.initWork();
  auto launch = work.initLaunch();
  tarcil::write(job->launch, launch);
  launch.setTask(number);
  if (job->executor.empty()) return;
  convert::writeTexts(job->executor, work.initExecutor(static_cast<uint32_t>(job->executor.size())));
  if (job->descriptions.empty()) return;
  work.setDescription(text(job->descriptions[number]).asBytes());
}

}  // namespace

LateBindingAgent::LateBindingAgent(Net net, const Clock& clock, Rng rng, std::string token,
                                   AgentMetrics& metrics, const LateBindingOptions& options,
                                   LateNumbers::Lease lease, LateGrants::Ask grant)
    : net_(net),
      clock_(clock),
      rng_(rng),
      token_(std::move(token)),
      metrics_(metrics),
      scheduler_(options.scheduler, 0),
      servers_(scheduler_.groups()),
      jobs_(options.kept),
      numbers_(std::move(lease),
               [this](late::JobNumber job, JobNumber number) { jobs_.setClusterNumber(job, number); }),
      grants_(clock, std::move(grant)),
      held_(options.most),
      alarm_(net.timer, clock,
             [this]() {
               wake_.reset();
               scheduler_.advance(now(), rng_, actions_);
               carryOut();
             }),
      flushes_(stops_) {}

LateBindingAgent::~LateBindingAgent() noexcept(false) {
  for (LateSession* session : sessions_) session->forgetAgent();
}

// --- Servers

void LateBindingAgent::note(const ServerUpdate& update) {
  const LateServers::Change change = servers_.apply(update);
  if (update.id >= places_.size()) places_.resize(update.id + 1);
  if (change.address) {
    leave(update.id);
    const auto isUsed = [this](const std::string& address) {
      return std::any_of(servers_.all().begin(), servers_.all().end(),
                         [&address](const auto& entry) { return entry.second.address == address; });
    };
    std::erase_if(links_, [this, &isUsed](const auto& entry) {
      if (isUsed(entry.first)) return false;
      toSend_.erase(entry.second.get());
      return true;
    });
    if (const LateServer* server = servers_.find(update.id)) {
      auto& link = links_[server->address];
      if (link == nullptr)
        link = std::make_unique<LateLink>(*this, net_, server->address, server->name, token_, Rng(rng_()));
      const auto at = std::find(link->serverNames.begin(), link->serverNames.end(), server->name);
      if (at != link->serverNames.end())
        join(*link, static_cast<uint32_t>(at - link->serverNames.begin()), *server);
    }
  } else if (places_[update.id].link != nullptr) {
    const LateServer& server = *servers_.find(update.id);
    if (change.cordon && server.isCordoned) scheduler_.groups().setDown(update.id);
    if (change.cordon && !server.isCordoned) servers_.setUp(update.id);
    if (change.surroundings) tellSurroundings(update.id);
  }
  carryOut();
}

void LateBindingAgent::note(const std::string& platform, const Share& share) {
  shares_[platform] = share;
  for (const auto& [id, server] : servers_.all()) {
    if (server.attributes.at("platform") == platform) tellSurroundings(id);
  }
  flushSoon();
}

void LateBindingAgent::note(const std::string& user, uint32_t shares) {
  sharesOfUsers_[user] = static_cast<uint16_t>(std::clamp<uint32_t>(shares, 1, kMaxShares));
}

void LateBindingAgent::join(LateLink& link, uint32_t index, const LateServer& server) {
  link.servers[index] = server.id;
  places_[server.id] = {&link, index};
  if (!server.isCordoned) servers_.setUp(server.id);
  tellSurroundings(server.id);
}

void LateBindingAgent::leave(ServerId server) {
  LinkEntry& place = places_[server];
  if (place.link == nullptr) return;
  place.link->servers[place.index].reset();
  place = {};
  scheduler_.serverLost(server, now(), rng_, actions_);
}

void LateBindingAgent::tellSurroundings(ServerId server) {
  LateLink* link = places_[server].link;
  if (link == nullptr) return;
  toSend_.insert(link);
  auto& told = link->outbox.surroundings;
  if (std::find(told.begin(), told.end(), server) == told.end()) told.push_back(server);
}

void LateBindingAgent::sessionBegan(LateLink& link) {
  for (uint32_t i = 0; i < link.serverNames.size(); ++i) {
    const LateServer* server = servers_.find(link.serverNames[i]);
    if (server != nullptr && server->address == link.address()) join(link, i, *server);
  }
  spdlog::info("late binding: the monitor at {} takes tasks on {} servers", link.address(),
               link.serverNames.size());
  carryOut();
}

void LateBindingAgent::sessionEnded(LateLink& link) {
  for (const auto& server : std::vector(link.servers)) {
    if (server) leave(*server);
  }
  carryOut();
}

// --- Messages of monitors

void LateBindingAgent::take(LateLink& link, wire::LateMonitorNews::Reader news) {
  const auto serverOf = [&link](uint32_t index) {
    return index < link.servers.size() ? link.servers[index] : std::nullopt;
  };
  for (auto from : news.getEnded()) {
    const auto server = serverOf(from.getServer());
    if (!server) continue;
    late::Ended ended{
        .server = *server, .job = from.getJob(), .task = from.getTask(), .lease = from.getLease()};
    ended.code = from.getCode();
    ended.queue = convert::readDuration(from.getQueue(), "queue");
    ended.getTask = convert::readDuration(from.getGetTask(), "getTask");
    ended.service = convert::readDuration(from.getService(), "service");
    scheduler_.handle(ended, actions_);
  }
  for (auto from : news.getStarted()) {
    scheduler_.handle(late::Started{0, from.getJob(), from.getTask(), from.getLease()});
  }
  for (auto from : news.getNotStarted()) {
    scheduler_.handle(late::NotStarted{0, from.getJob(), from.getTask(), from.getLease()}, now(), rng_,
                      actions_);
  }
  std::vector<late::Ask> asks;
  for (auto from : news.getAsks()) {
    const auto server = serverOf(from.getServer());
    if (!server) continue;
    asks.push_back({0, *server, from.getJob(), from.getProbe(), from.getLease(),
                    convert::readDuration(from.getQueued(), "queued")});
  }
  scheduler_.handle(asks, now(), actions_);
  carryOut();
}

void LateBindingAgent::write(LateLink& link, wire::LateAgentNews::Builder to) {
  const auto indexOf = [this](ServerId server) { return places_[server].index; };
  const auto size = [](const auto& list) { return static_cast<uint32_t>(list.size()); };
  LateOutbox& box = link.outbox;
  if (!box.reserves.empty()) {
    auto list = to.initReserves(size(box.reserves));
    for (uint32_t i = 0; i < list.size(); ++i) {
      writeReserve(box.reserves[i], indexOf(box.reserves[i].server), list[i]);
    }
  }
  if (!box.cancels.empty()) {
    auto list = to.initCancels(size(box.cancels));
    for (uint32_t i = 0; i < list.size(); ++i)
      writeProbe(box.cancels[i], indexOf(box.cancels[i].server), list[i]);
  }
  writeGives(link, to);
  const auto writeLeases = [&indexOf](const auto& messages, auto list) {
    for (uint32_t i = 0; i < list.size(); ++i) {
      list[i].setServer(indexOf(messages[i].server));
      list[i].setLease(messages[i].lease);
    }
  };
  if (!box.forgets.empty()) writeLeases(box.forgets, to.initForgets(size(box.forgets)));
  if (!box.stops.empty()) writeLeases(box.stops, to.initStops(size(box.stops)));
  // Of those that have left since, there is nothing to tell.
  std::erase_if(box.surroundings, [this](ServerId server) { return servers_.find(server) == nullptr; });
  if (!box.surroundings.empty()) {
    auto list = to.initSurroundings(size(box.surroundings));
    for (uint32_t i = 0; i < list.size(); ++i) {
      const LateServer& server = *servers_.find(box.surroundings[i]);
      const auto share = shares_.find(server.attributes.at("platform"));
      list[i].setServer(indexOf(server.id));
      convert::writeNumbers<int32_t>(server.sum, list[i].initCaused(kResources));
      convert::writeNumbers<uint16_t>(share == shares_.end() ? fullShare() : share->second,
                                      list[i].initShare(kResources));
      list[i].setBackground(bytesOf(server.background));
    }
  }
  auto later = std::move(box.gives);
  box.clear();
  if (later.empty()) return;
  box.gives = std::move(later);
  toSend_.insert(&link);
  flushSoon();
}

// What goes by a grant that the monitor has not been told goes with it.
void LateBindingAgent::writeGives(LateLink& link, wire::LateAgentNews::Builder to) {
  auto& gives = link.outbox.gives;
  std::vector<LateGrants::Ref> untold;
  size_t count = 0;
  for (; count < gives.size(); ++count) {
    const LateHeld* job = gives[count].task == late::kNoTask ? nullptr : jobs_.find(gives[count].job);
    if (job == nullptr) continue;
    grants_.use(job->grant);
    if (link.toldGrants.contains(job->grant->version)) continue;
    if (untold.size() == kMaxGrantsAtOnce) break;
    if (link.toldGrants.size() >= kMaxToldGrants) link.toldGrants.clear();
    link.toldGrants.insert(job->grant->version);
    untold.push_back(job->grant);
  }
  if (!untold.empty()) {
    auto list = to.initGrants(static_cast<uint32_t>(untold.size()));
    for (uint32_t i = 0; i < list.size(); ++i) tarcil::write(untold[i]->grant, list[i]);
  }
  if (count == 0) return;
  auto list = to.initGives(static_cast<uint32_t>(count));
  for (uint32_t i = 0; i < list.size(); ++i)
    writeGive(gives[i], places_[gives[i].server].index, jobs_.find(gives[i].job), list[i]);
  gives.erase(gives.begin(), gives.begin() + static_cast<ptrdiff_t>(count));
}

// --- Jobs of clients

wire::LateClientPort::Client LateBindingAgent::open(kj::Own<FairCalls::User> user, const Caller& caller,
                                                    wire::LateClient::Client client) {
  auto session = kj::heap<LateSession>(*this, kj::mv(user), caller, kj::mv(client));
  sessions_.insert(session.get());
  return kj::mv(session);
}

Result<late::LateJob> LateBindingAgent::lateJobOf(const LateSubmission& submission, const Caller& caller,
                                                  LateLoad& load) {
  const JobSpec& spec = submission.spec;
  late::LateJob job;
  job.tasks = submission.tasks.empty() ? spec.tasks : static_cast<uint32_t>(submission.tasks.size());
  job.atMostOnce = spec.atMostOnce;
  job.user = late::numberOf(caller.user);
  if (const auto set = sharesOfUsers_.find(caller.user); set != sharesOfUsers_.end())
    job.shares = set->second;
  job.priority = spec.priority;
  job.probeRatio = submission.probeRatio;
  job.bearing = {spec.profile.caused, spec.profile.tolerated};
  const Placement& placement = spec.placement;
  const ServerNeeds needs{placement.constraints, {}, spec.byteRequest().bytes};
  if (Status enough = hasUnitsFor(needs); !enough) return enough.error();
  if (!placement.prefer.empty() || !placement.preferOfTask.empty() || !placement.requireOfTask.empty()) {
    std::vector<TaskIndex> tasks = submission.tasks;
    if (tasks.empty()) {
      tasks.resize(job.tasks);
      std::iota(tasks.begin(), tasks.end(), 0);
    }
    // Where all that it prefers are away, a task runs on any server that is feasible for the job.
    SuitableServers suitable{.all = servers_.meeting(needs), .usable = {}, .meeting = {}};
    suitable.usable = [this, &suitable](const std::string& name) -> std::optional<ServerId> {
      const LateServer* server = servers_.find(name);
      const bool isUsable = server != nullptr && scheduler_.groups().isUp(server->id) &&
                            std::ranges::binary_search(suitable.all, server->id);
      return isUsable ? std::optional(server->id) : std::nullopt;
    };
    suitable.meeting = [this, &needs](const std::vector<Constraint>& required) {
      ServerNeeds both = needs;
      both.constraints.insert(both.constraints.end(), required.begin(), required.end());
      return servers_.meeting(both);
    };
    auto lists = serversOfTasks(placement, tasks, suitable);
    if (!lists) return lists.error();
    load.taskServers = countTaskServers(*lists);
    if (Status fits = held_.check(caller.user, load); !fits) return fits.error();
    job.serversOfTasks = std::move(*lists);
  }
  job.group = servers_.group(needs);
  return job;
}

// A late-bound task has one unit, and of memory and disk no more than its share: others get the rest.
Status LateBindingAgent::hasUnitsFor(const ServerNeeds& needs) const {
  if (needs.bytes == ByteResources{} || !servers_.meeting(needs).empty()) return {};
  ByteResources most;
  for (const ServerId id : servers_.meeting({needs.constraints, {}})) {
    const ByteResources& share = servers_.find(id)->unitShare;
    most = {std::max(most.memory, share.memory), std::max(most.disk, share.disk)};
  }
  if (most == ByteResources{}) return {};  // no server meets the constraints now
  return invalid(
      "limits: a late-bound task has the share of one unit, at most " + formatSize(most.memory) +
      " of memory and " + formatSize(most.disk) +
      " of disk on a server that suits it; lower limits.memory and limits.disk, or leave policy out");
}

kj::Maybe<kj::Promise<void>> LateBindingAgent::grantsFor(const Caller& caller,
                                                         const std::vector<LateSubmission>& jobs) {
  std::set<std::string> missing;  // system users
  for (const LateSubmission& job : jobs) {
    const auto runAs = runAsFor(job.spec, caller);
    if (runAs && !grants_.find(caller.user, *runAs)) missing.insert(*runAs);
  }
  if (missing.empty()) return nullptr;
  kj::Vector<kj::Promise<void>> answers;
  for (const std::string& runAs : missing) answers.add(grants_.get(caller.user, runAs));
  return kj::joinPromises(answers.releaseAsArray());
}

Status LateBindingAgent::submit(LateSession& session, LateSubmission submission) {
  if (Status good = checkLate(submission); !good) return good;
  const auto runAs = runAsFor(submission.spec, session.caller());
  if (!runAs) return runAs.error();
  auto grant = grants_.find(session.caller().user, *runAs);
  if (!grant) return grant.error();
  LateLoad load = loadOf(submission);
  if (Status fits = held_.check(session.caller().user, load); !fits) return fits;
  auto job = lateJobOf(submission, session.caller(), load);
  if (!job) return job.error();
  const late::GroupNumber group = job->group;
  const auto number = scheduler_.submit(std::move(*job), now(), rng_, actions_);
  if (!number) {
    servers_.drop(group);
    return number.error();
  }
  LateHeld held;
  held.number = *number;
  held.clusterNumber = numbers_.take(*number);
  held.id = submission.id;
  held.user = session.caller().user;
  held.launch = launchOf(submission, session.caller().user, *runAs);
  held.grant = std::move(*grant);
  held.spec = std::move(submission.spec);
  held.executor = std::move(submission.executor);
  held.descriptions = std::move(submission.descriptions);
  held.tasks = std::move(submission.tasks);
  held.session = &session;
  held.clientNumber = submission.number;
  held.detached = submission.detached;
  held.group = group;
  held.load = load;
  held.submitted = clock_.now().wall;
  held_.add(held.user, load);
  jobs_.add(std::move(held));
  carryOut();
  return {};
}

void LateBindingAgent::cancel(LateSession& session, uint64_t clientNumber) {
  for (const late::JobNumber number : jobs_.ofSession(session)) {
    if (jobs_.find(number)->clientNumber == clientNumber) scheduler_.cancel(number, actions_);
  }
  carryOut();
}

void LateBindingAgent::sessionEnded(LateSession& session) {
  sessions_.erase(&session);
  toTell_.erase(&session);
  for (const late::JobNumber number : jobs_.ofSession(session)) {
    LateHeld& job = *jobs_.find(number);
    job.session = nullptr;
    if (!job.detached) scheduler_.cancel(number, actions_);
  }
  carryOut();
}

// --- What the scheduler wants

void LateBindingAgent::carryOut() {
  const auto outboxOf = [this](ServerId server) -> LateOutbox* {
    LateLink* link = server < places_.size() ? places_[server].link : nullptr;
    if (link == nullptr) return nullptr;
    toSend_.insert(link);
    return &link->outbox;
  };
  metrics_.count(actions_);
  // What is for a server that is lost need not be sent: its session is over.
  for (const auto& reserve : actions_.reserves) {
    if (LateOutbox* box = outboxOf(reserve.server)) box->reserves.push_back(reserve);
  }
  for (const auto& cancel : actions_.cancels) {
    if (LateOutbox* box = outboxOf(cancel.server)) box->cancels.push_back(cancel);
  }
  for (const auto& give : actions_.gives) {
    if (LateOutbox* box = outboxOf(give.server)) box->gives.push_back(give);
  }
  for (const auto& forget : actions_.forgets) {
    if (LateOutbox* box = outboxOf(forget.server)) box->forgets.push_back(forget);
  }
  for (const auto& stop : actions_.stops) {
    if (LateOutbox* box = outboxOf(stop.server)) box->stops.push_back(stop);
  }
  for (const auto& over : actions_.tasksOver) carryOut(over);
  for (const auto& over : actions_.jobsOver) {
    const LateHeld& job = *jobs_.find(over.job);
    servers_.drop(job.group);
    held_.remove(job.user, job.load);
    jobs_.finish(over.job, clock_.now().wall);
    over_.happened({over.job, std::nullopt});
  }
  actions_.clear();
  setAlarm();
  flushSoon();
}

void LateBindingAgent::carryOut(const late::TaskOver& over) {
  LateHeld& job = *jobs_.find(over.job);
  metrics_.count(over);
  const LateServer* server = over.attempts > 0 ? servers_.find(over.server) : nullptr;
  const std::string& name = job.over.emplace_back(over, server == nullptr ? "" : server->name).second;
  over_.happened({over.job, job.numberOf(over.task)});
  if (job.session == nullptr) return;
  job.session->over(job.clientNumber, job.numberOf(over.task), over, name);
  toTell_.insert(job.session);
}

void LateBindingAgent::setAlarm() {
  const MonotonicTime next = scheduler_.nextWake();
  if (next == MonotonicTime::max() || (wake_ && *wake_ <= next + kSlack)) return;
  wake_ = next + kSlack;
  alarm_.set(*wake_);
}

void LateBindingAgent::flushSoon() {
  if (std::exchange(isFlushing_, true)) return;
  flushes_.add(untilIdle(net_.timer).then([this]() {
    isFlushing_ = false;
    for (LateLink* link : std::exchange(toSend_, {})) link->flush();
    for (LateSession* session : std::exchange(toTell_, {})) session->flush();
  }));
}

}  // namespace tarcil
