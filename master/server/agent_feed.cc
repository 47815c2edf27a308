#include "master/server/agent_feed.h"

#include "env/stop.h"
#include "master/logic/jobs/assignments.h"
#include "master/logic/message_size.h"
#include "rpc/errors.h"
#include "rpc/turns.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

// Servers of one message: large enough for the overhead to vanish, small enough not to hold up the event
// loop. Bytes count where servers have many attributes or units.
constexpr size_t kServersPerMessage = 1'000;

// Between two comparisons of an agent's copy, in milliseconds.
constexpr uint64_t kMinComparisonInterval = 5'000;
constexpr uint64_t kMaxComparisonInterval = 10'000;

}  // namespace

AgentFeedSender::AgentFeedSender(std::string agent, wire::AgentFeed::Client feed,
                                 const FeedSurroundings& surroundings,
                                 kj::Function<void(const Error&)> failed)
    : agent_(std::move(agent)),
      feed_(kj::mv(feed)),
      to_(surroundings),
      failed_(kj::mv(failed)),
      comparing_(compareFromTimeToTime().eagerlyEvaluate(stopsIfFailed("comparing an agent's copy"))) {
  markEverything();
}

void AgentFeedSender::markEverything() {
  for (ServerId id = 0; id < to_.published.servers(); ++id) dirty_[id] = true;
  for (const auto& [name, share] : to_.published.platforms()) platforms_.insert(name);
  for (const auto& [user, shares] : to_.published.shares()) users_.insert(user);
  settings_ = queue_ = true;
  snapshotPending_ = true;
  snapshotBegun_ = to_.clock.now().steady;
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

void AgentFeedSender::settingsChanged() {
  settings_ = true;
  noteChange();
}

void AgentFeedSender::platformChanged(const std::string& platform) {
  platforms_.insert(platform);
  noteChange();
}

void AgentFeedSender::sharesChanged(const std::string& user) {
  users_.insert(user);
  noteChange();
}

kj::Promise<void> AgentFeedSender::tellRevoked(const std::vector<uint64_t>& serials) {
  auto request = feed_.revokedRequest();
  convert::writeNumbers<uint64_t>(serials, request.initSerials(static_cast<uint32_t>(serials.size())));
  return request.send().ignoreResult();
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

void AgentFeedSender::offerJobs(const std::vector<JobOffer>& offers) {
  offers_.insert(offers_.end(), offers.begin(), offers.end());
  kick();
}

void AgentFeedSender::queueChanged() {
  queue_ = true;
  kick();
}

void AgentFeedSender::supersede() {
  superseded_ = true;
  kick();
}

bool AgentFeedSender::idle() const {
  return dirty_.empty() && platforms_.empty() && users_.empty() && !settings_ && assignments_.empty() &&
         offers_.empty() && !queue_ && !superseded_ && !snapshotPending_ && !comparisonDue_;
}

void AgentFeedSender::noteChange() {
  if (!unsentSince_) unsentSince_ = to_.clock.now().steady;
  kick();
}

void AgentFeedSender::kick() {
  if (sending_) return;
  sending_ = true;
  running_ = untilIdle(to_.timer)
                 .then([this]() { return run(); })
                 .eagerlyEvaluate([this](kj::Exception&& exception) {
                   // Where the connection is lost, the session's end follows.
                   if (exception.getType() != kj::Exception::Type::DISCONNECTED)
                     failed_(fromException(exception));
                 });
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
  writeServers(request);
  writeOthers(request);
  const bool isAll = dirty_.empty() && assignments_.empty();
  const bool completes = snapshotPending_ && isAll;
  if (completes) {
    request.setSnapshotComplete(true);
    snapshotPending_ = false;
  }
  if (isAll) writeQueue(request);
  // Only here are the agent's copy and what is published to be the same: once it has taken this message.
  if (comparisonDue_ && isAll) {
    const StateChecksum sums = to_.published.checksum();
    auto checksum = request.initChecksum();
    checksum.setSum(sums.statuses);
    checksum.setFacts(sums.facts);
    comparisonDue_ = false;
  }
  // What is left over is as old as what is sent now.
  unconfirmedSince_ = unsentSince_;
  if (isAll) unsentSince_.reset();
  return request.send().then([this, completes](auto&& answer) {
    confirmed(completes);
    if (answer.getDiffers()) markEverything();
  });
}

size_t AgentFeedSender::serversToSend() const {
  Page page;
  size_t count = 0;
  for (const auto& [id, withFacts] : dirty_) {
    const ServerUpdate& server = to_.published.server(id);
    const size_t bytes = wireBytesOf(server.status) + (withFacts ? wireBytesOf(*server.facts) : 0);
    if (count == kServersPerMessage || !page.takes(bytes)) break;
    ++count;
  }
  return count;
}

void AgentFeedSender::writeServers(wire::AgentFeed::UpdateParams::Builder message) {
  const size_t count = serversToSend();
  auto servers = message.initServers(static_cast<uint32_t>(count));
  for (uint32_t i = 0; i < count; ++i) {
    const auto next = dirty_.begin();
    const ServerUpdate& published = to_.published.server(next->first);
    servers[i].setId(published.id);
    if (next->second) write(*published.facts, servers[i].initFacts());
    write(published.status, servers[i].initStatus());
    dirty_.erase(next);
  }
}

void AgentFeedSender::writeOthers(wire::AgentFeed::UpdateParams::Builder message) {
  uint32_t i = 0;
  auto platforms = message.initPlatforms(static_cast<uint32_t>(platforms_.size()));
  for (const std::string& name : platforms_) write(name, to_.published.platforms().at(name), platforms[i++]);
  platforms_.clear();
  i = 0;
  auto shares = message.initShares(static_cast<uint32_t>(users_.size()));
  for (const std::string& user : users_) {
    shares[i].setUser(text(user));
    shares[i++].setShares(to_.published.shares().at(user));
  }
  users_.clear();
  if (std::exchange(settings_, false)) write(to_.published.settings(), message.initSettings());
  writeAssignments(message);
  message.setSuperseded(std::exchange(superseded_, false));
}

void AgentFeedSender::writeAssignments(wire::AgentFeed::UpdateParams::Builder message) {
  Page page;
  auto end = assignments_.begin();
  uint32_t count = 0;
  for (; end != assignments_.end() && page.takes(wireBytesOf(end->second)); ++end) ++count;
  auto assignments = message.initAssignments(count);
  uint32_t i = 0;
  for (auto it = assignments_.begin(); it != end; ++it) write(it->second, assignments[i++]);
  assignments_.erase(assignments_.begin(), end);
}

void AgentFeedSender::writeQueue(wire::AgentFeed::UpdateParams::Builder message) {
  auto offers = message.initOffers(static_cast<uint32_t>(offers_.size()));
  for (uint32_t i = 0; i < offers_.size(); ++i) {
    offers[i].setJob(bytesOf(offers_[i].job));
    if (offers_[i].bound) offers[i].setBound(offers_[i].bound->count());
    offers[i].setMayUseReserved(offers_[i].mayUseReserved);
    offers[i].setUsableReserved(
        kj::arrayPtr(offers_[i].usableReserved.data(), offers_[i].usableReserved.size()));
  }
  offers_.clear();
  if (!std::exchange(queue_, false)) return;
  const master::PublishQueue& news = to_.published.queue();
  auto queue = message.initQueue();
  queue.setPendingPriority(news.pendingPriority ? *news.pendingPriority : int16_t{-1});
  queue.setCapacityVersion(news.capacityVersion);
  queue.setReserved(kj::arrayPtr(news.reserved.data(), news.reserved.size()));
  queue.setCrowded(news.crowded);
  queue.setWaiting(news.waiting);
  queue.setWaitingTasks(news.waitingTasks);
}

void AgentFeedSender::confirmed(bool completesSnapshot) {
  const MonotonicTime now = to_.clock.now().steady;
  if (completesSnapshot) {
    to_.metrics.snapshot.Observe(seconds(now - snapshotBegun_));
  } else if (unconfirmedSince_ && !snapshotPending_) {
    to_.metrics.feedLag.Observe(seconds(now - *unconfirmedSince_));
  }
  unconfirmedSince_.reset();
}

kj::Promise<void> AgentFeedSender::compareFromTimeToTime() {
  const uint64_t spread = kMaxComparisonInterval - kMinComparisonInterval + 1;
  const uint64_t pause = kMinComparisonInterval + to_.rng.below(spread);
  return to_.timer.afterDelay(pause * kj::MILLISECONDS).then([this]() {
    comparisonDue_ = true;
    kick();
    return compareFromTimeToTime();
  });
}

}  // namespace tarcil
