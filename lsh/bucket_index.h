// Servers in buckets of the same platform and similar contention (Tarcil section 4): what admission control
// needs to know of a cluster without examining its servers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/time.h"
#include "core/state/server.h"
#include "core/state/vacancy.h"
#include "lsh/bucket.h"
#include "lsh/flow_history.h"
#include "lsh/hyperplanes.h"

namespace tarcil {

struct BucketOptions {
  // Buckets of each platform, 1 to 256. More: servers of a bucket are more alike, and a decision examines
  // more buckets. 32: chosen by measurement (docs/accuracy.md).
  uint32_t buckets = 32;

  // Of the hyperplanes.
  uint64_t seed = 1;

  // Points of pressure, above 0, by which the mean of a platform's servers moves on some resource before the
  // hyperplanes follow. Lower: buckets fit better and are made anew more often. 5: planes that miss the mean
  // by so little still part the servers.
  int drift = 5;

  // For how long it is remembered how many units came into each bucket, and into intervals of which length
  // that time is cut: at most the window. Longer: better known waits, slower to notice a change. 2 h as in
  // the paper; 20 s, because that makes 360 intervals, enough to tell regular from bursty.
  Duration window = std::chrono::hours(2);
  Duration interval = std::chrono::seconds(20);
};

// Number of a bucket: those of platform p are p * perPlatform() and the following.
using BucketId = uint32_t;

struct BucketSummary {
  BucketId bucket = 0;
  PlatformId platform = 0;
  uint32_t servers = 0;
  uint64_t free = 0;          // units
  Pressure mean{};            // contention of its servers
  double enteredPerHour = 0;  // units, over the closed intervals of the window; 0 where none is closed
};

// Single-threaded; no clock, no I/O. 32 bytes a server, and for each bucket some 450 and its history of
// 4 bytes an interval.
//
// The history of a bucket counts units that *enter* it: those that a task gave back, and the free units of a
// server whose contention now belongs there; less those that leave it because their server's contention now
// belongs elsewhere. Units that are taken by a task are not subtracted: what is estimated is how fast units
// come that waiting jobs could take. Over all buckets moves cancel, and what is left is what tasks gave back.
// Three things are no flow: servers that come, servers that go or may not be used, and moves because the
// hyperplanes were centred anew. A bucket keeps its history then: it stands for servers that are noisier than
// the mean in some ways and quieter in others, and does so still; what was counted for another mean leaves
// with the window.
class BucketIndex {
 public:
  explicit BucketIndex(const BucketOptions& options);

  // --- Changes

  // What a server is from now on; one that may not be used is removed. At most 200 ns, but for the first
  // server of a platform. `now` never goes back.
  void update(ServerId server, const Vacancy& vacancy, MonotonicTime now);
  // Does nothing for a server that is not there.
  void remove(ServerId server);
  // Advances time where nothing changes, so that histories include it.
  void advance(MonotonicTime now);

  // Follows the mean: begins to centre anew where it has drifted, and looks at up to `budget` servers on the
  // way. True while more are left to look at. Everything holds between two steps: each server is in one
  // bucket, and each bucket knows what is in it. Some 50 ns a server.
  bool step(uint32_t budget);
  // Begins to centre anew at once, wherever the mean is; step() does the rest.
  void recentre();

  // --- What there is

  uint32_t perPlatform() const { return planes_.buckets(); }
  PlatformId platformOf(BucketId bucket) const { return static_cast<PlatformId>(bucket / perPlatform()); }
  // By number. Valid until a server is updated or removed, or a step is made.
  std::span<const Bucket> buckets() const { return buckets_; }
  // By number, a server with the mean contention of the bucket, units enough and no residents; not usable
  // where the bucket has no server. For judging as slots are judged. Valid as long.
  std::span<const Vacancy> means() const { return means_; }
  // Of units.
  const FlowHistory& history() const { return histories_.front(); }
  // Of slots of 2^size units of one server; nullptr where no server has had so many.
  const FlowHistory* history(size_t size) const {
    return size < histories_.size() ? &histories_[size] : nullptr;
  }

  // Appends the bucket's servers that have free units, in an order of no meaning.
  void addWithFree(BucketId bucket, std::vector<ServerId>& servers) const;

  // nullopt for a server that is not there.
  std::optional<BucketId> bucketOf(ServerId server) const;
  uint32_t servers() const { return servers_; }
  uint64_t free() const { return free_; }  // units

  // Buckets with servers or with a history, by number. O(buckets).
  std::vector<BucketSummary> summaries() const;

  // Where the hyperplanes of this platform meet. Requires: the platform had a server once.
  const Centre& centre(PlatformId platform) const { return platforms_[platform].centre; }

 private:
  static constexpr BucketId kNowhere = UINT32_MAX;
  static constexpr ServerId kNobody = UINT32_MAX;
  static constexpr size_t kDone = SIZE_MAX;

  struct Record {
    uint64_t slackLevels = 0;
    Pressure contention{};
    uint16_t free = 0;
    BucketId bucket = kNowhere;
    ServerId next = kNobody, previous = kNobody;  // of those of the bucket that have free units

    BucketMember member() const { return {contention, free, slackLevels}; }
  };
  struct Platform {
    Centre centre{};
    Hyperplanes::Offsets offsets{};
    std::array<int64_t, kResources> sum{};  // of the contention of its servers
    uint32_t servers = 0;
  };

  void makeRoom(PlatformId platform);
  void makeHistories(uint16_t rus, MonotonicTime now);
  void reformMean(BucketId bucket);
  // In and out of the bucket's list of servers with free units.
  void list(Record& record);
  void unlist(Record& record);
  void enter(Record& record, PlatformId platform, BucketId bucket);
  void leave(Record& record);
  BucketId bucketFor(PlatformId platform, const Pressure& contention) const;
  std::optional<Centre> mean(const Platform& platform) const;
  bool drifted() const;

  const BucketOptions options_;
  const Hyperplanes planes_;
  std::vector<Record> records_;  // by server
  std::vector<Platform> platforms_;
  std::vector<Bucket> buckets_;
  std::vector<ServerId> withFree_;      // by bucket: the first of them, or kNobody
  std::vector<Vacancy> means_;          // formed with each change, so that decisions find them
  std::vector<FlowHistory> histories_;  // by size of slot
  uint32_t servers_ = 0;
  uint64_t free_ = 0;
  size_t next_ = kDone;  // server to look at next while centring anew
};

}  // namespace tarcil
