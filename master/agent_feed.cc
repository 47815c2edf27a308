#include "master/agent_feed.h"

#include "master/assignments.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// Servers per message: large enough for the overhead to vanish, small enough not to hold up the event loop.
constexpr size_t kServersPerMessage = 2'000;

}  // namespace

AgentFeedSender::AgentFeedSender(std::string agent, wire::AgentFeed::Client feed,
                                 const PublishedState& published, const QualitySettings& settings,
                                 const std::vector<PlatformRecord>& platforms, const Clock& clock,
                                 MasterMetrics& metrics)
    : agent_(std::move(agent)),
      feed_(kj::mv(feed)),
      published_(published),
      clock_(clock),
      metrics_(metrics),
      settings_{settings},
      begun_(clock.now().steady) {
  for (const PlatformRecord& platform : platforms) platforms_[platform.name] = platform.share;
  for (ServerId id = 0; id < published_.size(); ++id) dirty_[id] = true;
  noteChange();
}

Duration AgentFeedSender::behind(MonotonicTime now) const {
  if (unconfirmedSince_) return now - *unconfirmedSince_;
  return unsentSince_ ? now - *unsentSince_ : Duration::zero();
}

void AgentFeedSender::serverChanged(ServerId server, bool factsChanged) {
  dirty_[server] |= factsChanged;
  noteChange();
}

void AgentFeedSender::settingsChanged(const QualitySettings& settings) {
  settings_ = {settings};
  noteChange();
}

void AgentFeedSender::platformChanged(const PlatformRecord& platform) {
  platforms_[platform.name] = platform.share;
  noteChange();
}

void AgentFeedSender::assign(JobAssignment assignment) {
  const JobId id = assignment.job.id;
  const auto [waiting, isFirst] = assignments_.try_emplace(id);
  if (isFirst) {
    waiting->second = std::move(assignment);
  } else {
    join(waiting->second, std::move(assignment));
  }
  noteChange();
}

bool AgentFeedSender::idle() const {
  return dirty_.empty() && platforms_.empty() && settings_.empty() && assignments_.empty() &&
         !snapshotPending_;
}

void AgentFeedSender::noteChange() {
  if (!unsentSince_) unsentSince_ = clock_.now().steady;
  kick();
}

void AgentFeedSender::kick() {
  if (sending_) return;
  sending_ = true;
  // A failed call means that the connection is going: the session's end follows.
  running_ = kj::evalLast([this]() { return run(); }).eagerlyEvaluate([](kj::Exception&&) {});
}

kj::Promise<void> AgentFeedSender::run() {
  if (idle()) {
    sending_ = false;
    return kj::READY_NOW;
  }
  return sendOne().then([this]() { return run(); });
}

kj::Promise<void> AgentFeedSender::sendOne() {
  auto request = feed_.updateRequest();
  const auto count = std::min(dirty_.size(), kServersPerMessage);
  auto servers = request.initServers(static_cast<uint32_t>(count));
  for (uint32_t i = 0; i < count; ++i) {
    const auto next = dirty_.begin();
    const ServerUpdate& published = published_.at(next->first);
    servers[i].setId(published.id);
    if (next->second) write(*published.facts, servers[i].initFacts());
    write(published.status, servers[i].initStatus());
    dirty_.erase(next);
  }
  auto platforms = request.initPlatforms(static_cast<uint32_t>(platforms_.size()));
  uint32_t i = 0;
  for (const auto& [name, share] : platforms_) write(name, share, platforms[i++]);
  platforms_.clear();
  if (!settings_.empty()) write(settings_.back(), request.initSettings());
  settings_.clear();
  auto assignments = request.initAssignments(static_cast<uint32_t>(assignments_.size()));
  i = 0;
  for (const auto& [id, assignment] : assignments_) write(assignment, assignments[i++]);
  assignments_.clear();
  const bool completes = snapshotPending_ && dirty_.empty();
  if (completes) {
    request.setSnapshotComplete(true);
    snapshotPending_ = false;
  }
  // What is left over is as old as what is sent now.
  unconfirmedSince_ = unsentSince_;
  if (dirty_.empty()) unsentSince_.reset();
  return request.send().then([this, completes](auto&&) { confirmed(completes); });
}

void AgentFeedSender::confirmed(bool completesSnapshot) {
  const MonotonicTime now = clock_.now().steady;
  if (completesSnapshot) {
    metrics_.snapshot.Observe(seconds(now - begun_));
  } else if (!snapshotPending_) {
    metrics_.feedLag.Observe(seconds(now - *unconfirmedSince_));
  }
  unconfirmedSince_.reset();
}

}  // namespace tarcil
