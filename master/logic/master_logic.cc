#include "master/logic/master_logic.h"

#include <algorithm>

#include "core/base/names.h"
#include "master/logic/agents/agent_attachment.h"
#include "master/logic/audit/audited.h"
#include "master/logic/cron/cron_jobs.h"
#include "master/logic/cron/cron_steering.h"
#include "master/logic/health/resizing.h"
#include "master/logic/health/throttling.h"
#include "master/logic/health/violation_handler.h"
#include "master/logic/health/violation_reports.h"
#include "master/logic/jobs/commits.h"
#include "master/logic/jobs/flush.h"
#include "master/logic/jobs/job_numbers.h"
#include "master/logic/jobs/job_steering.h"
#include "master/logic/jobs/observed_profiles.h"
#include "master/logic/jobs/profiles.h"
#include "master/logic/jobs/rejudging.h"
#include "master/logic/jobs/uploads.h"
#include "master/logic/members/members.h"
#include "master/logic/people/people.h"
#include "master/logic/queue/offers.h"
#include "master/logic/read_only.h"
#include "master/logic/secrets/secrets.h"
#include "master/logic/servers/monitor_attachment.h"
#include "master/logic/servers/pools.h"
#include "master/logic/servers/quarantine.h"
#include "master/logic/servers/steering.h"
#include "master/logic/startup.h"

namespace tarcil {
namespace master {
namespace {

// No job of one task could keep to both. Of a store that has such settings from before they were refused the
// cap holds.
std::string floorAboveCap(const QualitySettings& settings) {
  if (!settings.cap || settings.floor <= *settings.cap) return "";
  return "floor: " + std::to_string(settings.floor) + " is more than the cap of " +
         std::to_string(*settings.cap) +
         "; write a floor of at most that, or raise the cap: one call of `tarcil tune` can set both";
}

Status setSettings(EventContext& context, const SettingsSet& event) {
  std::string wrong = floorAboveCap(event.settings);
  for (const std::string& problem : problems(event.settings)) wrong += (wrong.empty() ? "" : "\n") + problem;
  if (!wrong.empty()) return invalid(std::move(wrong));
  const uint64_t version = context.tables.settings.version + 1;
  context.tables.settings = event.settings;
  context.tables.settings.version = version;
  context.tables.jobs.queue().wakeAll();
  context.out.put(context.tables.settings);
  context.out.send(PublishSettings{context.tables.settings});
  return {};
}

Status setPlatform(EventContext& context, const PlatformSet& event) {
  if (Status named = checkName("platform", event.platform); !named) return named;
  for (size_t i = 0; i < event.share.size(); ++i) {
    if (event.share[i] <= kMaxShare * kShareUnit) continue;
    return invalid("share: " + std::string(kResourceNames[i]) + ": " + std::to_string(event.share[i]) +
                   "/256 is out of range; write at most 4");
  }
  if (Status taken = context.tables.servers.takesPlatforms({event.platform}); !taken) return taken;
  context.tables.servers.setShare(event.platform, event.share);
  context.out.put(PlatformRecord{event.platform, event.share});
  context.out.send(PublishPlatform{event.platform, event.share});
  return {};
}

Status setShares(EventContext& context, const SharesSet& event) {
  if (event.user.empty()) return invalid("user: is empty; write the name of a user");
  if (event.shares < 1 || event.shares > kMaxShares) {
    return invalid("shares: " + std::to_string(event.shares) + " is out of range; write 1 to " +
                   std::to_string(kMaxShares));
  }
  if (!context.tables.usage.takes(event.user)) {
    return Error{ErrorCode::kExhausted, "user: the cluster knows " + std::to_string(kMaxUsers) +
                                            ", as many as it takes; write one that has run jobs"};
  }
  WaitingOrder& order = context.tables.jobs.queue().order();
  context.tables.usage.setShares(event.user, event.shares);
  order.setShares(order.numberOf(event.user), event.shares);
  context.out.send(PublishShares{event.user, event.shares});
  return {};
}

struct Handler {
  EventContext& context;

  template <typename Asked>
  void answer(const Asked& event, Status status) const {
    audit(context, event, status);
    context.out.send(Answer{event.request, std::move(status)});
  }

  void operator()(const AgentAttached& event) const { attachAgent(context, event); }
  void operator()(const MoreJobsAsked& event) const { tellMoreJobs(context, event); }
  void operator()(const NumbersAsked& event) const { leaseNumbers(context, event); }
  void operator()(const MonitorAttached& event) const { attachMonitor(context, event); }
  void operator()(const MoreServersAttached& event) const { attachMoreServers(context, event); }
  void operator()(const PeerDetached& event) const {
    detachAgent(context, event.session);
    dropUploads(context, event.session);
    detachMonitor(context, event.session);
  }
  void operator()(const CommitArrived& event) const { handleCommit(context, event); }
  void operator()(const PieceArrived& event) const { takePiece(context, event); }
  void operator()(const OffersDeclined& event) const { endOffers(context, event); }
  void operator()(const ReportsArrived& event) const { takeReports(context, event); }
  void operator()(const LeaseAsked& event) const { renewLease(context, event); }
  void operator()(const PressureReported& event) const { takePressure(context, event); }
  void operator()(const ViolationsReported& event) const { takeViolations(context, event); }
  void operator()(const PerformanceReported& event) const { takePerformance(context, event); }
  void operator()(const TaskResized& event) const { takeResized(context, event); }
  void operator()(const TaskThrottled& event) const { takeThrottled(context, event); }
  void operator()(const MonitorLeaves& event) const { takeLeave(context, event.session); }
  void operator()(const PoolReported& event) const { takePoolReports(context, event); }
  void operator()(const CancelRequested& event) const { answer(event, cancel(context, event)); }
  void operator()(const SettingsSet& event) const { answer(event, setSettings(context, event)); }
  void operator()(const PlatformSet& event) const { answer(event, setPlatform(context, event)); }
  void operator()(const SharesSet& event) const { answer(event, setShares(context, event)); }
  void operator()(const ProfileStored& event) const { answer(event, storeProfile(context, event)); }
  void operator()(const ProfileDeleted& event) const { answer(event, deleteProfile(context, event)); }
  void operator()(const ProfilePromoted& event) const { answer(event, promoteProfile(context, event)); }
  void operator()(const ServersSteered& event) const { answer(event, steerServers(context, event)); }
  void operator()(const JobSteered& event) const { answer(event, steerJob(context, event)); }
  void operator()(const CronAdded& event) const { answer(event, addCron(context, event)); }
  void operator()(const CronSteered& event) const { answer(event, steerCron(context, event)); }
  void operator()(const MembersChanged& event) const { changeMembers(context, event); }
  void operator()(const PeopleChanged& event) const { answer(event, changePeople(context, event)); }
  void operator()(const SecretsChanged& event) const { answer(event, changeSecrets(context, event)); }
  void operator()(const SecretsAsked& event) const { handOutSecrets(context, event); }
  void operator()(const Noted& event) const {
    audit::Entry entry = event.entry;
    entry.time = context.now.wall;
    // The shell has changed something, of which nothing is stored here.
    if (entry.outcome == audit::kAccepted) return context.out.audit(std::move(entry));
    context.audited.push_back(std::move(entry));
  }
  void operator()(const SpaceMeasured& event) const { context.tables.freeBytes = event.freeBytes; }
  void operator()(const TimerFired&) const {
    context.tables.wakeAt.reset();
    loseOverdue(context);
    handOverOverdue(context);
    removeOverdue(context);
    drainOverdue(context);
    dropOverdueUploads(context);
    endQuarantines(context);
    takeDueSteps(context);
    endOverdueOffers(context);
    context.tables.jobs.releaseDue(context.now.wall, context.tables.options.jobsAtOnce);
    takeUpDueTimes(context);
    judgeDue(context);
  }
};

}  // namespace
}  // namespace master

MasterLogic::MasterLogic(const MasterOptions& options, StoreContents contents, Now now, Rng& rng,
                         std::vector<master::Action>& actions, const TimeZones& zones)
    : tables_(new master::Tables(master::tablesFrom(options, std::move(contents), now, zones))) {
  master::Outbox out(actions);
  master::EventContext context{*tables_, now, out};
  master::start(context, rng);
  if (options.readOnly) {
    actions.clear();  // what follows from the records is known now; nothing of it is stored or told
  } else {
    master::flush(context);
  }
}

MasterLogic::~MasterLogic() = default;

void MasterLogic::handle(const master::Event& event, Now now, Rng&, std::vector<master::Action>& actions) {
  master::Outbox out(actions);
  master::EventContext context{*tables_, now, out};
  if (tables_->options.readOnly) return master::refuse(context, event);
  std::visit(master::Handler{context}, event);
  master::flush(context);
}

}  // namespace tarcil
