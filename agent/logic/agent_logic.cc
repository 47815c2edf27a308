#include "agent/logic/agent_logic.h"

#include <variant>

#include "agent/logic/assignments.h"
#include "agent/logic/attachment.h"
#include "agent/logic/commit_answers.h"
#include "agent/logic/commits.h"
#include "agent/logic/forecast.h"
#include "agent/logic/offers.h"
#include "agent/logic/state_feed.h"
#include "agent/logic/submissions.h"
#include "agent/logic/tables.h"
#include "agent/logic/timers.h"

namespace tarcil {
namespace agent {
namespace {

struct Handler {
  EventContext& context;

  void operator()(const MasterAttached& event) const { attach(context, event); }
  void operator()(const JobsTold& event) const { takeJobs(context, event); }
  void operator()(const MasterLost&) const { detach(context); }
  void operator()(const ServersUpdated& event) const {
    takeServers(context, event.updates, StateCopy::Source::kFeed);
  }
  void operator()(const SnapshotComplete&) const { takeSnapshotEnd(context); }
  void operator()(const ChecksumTold& event) const { compare(context, event.checksum); }
  void operator()(const SettingsUpdated& event) const { takeSettings(context.tables, event.settings); }
  void operator()(const PlatformUpdated& event) const { takePlatform(context.tables, event); }
  void operator()(const JobsOffered& event) const { takeOffers(context, event); }
  void operator()(const QueueTold& event) const { takeQueue(context, event); }
  void operator()(const SubmitArrived& event) const { takeSubmission(context, event); }
  void operator()(const PieceAnswered& event) const { takePieceAnswer(context, event); }
  void operator()(const CommitAnswered& event) const { takeCommitAnswer(context, event.answer); }
  void operator()(const JobAssigned& event) const { takeAssignment(context, event.assignment); }
  void operator()(const LaunchAnswered& event) const {
    context.tables.launches.answered(event, context.now.steady);
  }
  void operator()(const TimerFired&) const { context.tables.wakeAt.reset(); }
};

// The end of every event: handles what is due, plans, and requests the next timer.
void finish(EventContext& context) {
  Tables& tables = context.tables;
  runTimers(context);
  tables.launches.retry(context.now.steady, tables.copy.state(), context.actions);
  if (isReady(tables)) {
    planWaiting(context);
    admitArrivals(context);
    sendPieces(context);
  } else {
    expireArrivals(context);
  }
  if (!context.declined.empty() || !context.untried.empty()) {
    context.actions.push_back(
        DeclineOffers{.jobs = std::move(context.declined), .untried = std::move(context.untried)});
  }
  requestTimer(context);
}

}  // namespace
}  // namespace agent

struct AgentLogic::State {
  agent::Tables tables;
};

AgentLogic::AgentLogic(const AgentOptions& options) : state_(new State{agent::Tables(options)}) {}

AgentLogic::~AgentLogic() = default;

void AgentLogic::handle(const agent::Event& event, Now now, Rng& rng, std::vector<agent::Action>& actions) {
  agent::EventContext context{.tables = state_->tables, .now = now, .rng = rng, .actions = actions};
  std::visit(agent::Handler{context}, event);
  agent::finish(context);
}

Result<JobPlan> AgentLogic::plan(const Caller& caller, const JobSpec& spec, uint64_t seed) const {
  return agent::forecast(state_->tables, caller, spec, seed);
}

uint64_t AgentLogic::epoch() const {
  return state_->tables.epoch;
}

AgentLogic::Load AgentLogic::load() const {
  const agent::Tables& tables = state_->tables;
  return {.jobs = tables.jobs.size(),
          .waiting = tables.jobs.waiting(),
          .submissions = tables.arrivals.size() + tables.uploads.size(),
          .commits = tables.inFlight.size(),
          .decisions = tables.decisions,
          .drawn = tables.drawn,
          .comparisons = tables.comparisons,
          .mismatches = tables.mismatches,
          .freeUnits = tables.copy.state().all().freeUnits()};
}

}  // namespace tarcil
