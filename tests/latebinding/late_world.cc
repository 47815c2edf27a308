#include "tests/latebinding/late_world.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tarcil::late {
namespace {

constexpr Duration kClientWay = std::chrono::microseconds(200);
constexpr Duration kGrace = std::chrono::milliseconds(5);  // that tasks take to end when they are stopped
constexpr int32_t kStopped = 143;

}  // namespace

LateWorld::LateWorld(const WorldOptions& options) : options_(options), rng_(options.seed) {
  agents_.resize(options.agents);
  servers_.resize(options.servers);
  clients_.resize(options.clients);
  links_.resize(options.agents * options.servers);
  for (ServerId server = 0; server < options.servers; ++server) startServer(server);
  for (uint32_t agent = 0; agent < options.agents; ++agent) startAgent(agent);
  for (uint32_t client = 0; client < options.clients; ++client) {
    clients_[client].session = std::make_unique<ClientSession>(options.client, options.agents);
    clients_[client].session->start(now_, clients_[client].actions);
    flushClient(client);
  }
}

void LateWorld::run(Duration duration) {
  const MonotonicTime end = now_ + duration;
  while (!events_.empty() && events_.top().time <= end) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    event.what();
  }
  now_ = end;
}

// --- Work

JobNumber LateWorld::submit(uint32_t agent, LateJob job, Durations durations) {
  Agent& a = agents_[agent];
  const UserNumber user = job.user;
  const JobNumber number = *a.scheduler->submit(std::move(job), now_, rng_, a.actions);
  a.jobs[number] = {agent, number, {}, 0, std::move(durations), user};
  flushAgent(agent);
  return number;
}

void LateWorld::cancel(uint32_t agent, JobNumber job) {
  agents_[agent].scheduler->cancel(job, agents_[agent].actions);
  flushAgent(agent);
}

ClientJob LateWorld::submitByClient(uint32_t client, uint32_t tasks, OnFailure onFailure,
                                    Durations durations) {
  Client& c = clients_[client];
  c.durations[++c.jobs] = std::move(durations);
  onFailureOf_[{client, c.jobs}] = onFailure;
  c.session->submit(c.jobs, tasks, onFailure, c.actions);
  flushClient(client);
  return c.jobs;
}

uint32_t LateWorld::running(UserNumber user) const {
  uint32_t count = 0;
  for (const Server& server : servers_) {
    for (const auto& [lease, of] : server.running) count += of == user ? 1 : 0;
  }
  return count;
}

// --- Processes and links

void LateWorld::startServer(ServerId server) {
  Server& s = servers_[server];
  s.isUp = true;
  s.queue = std::make_unique<ReservationQueue>(options_.queue, server, ++s.incarnation << 20);
  s.wake = MonotonicTime::max();
  s.running.clear();
  s.queue->setSlots(options_.slots, now_, s.actions);
  for (uint32_t agent = 0; agent < agents_.size(); ++agent) {
    whenAwake(agent, [this, agent, server] { connect(agent, server); });
  }
}

void LateWorld::startAgent(uint32_t agent) {
  Agent& a = agents_[agent];
  a.scheduler = std::make_unique<JobScheduler>(options_.scheduler, agent);
  a.actions.clear();
  a.jobs.clear();
  a.isUp = true;
  a.resumes = now_;
  a.wake = MonotonicTime::max();
  ++a.incarnation;
  for (ServerId server = 0; server < servers_.size(); ++server) connect(agent, server);
}

void LateWorld::connect(uint32_t agent, ServerId server) {
  Agent& a = agents_[agent];
  if (!a.isUp || a.scheduler == nullptr || !servers_[server].isUp || link(agent, server).number != 0) return;
  link(agent, server).number = ++lastNumber_;
  agentOf_[lastNumber_] = agent;
  a.scheduler->serverUp(server);
}

// Nothing gets through from now on; each side notices in its own time, before the two connect again.
void LateWorld::breakLink(uint32_t agent, ServerId server) {
  const AgentNumber number = std::exchange(link(agent, server).number, 0);
  if (number == 0) return;
  after(noticed(), [this, server, number, incarnation = servers_[server].incarnation] {
    Server& s = servers_[server];
    if (!s.isUp || s.incarnation != incarnation) return;
    s.queue->agentLost(number, now_, s.actions);
    flushServer(server);
  });
  after(noticed(), [this, agent, server] {
    whenAwake(agent, [this, agent, server] {
      agents_[agent].scheduler->serverLost(server, now_, rng_, agents_[agent].actions);
      flushAgent(agent);
    });
  });
}

void LateWorld::killServer(ServerId server, Duration away) {
  Server& s = servers_[server];
  if (!s.isUp) return;
  s.isUp = false;
  s.running.clear();
  for (uint32_t agent = 0; agent < agents_.size(); ++agent) breakLink(agent, server);
  after(std::max(away, options_.noticing), [this, server] { startServer(server); });
}

void LateWorld::killAgent(uint32_t agent, Duration away) {
  Agent& a = agents_[agent];
  if (!a.isUp) return;
  a.isUp = false;
  for (ServerId server = 0; server < servers_.size(); ++server) breakLink(agent, server);
  for (uint32_t client = 0; client < clients_.size(); ++client) {
    ClientSession& session = *clients_[client].session;
    if (session.agent() == agent) closeSession(client, session.session());
  }
  after(std::max(away, options_.noticing), [this, agent] { startAgent(agent); });
}

void LateWorld::stopAgent(uint32_t agent, Duration pause) {
  agents_[agent].resumes = std::max(agents_[agent].resumes, now_ + pause);
}

void LateWorld::cutLink(uint32_t agent, ServerId server, Duration away) {
  if (link(agent, server).number == 0) return;
  breakLink(agent, server);
  // A stopped agent does not connect.
  after(std::max(away, options_.noticing),
        [this, agent, server] { whenAwake(agent, [this, agent, server] { connect(agent, server); }); });
}

void LateWorld::whenAwake(uint32_t agent, std::function<void()> what) {
  Agent& a = agents_[agent];
  if (!a.isUp) return;
  if (now_ >= a.resumes) return what();
  at(a.resumes, [this, agent, incarnation = a.incarnation, what = std::move(what)] {
    if (agents_[agent].incarnation == incarnation) whenAwake(agent, what);
  });
}

// --- Messages

void LateWorld::carry(std::function<void()> delivery) {
  const auto spread = static_cast<uint64_t>((options_.mostDelay - options_.leastDelay).count());
  const auto delay = [&] {
    return options_.leastDelay + Duration(static_cast<int64_t>(rng_.below(spread + 1)));
  };
  if (options_.repeat > 0 && rng_.unit() < options_.repeat) after(delay(), delivery);
  if (options_.loss > 0 && rng_.unit() < options_.loss) return;
  after(delay(), std::move(delivery));
}

template <typename Message>
void LateWorld::toServer(uint32_t agent, Message message) {
  const AgentNumber number = link(agent, message.server).number;
  if (number == 0) return;
  message.agent = number;
  carry([this, agent, message] {
    if (link(agent, message.server).number != message.agent) return;
    Server& s = servers_[message.server];
    if constexpr (std::is_same_v<Message, Look>) {
      toAgent(message.server, s.queue->handle(message));
    } else if constexpr (std::is_same_v<Message, Cancel> || std::is_same_v<Message, Forget>) {
      s.queue->handle(message);
    } else if constexpr (std::is_same_v<Message, Stop>) {
      s.queue->handle(message, s.actions);
    } else {
      s.queue->handle(message, now_, s.actions);
    }
    flushServer(message.server);
  });
}

template <typename Message>
void LateWorld::toAgent(ServerId server, Message message) {
  const uint32_t agent = agentOf_.at(message.agent);
  carry([this, agent, server, message] {
    whenAwake(agent, [this, agent, server, message] {
      if (link(agent, server).number != message.agent) return;
      Agent& a = agents_[agent];
      if constexpr (std::is_same_v<Message, NotStarted>) {
        a.scheduler->handle(message, now_, rng_, a.actions);
      } else if constexpr (std::is_same_v<Message, Started>) {
        a.scheduler->handle(message);
      } else if constexpr (std::is_same_v<Message, Ask>) {
        a.scheduler->handle(message, now_, a.actions);
      } else {
        a.scheduler->handle(message, a.actions);
      }
      flushAgent(agent);
    });
  });
}

void LateWorld::flushAgent(uint32_t agent) {
  Agent& a = agents_[agent];
  const SchedulerActions actions = std::exchange(a.actions, {});
  for (const Reserve& message : actions.reserves) toServer(agent, message);
  for (const Cancel& message : actions.cancels) toServer(agent, message);
  for (const Give& message : actions.gives) {
    vainAsks_ += message.task == kNoTask ? 1 : 0;
    toServer(agent, message);
  }
  for (const Forget& message : actions.forgets) toServer(agent, message);
  for (const Stop& message : actions.stops) toServer(agent, message);
  for (const Look& message : actions.looks) toServer(agent, message);
  for (const TaskOver& over : actions.tasksOver) tell(agent, over);
  for (const JobOver& job : actions.jobsOver) jobsOver_[{agent, job.job}] = now_;
  const MonotonicTime wake = a.scheduler->nextWake();
  if (wake >= a.wake) return;
  a.wake = wake;
  at(std::max(wake, now_), [this, agent, incarnation = a.incarnation] {
    if (agents_[agent].incarnation != incarnation) return;
    whenAwake(agent, [this, agent] {
      Agent& awake = agents_[agent];
      awake.wake = MonotonicTime::max();
      awake.scheduler->advance(now_, rng_, awake.actions);
      flushAgent(agent);
    });
  });
}

void LateWorld::flushServer(ServerId server) {
  Server& s = servers_[server];
  const QueueActions actions = std::exchange(s.actions, {});
  for (const Ask& message : actions.asks) toAgent(server, message);
  for (const StartTask& start : actions.starts) startTask(server, start);
  for (const StopTask& stop : actions.stops)
    after(kGrace, [this, server, stop, incarnation = s.incarnation] {
      endTask(server, incarnation, stop.lease, kStopped);
    });
  for (const Started& message : actions.started) toAgent(server, message);
  for (const NotStarted& message : actions.notStarted) toAgent(server, message);
  for (const Ended& message : actions.ended) toAgent(server, message);
  const MonotonicTime wake = s.queue->nextWake();
  if (wake >= s.wake) return;
  s.wake = wake;
  at(std::max(wake, now_), [this, server, incarnation = s.incarnation] {
    Server& due = servers_[server];
    if (!due.isUp || due.incarnation != incarnation) return;
    due.wake = MonotonicTime::max();
    due.queue->advance(now_, due.actions);
    flushServer(server);
  });
}

void LateWorld::startTask(ServerId server, const StartTask& start) {
  const Job& job = agents_[agentOf_.at(start.agent)].jobs.at(start.job);
  const TaskKey key = keyOf(job, start.task);
  ++starts_[key];
  startedAt_[key] = now_;
  servers_[server].running[start.lease] = job.user;
  after(job.durations(key.task),
        [this, server, lease = start.lease, incarnation = servers_[server].incarnation] {
          endTask(server, incarnation, lease, 0);
        });
}

void LateWorld::endTask(ServerId server, uint64_t incarnation, SlotLeaseId lease, int32_t code) {
  Server& s = servers_[server];
  if (!s.isUp || s.incarnation != incarnation || s.running.erase(lease) == 0) return;
  s.queue->taskEnded(lease, code, now_, s.actions);
  flushServer(server);
}

void LateWorld::tell(uint32_t agent, const TaskOver& taskOver) {
  const Job& job = agents_[agent].jobs.at(taskOver.job);
  const TaskKey key = keyOf(job, taskOver.task);
  if (job.session == 0) {
    Over& entry = over_[key];
    entry = {now_, taskOver.outcome, entry.times + 1, taskOver.phases, taskOver.server};
    return;
  }
  const ClientTaskOver over{{job.number, key.task}, taskOver.outcome, taskOver.code};
  after(kClientWay, [this, client = job.owner, session = job.session, over] {
    clients_[client].session->heard(session, now_);
    clients_[client].session->taskOver(session, over, clients_[client].actions);
    flushClient(client);
  });
}

// --- Clients

// The client's end of the connection breaks.
void LateWorld::closeSession(uint32_t client, SessionNumber session) {
  after(kClientWay, [this, client, session] {
    clients_[client].session->disconnected(session, now_, clients_[client].actions);
    flushClient(client);
  });
}

void LateWorld::flushClient(uint32_t client) {
  Client& c = clients_[client];
  const ClientActions actions = std::exchange(c.actions, {});
  for (const ClientTaskOver& over : actions.over) {
    Over& entry = over_[{client, over.task.job, over.task.task}];
    entry = {now_, over.outcome, entry.times + 1, {}, 0};
  }
  for (const AgentFailed& failed : actions.failed) {
    failures_.push_back(failed);
    // Its connection is closed: once it can, the agent cancels what came over it.
    whenAwake(failed.agent, [this, client, agent = failed.agent] {
      Agent& a = agents_[agent];
      for (const auto& [number, job] : a.jobs) {
        if (job.session != 0 && job.owner == client && job.session < clients_[client].session->session()) {
          a.scheduler->cancel(number, a.actions);
        }
      }
      flushAgent(agent);
    });
  }
  const uint32_t agent = c.session->agent();
  const auto toItsAgent = [this, agent](std::function<void()> what) {
    after(kClientWay, [this, agent, incarnation = agents_[agent].incarnation, what = std::move(what)] {
      if (agents_[agent].incarnation == incarnation) whenAwake(agent, what);
    });
  };
  for (const ConnectTo& connect : actions.connects) {
    if (!agents_[agent].isUp) closeSession(client, connect.session);
    toItsAgent([this, client, session = connect.session] {
      after(kClientWay, [this, client, session] {
        clients_[client].session->connected(session, now_, clients_[client].actions);
        flushClient(client);
      });
    });
  }
  for (const Heartbeat& beat : actions.heartbeats) {
    toItsAgent([this, client, session = beat.session] {
      after(kClientWay, [this, client, session] { clients_[client].session->heard(session, now_); });
    });
  }
  for (const SubmitTasks& submit : actions.submits) {
    toItsAgent([this, client, agent, submit] {
      Agent& a = agents_[agent];
      LateJob job;
      job.tasks = static_cast<uint32_t>(submit.tasks.size());
      job.atMostOnce = onFailureOf_.at({client, submit.job}) == OnFailure::kAtMostOnce;
      const auto number = a.scheduler->submit(job, now_, rng_, a.actions);
      if (!number) return closeSession(client, submit.session);  // no server: another agent may have one
      a.jobs[*number] = {
          client, submit.job, submit.tasks, submit.session, clients_[client].durations.at(submit.job), 0};
      flushAgent(agent);
    });
  }
  const MonotonicTime wake = c.session->nextWake();
  if (wake >= c.wake) return;
  c.wake = wake;
  at(std::max(wake, now_), [this, client] {
    Client& due = clients_[client];
    due.wake = MonotonicTime::max();
    due.session->advance(now_, due.actions);
    flushClient(client);
  });
}

}  // namespace tarcil::late
