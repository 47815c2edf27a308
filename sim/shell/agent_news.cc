#include "sim/shell/agent_news.h"

namespace tarcil::sim {
namespace {

agent::QueueTold told(const master::PublishQueue& queue) {
  return {queue.pendingPriority, queue.capacityVersion, queue.reserved,
          queue.crowded,         queue.waiting,         queue.waitingTasks};
}

}  // namespace

AgentNews::AgentNews(const MasterLogic& logic, MonotonicTime now, const BucketOptions& buckets)
    : logic_(logic),
      published_(logic.snapshot(), logic.settings(), logic.platforms()),
      forecast_(published_, now, {.buckets = buckets}) {}

agent::ServersUpdated AgentNews::take(const master::PublishServer& server, MonotonicTime now) {
  published_.take(server.update);
  forecast_.serverChanged(server.update.id, now);
  return {{server.update}};
}

agent::SettingsUpdated AgentNews::take(const master::PublishSettings& settings, MonotonicTime now) {
  published_.take(settings.settings);
  forecast_.everythingChanged(now);
  return {settings.settings};
}

agent::PlatformUpdated AgentNews::take(const master::PublishPlatform& platform, MonotonicTime now) {
  published_.take(PlatformRecord{platform.platform, platform.share});
  forecast_.everythingChanged(now);
  return {platform.platform, platform.share};
}

agent::QueueTold AgentNews::take(const master::PublishQueue& queue) {
  published_.take(queue);
  return told(queue);
}

agent::JobsOffered AgentNews::offers(const master::OfferJobs& offers, MonotonicTime now) {
  agent::JobsOffered given;
  for (const master::JobOffer& offer : offers.jobs) {
    given.jobs.push_back(offer.job);
    if (!offer.mayUseReserved) given.usableReserved.emplace(offer.job, offer.usableReserved);
    const auto need = logic_.need(offer.job);
    if (!need || !offer.slotsAhead) continue;
    const auto bound = forecast_.boundOf(*need->spec, need->slots, *offer.slotsAhead, now);
    if (bound) given.bounds[offer.job] = *bound;
  }
  return given;
}

std::vector<agent::Event> AgentNews::snapshot() const {
  std::vector<agent::Event> news;
  news.emplace_back(agent::SettingsUpdated{published_.settings()});
  for (const auto& [name, share] : published_.platforms()) {
    news.emplace_back(agent::PlatformUpdated{name, share});
  }
  agent::ServersUpdated all;
  for (ServerId id = 0; id < published_.servers(); ++id) all.updates.push_back(published_.server(id));
  news.emplace_back(std::move(all));
  news.emplace_back(told(published_.queue()));
  news.emplace_back(agent::SnapshotComplete{});
  return news;
}

std::optional<WaitEstimate> AgentNews::waitOf(const WaitingJob& job, MonotonicTime now) {
  return forecast_.waitOf(job.spec, job.slots, job.slotsAhead, now);
}

}  // namespace tarcil::sim
