#include "master/logic/agents/agent_table.h"

namespace tarcil::master {
namespace {

// It had the time to come back, and nothing is its own.
bool mayBeForgotten(const Agent& agent) {
  return agent.overdue && agent.jobs.empty();
}

}  // namespace

AgentTable::AgentTable(std::vector<AgentRecord> records, std::vector<AnswerRecord> answers,
                       MonotonicTime deadline) {
  for (AgentRecord& record : records) {
    Agent& agent = named(record.name);
    agent.record = std::move(record);
    setDeadline(agent, deadline);
  }
  for (AnswerRecord& record : answers) {
    Agent& agent = named(record.agent);
    if (record.epoch != agent.record.epoch) continue;
    const uint64_t sequence = record.answer.sequence;
    agent.answers[sequence] = std::move(record.answer);
    agent.lastSequence = agent.answers.rbegin()->first;
  }
}

Agent& AgentTable::named(const std::string& name) {
  Agent& agent = agents_[name];
  agent.record.name = name;
  return agent;
}

const Agent* AgentTable::forgettable() const {
  for (const auto& [name, agent] : agents_) {
    if (mayBeForgotten(agent)) return &agent;
  }
  return nullptr;
}

Agent* AgentTable::attached(SessionId session) {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second;
}

void AgentTable::attach(Agent& agent, SessionId session, const std::string& address) {
  agent.silent = false;
  if (agent.session) sessions_.erase(*agent.session);
  agent.session = session;
  agent.address = address;
  agent.overdue = false;
  sessions_[session] = &agent;
  setDeadline(agent, std::nullopt);
}

void AgentTable::detach(SessionId session, MonotonicTime deadline) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second->session.reset();
  setDeadline(*found->second, deadline);
  sessions_.erase(found);
}

void AgentTable::setDeadline(Agent& agent, std::optional<MonotonicTime> deadline) {
  if (agent.deadline) deadlines_.erase({*agent.deadline, agent.record.name});
  agent.deadline = deadline;
  if (deadline) deadlines_.emplace(*deadline, agent.record.name);
}

Agent* AgentTable::leastLoaded() {
  Agent* best = nullptr;
  for (auto& [name, agent] : agents_) {
    if (agent.session && (best == nullptr || agent.jobs.size() < best->jobs.size())) best = &agent;
  }
  return best;
}

std::optional<MonotonicTime> AgentTable::nextDeadline() const {
  return deadlines_.empty() ? std::nullopt : std::optional(deadlines_.begin()->first);
}

bool AgentTable::markOverdue(MonotonicTime now) {
  bool any = false;
  auto next = deadlines_.begin();
  while (next != deadlines_.end() && next->first <= now) {
    Agent& agent = named((next++)->second);
    if (agent.overdue) continue;  // it is to be forgotten
    agent.overdue = any = true;
    setDeadline(agent, now + kForgetAgentsAfter);
  }
  return any;
}

const Agent* AgentTable::longOverdue(MonotonicTime now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    Agent& agent = named(deadlines_.begin()->second);
    if (mayBeForgotten(agent)) return &agent;
    setDeadline(agent, now + kForgetAgentsAfter);
  }
  return nullptr;
}

void AgentTable::forget(const Agent& agent) {
  if (agent.deadline) deadlines_.erase({*agent.deadline, agent.record.name});
  agents_.erase(agent.record.name);
}

}  // namespace tarcil::master
