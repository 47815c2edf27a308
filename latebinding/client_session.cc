#include "latebinding/client_session.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tarcil::late {

void ClientActions::clear() {
  failed.clear();
  connects.clear();
  heartbeats.clear();
  submits.clear();
  over.clear();
}

void ClientSession::submit(ClientJob number, uint32_t tasks, OnFailure onFailure, ClientActions& actions) {
  Job& job = jobs_[number];
  job.onFailure = onFailure;
  job.isOver.assign(tasks, false);
  job.left = tasks;
  if (state_ == State::kConnected) send(number, job, actions);
}

void ClientSession::send(ClientJob number, Job& job, ClientActions& actions) {
  job.wasSent = true;
  actions.submits.push_back(tasksOf(number, job));
}

SubmitTasks ClientSession::tasksOf(ClientJob number, const Job& job) const {
  SubmitTasks submit{session_, number, {}};
  for (TaskIndex task = 0; task < job.isOver.size(); ++task) {
    if (!job.isOver[task]) submit.tasks.push_back(task);
  }
  return submit;
}

std::optional<SubmitTasks> ClientSession::tasksOf(ClientJob number) const {
  const auto job = jobs_.find(number);
  if (job == jobs_.end() || state_ != State::kConnected) return std::nullopt;
  return tasksOf(number, job->second);
}

void ClientSession::connect(MonotonicTime now, ClientActions& actions) {
  state_ = State::kConnecting;
  heard_ = now;
  actions.connects.push_back({++session_, agent_});
}

void ClientSession::connected(SessionNumber session, MonotonicTime now, ClientActions& actions) {
  if (session != session_ || state_ != State::kConnecting) return;
  state_ = State::kConnected;
  heard(session, now);
  beat_ = now;
  actions.heartbeats.push_back({session_});
  for (auto& [number, job] : jobs_) send(number, job, actions);
}

void ClientSession::disconnected(SessionNumber session, MonotonicTime now, ClientActions& actions) {
  if (session == session_ && state_ != State::kIdle) fail(now, actions);
}

void ClientSession::heard(SessionNumber session, MonotonicTime now) {
  if (session != session_ || state_ != State::kConnected) return;
  heard_ = now;
  failures_ = 0;
}

// The agent is dead, for this client: what it says from now on is of an earlier session.
void ClientSession::fail(MonotonicTime now, ClientActions& actions) {
  AgentFailed failed{agent_, {}};
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job& job = it->second;
    const bool wasSent = std::exchange(job.wasSent, false);
    const bool isLost = wasSent && job.onFailure == OnFailure::kAtMostOnce;
    for (TaskIndex task = 0; wasSent && task < job.isOver.size(); ++task) {
      if (job.isOver[task]) continue;
      failed.inFlight.push_back({it->first, task});
      if (isLost) actions.over.push_back({{it->first, task}, Outcome::kLost, 0});
    }
    it = isLost ? jobs_.erase(it) : std::next(it);
  }
  actions.failed.push_back(std::move(failed));
  agent_ = (agent_ + 1) % agents_;
  if (++failures_ % agents_ != 0) return connect(now, actions);
  state_ = State::kIdle;
  pauseEnds_ = now + options_.roundPause;
}

void ClientSession::taskOver(SessionNumber session, const ClientTaskOver& over, ClientActions& actions) {
  if (session != session_) return;
  const auto it = jobs_.find(over.task.job);
  if (it == jobs_.end()) return;
  Job& job = it->second;
  if (over.task.task >= job.isOver.size() || job.isOver[over.task.task]) return;
  job.isOver[over.task.task] = true;
  actions.over.push_back(over);
  if (--job.left == 0) jobs_.erase(it);
}

void ClientSession::advance(MonotonicTime now, ClientActions& actions) {
  if (state_ == State::kIdle) {
    if (session_ > 0 && now >= pauseEnds_) connect(now, actions);
    return;
  }
  if (now >= heard_ + options_.deadAfter) return fail(now, actions);
  if (state_ == State::kConnected && now >= beat_ + options_.heartbeat) {
    beat_ = now;
    actions.heartbeats.push_back({session_});
  }
}

MonotonicTime ClientSession::nextWake() const {
  switch (state_) {
    case State::kIdle:
      return session_ > 0 ? pauseEnds_ : MonotonicTime::max();
    case State::kConnecting:
      return heard_ + options_.deadAfter;
    case State::kConnected:
      return std::min(heard_ + options_.deadAfter, beat_ + options_.heartbeat);
  }
  return MonotonicTime::max();
}

}  // namespace tarcil::late
