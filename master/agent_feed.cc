#include "master/agent_feed.h"

#include "master/assignments.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// Servers per message: large enough for the overhead to vanish, small enough not to hold up the event loop.
constexpr size_t kServersPerMessage = 2'000;

}  // namespace

AgentFeedSender::AgentFeedSender(wire::AgentFeed::Client feed, const PublishedServers& published,
                                 const QualitySettings& settings,
                                 const std::vector<PlatformRecord>& platforms)
    : feed_(kj::mv(feed)), published_(published), settings_{settings} {
  for (const PlatformRecord& platform : platforms) platforms_[platform.name] = platform.share;
  for (const ServerUpdate& server : published_) dirty_[server.id] = true;
  kick();
}

void AgentFeedSender::serverChanged(ServerId server, bool factsChanged) {
  dirty_[server] |= factsChanged;
  kick();
}

void AgentFeedSender::settingsChanged(const QualitySettings& settings) {
  settings_ = {settings};
  kick();
}

void AgentFeedSender::platformChanged(const PlatformRecord& platform) {
  platforms_[platform.name] = platform.share;
  kick();
}

void AgentFeedSender::assign(JobAssignment assignment) {
  const JobId id = assignment.job.id;
  const auto [waiting, isFirst] = assignments_.try_emplace(id);
  if (isFirst) {
    waiting->second = std::move(assignment);
  } else {
    join(waiting->second, std::move(assignment));
  }
  kick();
}

bool AgentFeedSender::idle() const {
  return dirty_.empty() && platforms_.empty() && settings_.empty() && assignments_.empty() &&
         !snapshotPending_;
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
    const ServerUpdate& published = published_[next->first];
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
  if (snapshotPending_ && dirty_.empty()) {
    request.setSnapshotComplete(true);
    snapshotPending_ = false;
  }
  return request.send().ignoreResult();
}

}  // namespace tarcil
