// Who leads: a key in etcd that ends with its lease (docs/masters.md). One thread renews the lease.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/result.h"
#include "env/clock.h"
#include "etcd/client.h"
#include "master/store/etcd/etcd_keys.h"

namespace tarcil {

struct LeadershipOptions {
  std::string who{};                         // for people: what is put under the leader's key
  Duration lease = std::chrono::seconds(2);  // whole seconds; etcd may give more
};

// Who leads, as another sees it.
struct Leader {
  std::string who{};  // LeadershipOptions::who
  int64_t term = 0;
};

// What is asked of, and told to, whom a campaign is for: on the thread that waits, once a second at least.
struct Campaign {
  std::function<bool()> goesOn = []() { return true; };
  // Another one leads, as of this revision. Passes the time until its key is erased, a while at most.
  std::function<Status(const Leader&, int64_t revision)> whileOtherLeads = nullptr;  // null: by a watch
};

class Leadership final {
 public:
  // Waits until nobody leads, and leads then. Fails when etcd refuses, and as Unavailable where the campaign
  // does not go on. `nonce` tells two that are called alike apart.
  static Result<std::unique_ptr<Leadership>> campaign(etcd::Client& client, const EtcdKeys& keys,
                                                      const LeadershipOptions& options, const Clock& clock,
                                                      uint64_t nonce, const Campaign& campaign);
  // Lets the next one lead at once.
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  // Rises with each leader.
  int64_t term() const { return term_; }
  // To be compared by every transaction of this leader.
  etcd::Compare fence() const { return {etcd::Compare::What::kCreated, leaderKey_, term_}; }

  // Whether nobody else can lead now. From any thread.
  bool holds() const { return clock_.now().steady < deadline_.load(); }
  MonotonicTime deadline() const { return deadline_.load(); }

  // Calls `lost` once, on a thread of its own, when it does not hold any more, or etcd says that somebody
  // else leads. What is called must not end this object.
  void onLost(std::function<void(const Error&)> lost);
  void lose(const std::string& why);

 private:
  Leadership(etcd::Client& client, std::string leaderKey, const Clock& clock, etcd::Lease lease, int64_t term,
             MonotonicTime asked);
  void renewAgainAndAgain();
  static MonotonicTime deadlineOf(MonotonicTime asked, const etcd::Lease& lease);

  etcd::Client& client_;
  const std::string leaderKey_;
  const Clock& clock_;
  const etcd::Lease lease_;
  const int64_t term_;
  std::atomic<MonotonicTime> deadline_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(const Error&)> lost_;  // guarded by mutex_
  std::string why_;                         // guarded by mutex_: it is lost
  bool quit_ = false;                       // guarded by mutex_
  std::thread renewing_;
};

// The answer of a step that is repeated as it is while etcd does not answer: until `until` by the clock.
template <typename Step>
auto persistently(const Clock& clock, MonotonicTime until, Step step) -> decltype(step(Duration())) {
  constexpr Duration kAtOnce = std::chrono::milliseconds(500), kPause = std::chrono::milliseconds(20);
  while (true) {
    const Duration left = until - clock.now().steady;
    auto answer = step(std::clamp(left, Duration(std::chrono::milliseconds(1)), kAtOnce));
    if (answer.ok() || answer.error().code != ErrorCode::kUnavailable || clock.now().steady + kPause >= until)
      return answer;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace tarcil
