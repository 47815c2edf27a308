#include "monitor/late/late_binding.h"

#include <kj/debug.h>

#include <algorithm>

#include "rpc/turns.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// What is due need not be done to the millisecond.
constexpr Duration kLateSlack = std::chrono::milliseconds(2);

LateTask readWork(wire::LateWork::Reader from) {
  LateTask task;
  task.launch = read(from.getLaunch());
  task.executor = convert::readTexts(from.getExecutor());
  if (from.hasDescription()) {
    const auto bytes = from.getDescription().asChars();
    task.description.emplace(bytes.begin(), bytes.size());
  }
  return task;
}

// What the master counts of the server's own late-bound tasks is taken off: the queue knows those by itself.
late::Surroundings readSurroundings(wire::LateSurroundings::Reader from, const PressureSum& own) {
  late::Surroundings surroundings;
  surroundings.caused = convert::readArray<int32_t, kResources>(from.getCaused(), "caused");
  for (int i = 0; i < kResources; ++i) {
    surroundings.caused[i] = std::max(0, std::clamp(surroundings.caused[i], 0, kMaxServerCaused) - own[i]);
  }
  surroundings.share = convert::readArray<uint16_t, kResources>(from.getShare(), "share");
  surroundings.background = readPressure(from.getBackground());
  return surroundings;
}

late::Reserve readReserve(wire::LateReserve::Reader from) {
  late::Reserve reserve{.server = from.getServer(), .job = from.getJob(), .probe = from.getProbe()};
  reserve.count = from.getCount();
  reserve.user = from.getUser();
  reserve.shares = from.getShares();
  reserve.priority = from.getPriority();
  if (from.hasCaused()) reserve.bearing.caused = readPressure(from.getCaused());
  if (from.hasTolerated()) reserve.bearing.tolerated = readPressure(from.getTolerated());
  return reserve;
}

}  // namespace

LateBindingMonitor::LateBindingMonitor(kj::Timer& timer, const Clock& clock, LateMonitorOptions options,
                                       const std::vector<std::string>& servers, LateExecutor& executor,
                                       LateMaster& master)
    : timer_(timer),
      clock_(clock),
      names_(servers),
      executor_(executor),
      master_(master),
      alarm_(timer, clock, [this]() { advance(); }),
      flushes_(stops_) {
  servers_.reserve(servers.size());
  for (uint32_t i = 0; i < servers.size(); ++i) {
    servers_.emplace_back(options, i);
    byName_[servers[i]] = i;
  }
}

LateBindingMonitor::~LateBindingMonitor() noexcept(false) {
  for (const auto& [number, session] : sessions_) session->forgetMonitor();
}

// --- Sessions

wire::LateMonitorPort::Client LateBindingMonitor::open(std::string name, wire::LateAgentPort::Client agent) {
  auto session = kj::heap<LateMonitorSession>(*this, ++lastAgent_, std::move(name), kj::mv(agent));
  sessions_[lastAgent_] = session.get();
  return kj::mv(session);
}

void LateBindingMonitor::sessionEnded(LateMonitorSession& session) {
  sessions_.erase(session.number());
  for (uint32_t i = 0; i < servers_.size(); ++i) {
    servers_[i].queue.agentLost(session.number(), now(), actions_);
    changed(i);
  }
  carryOut();
}

void LateBindingMonitor::take(LateMonitorSession& session, wire::LateAgentNews::Reader news) {
  const MonotonicTime time = now();
  const late::AgentNumber agent = session.number();
  const auto isHere = [this](auto message) { return message.getServer() < servers_.size(); };
  KJ_REQUIRE(news.getGrants().size() <= kMaxGrantsAtOnce, "too many grants at once");
  for (auto from : news.getGrants()) session.grants.add(read(from), clock_.now().wall);
  for (auto from : news.getForgets()) {
    if (!isHere(from)) continue;
    servers_[from.getServer()].queue.handle(late::Forget{agent, from.getServer(), from.getLease()});
  }
  for (auto from : news.getSurroundings()) {
    if (!isHere(from)) continue;
    Server& server = servers_[from.getServer()];
    server.queue.setSurroundings(readSurroundings(from, server.charge.told()), time, actions_);
    changed(from.getServer());
  }
  for (auto from : news.getGives()) {
    if (!isHere(from)) continue;
    give(session, {agent, from.getServer(), from.getJob(), from.getLease(), from.getTask()}, from.getWork());
  }
  for (auto from : news.getStops()) {
    if (isHere(from)) stop(from.getServer(), {agent, from.getServer(), from.getLease()});
  }
  for (auto from : news.getCancels()) {
    if (!isHere(from)) continue;
    servers_[from.getServer()].queue.handle(
        late::Cancel{agent, from.getServer(), from.getJob(), from.getProbe()});
    changed(from.getServer());
  }
  for (auto from : news.getReserves()) {
    if (!isHere(from)) continue;
    late::Reserve reserve = readReserve(from);
    reserve.agent = agent;
    servers_[reserve.server].queue.handle(reserve, time, actions_);
    changed(reserve.server);
  }
  carryOut();
}

void LateBindingMonitor::give(LateMonitorSession& session, late::Give give, wire::LateWork::Reader work) {
  using Verdict = ShownGrants::Verdict;
  const uint32_t index = give.server;
  Server& server = servers_[index];
  changed(index);
  Verdict verdict = Verdict::kGranted;
  if (give.task != late::kNoTask) {
    verdict = session.grants.judge(convert::text(work.getLaunch().getSubmitter()),
                                   convert::text(work.getLaunch().getUser()), clock_.now().wall, grantKeys_);
  }
  if (verdict == Verdict::kNotYet) {
    actions_.notStarted.push_back({give.agent, give.job, give.task, give.lease});
    give.task = late::kNoTask;
  }
  const size_t before = actions_.starts.size();
  server.queue.handle(give, now(), actions_);
  if (actions_.starts.size() == before) return;
  const late::StartTask start = actions_.starts.back();
  actions_.starts.pop_back();
  LateTask task = readWork(work);
  task.server = index;
  task.lease = start.lease;
  task.ru = server.pool.take();
  server.running.emplace(task.lease, task.ru);
  if (verdict == Verdict::kDenied) {
    session.sayDenied(task.launch.submitter, task.launch.user);
    return lateTaskEnded(index, start.lease, kCodeNotStarted);
  }
  if (const auto code = executor_.start(std::move(task))) lateTaskEnded(index, start.lease, *code);
}

void LateBindingMonitor::stop(uint32_t index, const late::Stop& stop) {
  servers_[index].queue.handle(stop, actions_);
  for (const late::StopTask& task : std::exchange(actions_.stops, {})) executor_.stop(index, task.lease);
}

void LateBindingMonitor::lateTaskEnded(uint32_t index, late::SlotLeaseId lease, int32_t code) {
  Server& server = servers_[index];
  const auto ran = server.running.extract(lease);
  if (!ran) return;
  server.pool.release(ran.mapped());
  server.queue.taskEnded(lease, code, now(), actions_);
  changed(index);
  flushSoon();
}

// --- The master's word

LateBindingMonitor::Server* LateBindingMonitor::find(const std::string& name) {
  const auto found = byName_.find(name);
  return found == byName_.end() ? nullptr : &servers_[found->second];
}

void LateBindingMonitor::masterAttached(const std::optional<PublicKey>& grantKey) {
  grantKeys_.set(grantKey);
  if (std::exchange(hasMaster_, true)) return;
  for (uint32_t i = 0; i < servers_.size(); ++i) changed(i);
  carryOut();
}

void LateBindingMonitor::handle(const std::string& name, const late::PoolAnswer& answer) {
  Server* server = find(name);
  if (server == nullptr) return;
  server->pool.handle(answer, now());
  changed(byName_[name]);
  carryOut();
}

void LateBindingMonitor::handle(const std::string& name, const late::PoolLimit& limit) {
  Server* server = find(name);
  if (server == nullptr) return;
  server->pool.handle(limit);
  changed(byName_[name]);
  carryOut();
}

// --- What the queues and pools want

void LateBindingMonitor::changed(uint32_t index) {
  if (std::exchange(servers_[index].isChanged, true)) return;
  changed_.push_back(index);
}

void LateBindingMonitor::carryOut() {
  // A pool that has grown makes the queue ask for more.
  for (size_t i = 0; i < changed_.size(); ++i) fitPool(changed_[i]);
  for (const uint32_t index : changed_) {
    servers_[index].isChanged = false;
    wakeBy(nextWake(servers_[index]));
  }
  changed_.clear();
  sort();
  flushSoon();
}

void LateBindingMonitor::fitPool(uint32_t index) {
  if (!hasMaster_) return;
  Server& server = servers_[index];
  const auto report = server.pool.update({server.queue.busy(), server.queue.queued()}, now());
  if (report) {
    executor_.keepTo(index, server.pool.held());
    master_.report(names_[index], *report);
  }
  if (server.pool.slots() != server.queue.slots())
    server.queue.setSlots(server.pool.slots(), now(), actions_);
  if (const auto caused = server.charge.update(server.queue.caused(), now()))
    master_.charge({names_[index], *caused});
}

MonotonicTime LateBindingMonitor::nextWake(const Server& server) {
  return std::min({server.queue.nextWake(), server.pool.nextWake(), server.charge.nextWake()});
}

void LateBindingMonitor::sort() {
  const auto sessionOf = [this](late::AgentNumber agent) -> LateMonitorSession* {
    const auto found = sessions_.find(agent);
    if (found == sessions_.end()) return nullptr;
    toTell_.insert(agent);
    return found->second;
  };
  for (const auto& ask : actions_.asks) {
    if (LateMonitorSession* session = sessionOf(ask.agent)) session->asks.push_back(ask);
  }
  for (const auto& started : actions_.started) {
    if (LateMonitorSession* session = sessionOf(started.agent)) session->started.push_back(started);
  }
  for (const auto& notStarted : actions_.notStarted) {
    if (LateMonitorSession* session = sessionOf(notStarted.agent)) session->notStarted.push_back(notStarted);
  }
  for (const auto& ended : actions_.ended) {
    if (LateMonitorSession* session = sessionOf(ended.agent)) session->ended.push_back(ended);
  }
  actions_.clear();
}

void LateBindingMonitor::wakeBy(MonotonicTime when) {
  if (when == MonotonicTime::max() || (wake_ && *wake_ <= when + kLateSlack)) return;
  wake_ = when + kLateSlack;
  alarm_.set(*wake_);
}

void LateBindingMonitor::advance() {
  wake_.reset();
  const MonotonicTime time = now();
  for (uint32_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    const MonotonicTime due = nextWake(server);
    if (due > time) {
      wakeBy(due);
      continue;
    }
    server.queue.advance(time, actions_);
    changed(i);
  }
  carryOut();
}

void LateBindingMonitor::flushSoon() {
  if (std::exchange(isFlushing_, true)) return;
  flushes_.add(untilIdle(timer_).then([this]() {
    if (!changed_.empty()) carryOut();
    isFlushing_ = false;
    for (const late::AgentNumber agent : std::exchange(toTell_, {})) {
      if (const auto found = sessions_.find(agent); found != sessions_.end()) found->second->flush();
    }
  }));
}

LateBindingMonitor::Load LateBindingMonitor::load() const {
  Load load;
  for (const Server& server : servers_) {
    load.units += server.queue.slots();
    load.busy += server.queue.busy();
    load.queued += server.queue.queued();
    const late::QueueCounts& counts = server.queue.counts();
    load.counts.reserved += counts.reserved;
    load.counts.cancelled += counts.cancelled;
    load.counts.given += counts.given;
    load.counts.noneLeft += counts.noneLeft;
    load.counts.givenUp += counts.givenUp;
  }
  return load;
}

}  // namespace tarcil
