#include "master/store/etcd/leadership.h"

#include <algorithm>

#include "env/linux/worker_thread.h"

namespace tarcil {
namespace {

using What = etcd::Operation::What;
constexpr Duration kAtMost = std::chrono::seconds(1);

// Puts the leader's key; what is under it where that is there already.
etcd::Transaction election(const std::string& key, const std::string& value, int64_t lease) {
  return {{{etcd::Compare::What::kCreated, key, 0}},
          {{.what = What::kPut, .key = key, .value = value, .lease = lease}},
          {{.what = What::kGet, .key = key}}};
}

// Until the key is erased, or a while is over.
Status awaitVacancy(etcd::Client& client, const std::string& key, int64_t since) {
  Status watched =
      client.watch({.key = key, .revision = since + 1}, kAtMost,
                   [](const std::vector<etcd::Event>& events, int64_t) { return !events.back().erased; });
  // Then it is to be looked at anew.
  if (!watched && watched.error().code == ErrorCode::kConflict) return {};
  return watched;
}

}  // namespace

Result<std::unique_ptr<Leadership>> Leadership::campaign(etcd::Client& client, const EtcdKeys& keys,
                                                         const LeadershipOptions& options, const Clock& clock,
                                                         uint64_t nonce, const Campaign& campaign) {
  const std::string key = keys.leader(), value = options.who + "\n" + std::to_string(nonce);
  while (campaign.goesOn()) {
    const auto present = client.get({.key = key}, kAtMost);
    if (present && !present->records.empty() && present->records[0].value != value) {
      const auto& record = present->records[0];
      const Leader other{record.value.substr(0, record.value.find('\n')), record.created};
      const Status vacant = campaign.whileOtherLeads ? campaign.whileOtherLeads(other, present->revision)
                                                     : awaitVacancy(client, key, present->revision);
      if (!vacant && vacant.error().code != ErrorCode::kUnavailable) return vacant.error();
      continue;
    }
    if (!present && present.error().code != ErrorCode::kUnavailable) return present.error();
    const MonotonicTime asked = clock.now().steady;
    const auto lease = present ? client.grant(options.lease, kAtMost) : Result<etcd::Lease>(present.error());
    if (!lease) {
      if (lease.error().code != ErrorCode::kUnavailable) return lease.error();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    const MonotonicTime deadline = deadlineOf(asked, *lease);
    const auto outcome = persistently(clock, deadline, [&](Duration atMost) {
      return client.commit(election(key, value, lease->id), atMost);
    });
    if (!outcome) {
      if (outcome.error().code != ErrorCode::kUnavailable) return outcome.error();
      continue;
    }
    const auto* const there = outcome->held || outcome->found[0].empty() ? nullptr : &outcome->found[0][0];
    // An earlier repeat may have put it.
    const bool isOurs = outcome->held || (there != nullptr && there->value == value);
    const int64_t term = outcome->held ? outcome->revision : there != nullptr ? there->created : 0;
    if (isOurs && clock.now().steady < deadline) {
      return std::unique_ptr<Leadership>(new Leadership(client, key, clock, *lease, term, asked));
    }
  }
  return Error{ErrorCode::kUnavailable, "stopped before it could lead"};
}

Leadership::Leadership(etcd::Client& client, std::string leaderKey, const Clock& clock, etcd::Lease lease,
                       int64_t term, MonotonicTime asked)
    : client_(client),
      leaderKey_(std::move(leaderKey)),
      clock_(clock),
      lease_(lease),
      term_(term),
      deadline_(deadlineOf(asked, lease)),
      renewing_(startWorker([this]() { renewAgainAndAgain(); })) {}

Leadership::~Leadership() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  renewing_.join();
  // Where that fails the lease ends by itself.
  (void)client_.revoke(lease_.id, std::chrono::milliseconds(500));
}

// A quarter is for clocks that run differently, and for messages on their way.
MonotonicTime Leadership::deadlineOf(MonotonicTime asked, const etcd::Lease& lease) {
  return asked + lease.life - lease.life / 4;
}

void Leadership::onLost(std::function<void(const Error&)> lost) {
  const std::lock_guard lock(mutex_);
  lost_ = std::move(lost);
  changed_.notify_all();
}

void Leadership::lose(const std::string& why) {
  const std::lock_guard lock(mutex_);
  deadline_ = MonotonicTime();
  if (why_.empty()) why_ = why;
  changed_.notify_all();
}

void Leadership::renewAgainAndAgain() {
  std::unique_lock lock(mutex_);
  while (!quit_ && why_.empty()) {
    changed_.wait_for(lock, std::chrono::microseconds(lease_.life / 5));
    if (quit_ || !why_.empty()) break;
    lock.unlock();
    const MonotonicTime asked = clock_.now().steady, until = deadline_.load();
    const auto renewed = client_.renew(
        lease_.id, std::clamp(until - asked, Duration(std::chrono::milliseconds(1)), lease_.life / 4));
    lock.lock();
    if (!why_.empty()) break;
    if (renewed && renewed->life > Duration::zero()) {
      // Also where the answer came too late: what was told meanwhile was not told.
      deadline_ = std::max(until, deadlineOf(asked, *renewed));
    } else if (renewed) {
      why_ = "etcd ended the lease of this master";
    } else if (renewed.error().code != ErrorCode::kUnavailable) {
      why_ = renewed.error().message;
    } else if (clock_.now().steady >= deadline_.load()) {
      why_ = "the lease of this master could not be renewed in time: " + renewed.error().message;
    }
  }
  changed_.wait(lock, [this]() { return quit_ || (lost_ && !why_.empty()); });
  if (quit_) return;
  deadline_ = MonotonicTime();
  const auto lost = lost_;
  const Error error{ErrorCode::kConflict, why_};
  lock.unlock();
  lost(error);
}

}  // namespace tarcil
