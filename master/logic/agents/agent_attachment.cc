#include "master/logic/agents/agent_attachment.h"

#include <algorithm>

#include "core/base/names.h"
#include "core/state/server_check.h"
#include "master/logic/jobs/flush.h"
#include "master/logic/jobs/uploads.h"
#include "master/logic/message_size.h"
#include "master/store/restoring.h"

namespace tarcil::master {
namespace {

void eraseAnswers(EventContext& context, const Agent& agent) {
  for (const auto& [sequence, answer] : agent.answers) {
    context.out.erase(EraseAnswer{agent.record.name, agent.record.epoch, sequence});
  }
}

// Whatever the agent sent or was answered before is void from now on. One of a name that was forgotten begins
// above every epoch that the name may have had.
void startEpoch(EventContext& context, Agent& agent) {
  eraseAnswers(context, agent);
  agent.answers.clear();
  agent.lastSequence = 0;
  const ClusterRecord& cluster = context.tables.cluster;
  agent.record.epoch =
      std::max({agent.record.epoch, cluster.forgottenEpoch, lastEpochOfAgentsBefore(cluster)}) + 1;
  context.out.put(agent.record);
}

// Requires: it is away, and overdue.
void forget(EventContext& context, const Agent& agent) {
  ClusterRecord& cluster = context.tables.cluster;
  cluster.forgottenEpoch = std::max(cluster.forgottenEpoch, agent.record.epoch);
  context.out.put(cluster);
  eraseAnswers(context, agent);
  context.out.erase(EraseAgent{agent.record.name});
  context.tables.agents.forget(agent);
}

// There is a place for this agent; for one that is new, after another was forgotten where there are too many.
bool findPlace(EventContext& context, const std::string& name) {
  AgentTable& agents = context.tables.agents;
  if (agents.knows(name) || agents.all().size() < kMaxAgents) return true;
  const Agent* agent = agents.forgettable();
  if (agent == nullptr) return false;
  forget(context, *agent);
  return true;
}

// Gives jobs of agents that are overdue to attached ones, if there are any: so many now, the rest with the
// timer. Who loses jobs loses its epoch too, so that it cannot go on with them when it comes back.
void handOverOrphans(EventContext& context) {
  Tables& tables = context.tables;
  AgentTable& agents = tables.agents;
  tables.handOverDue.reset();
  size_t left = tables.options.jobsAtOnce;
  for (auto& [name, from] : agents.all()) {
    if (!from.overdue || from.jobs.empty()) continue;
    if (agents.leastLoaded() == nullptr) return;
    if (left == 0) {
      tables.handOverDue = context.now.steady;
      return;
    }
    for (; left > 0 && !from.jobs.empty(); --left) {
      const JobId id = *from.jobs.begin();
      Agent& to = *agents.leastLoaded();
      Job& job = *tables.jobs.find(id);
      job.progress.owner = to.record.name;
      to.jobs.insert(id);
      from.jobs.erase(from.jobs.begin());
      tables.jobs.noteProgress(job);
      tables.jobs.noteWhole(job);
    }
    if (!from.jobs.empty()) tables.handOverDue = context.now.steady;
    startEpoch(context, from);
  }
}

// What is told says all of a job, also what would be news of it.
AgentJobs nextJobs(EventContext& context, Agent& agent) {
  Tables& tables = context.tables;
  AgentJobs told;
  if (!agent.untoldFrom) return told;
  Page page(tables.options.jobsMessageBytes);
  auto next = agent.jobs.lower_bound(*agent.untoldFrom);
  for (; next != agent.jobs.end(); ++next) {
    Job& job = *tables.jobs.find(*next);
    JobAssignment assignment = wholeAssignment(tables, job);
    if (!page.takes(wireBytesOf(assignment))) break;
    told.jobs.push_back(std::move(assignment));
    tables.jobs.forgetNews(job);
  }
  told.more = next != agent.jobs.end();
  agent.untoldFrom = told.more ? std::optional(*next) : std::nullopt;
  return told;
}

}  // namespace

void attachAgent(EventContext& context, const AgentAttached& event) {
  Tables& tables = context.tables;
  if (const Status named = checkName("agent", event.agent); !named) {
    context.out.send(AnswerAgentAttached{event.request, named.error()});
    return;
  }
  if (event.address.size() > kMaxAddressBytes) {
    const Error error =
        invalid("agent " + event.agent + ": its address has " + std::to_string(event.address.size()) +
                " bytes; at most " + std::to_string(kMaxAddressBytes));
    context.out.send(AnswerAgentAttached{event.request, error});
    return;
  }
  if (!findPlace(context, event.agent)) {
    const Error error{ErrorCode::kExhausted,
                      "agent " + event.agent + ": the cluster has " + std::to_string(kMaxAgents) +
                          " agents that are attached or have unfinished jobs, as many as it takes; stop some "
                          "that are not needed"};
    context.out.send(AnswerAgentAttached{event.request, error});
    return;
  }
  Agent& agent = tables.agents.named(event.agent);
  // An epoch given before the store was restored is void, though the backup names it.
  const bool resumes =
      event.epoch == agent.record.epoch && event.epoch > lastEpochOfAgentsBefore(tables.cluster);
  if (!resumes) startEpoch(context, agent);
  // The end of its link may be noticed after its new one: it has no offers, and is not silent for that.
  if (agent.session) tables.jobs.queue().endOffers();
  if (agent.session) dropUploads(context, *agent.session);
  if (agent.session) context.out.send(EndAgent{*agent.session});
  tables.agents.attach(agent, event.session, event.address);
  handOverOrphans(context);
  tables.jobs.queue().wakeAll();
  tables.jobs.queue().wakeUntriable();
  agent.untoldFrom = JobId{};
  context.out.send(AnswerAgentAttached{event.request, agent.record.epoch, nextJobs(context, agent)});
}

void tellMoreJobs(EventContext& context, const MoreJobsAsked& event) {
  Agent* agent = context.tables.agents.attached(event.session);
  if (agent == nullptr) {
    const Error error{ErrorCode::kConflict, "the connection does not speak for an agent"};
    context.out.send(AnswerMoreJobs{event.request, error});
  } else {
    context.out.send(AnswerMoreJobs{event.request, nextJobs(context, *agent)});
  }
}

void detachAgent(EventContext& context, SessionId session) {
  // Nothing more is heard of offers that it had; those of other agents stand.
  if (context.tables.agents.attached(session) != nullptr) context.tables.jobs.queue().endOffers();
  context.tables.agents.detach(session, context.now.steady + context.tables.options.agentTimeout);
}

void handOverOverdue(EventContext& context) {
  Tables& tables = context.tables;
  if (tables.agents.markOverdue(context.now.steady) || tables.handOverDue) handOverOrphans(context);
  while (const Agent* agent = tables.agents.longOverdue(context.now.steady)) forget(context, *agent);
}

}  // namespace tarcil::master
