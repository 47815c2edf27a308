// When waiting jobs are expected to start, from the history of the buckets of similar servers (lsh/).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/time.h"
#include "core/model/job.h"
#include "lsh/admission.h"
#include "lsh/bucket_index.h"
#include "master/logic/servers/published_state.h"

namespace tarcil {

struct ForecastOptions {
  BucketOptions buckets{};
  // A slot that is free is enough: nobody samples for the estimate.
  AdmissionOptions admission{.headroom = 0};
};

// Follows the published state: whatever it shows is on disk. Single-threaded; no clock, no I/O.
class Forecast final {
 public:
  // `published` outlives it, and is changed before the calls that say so. Histories begin at `now`.
  Forecast(const PublishedState& published, MonotonicTime now, const ForecastOptions& options = {});

  // Some hundred nanoseconds.
  void serverChanged(ServerId server, MonotonicTime now);
  // Settings or shares of platforms changed. O(servers).
  void everythingChanged(MonotonicTime now);

  // The time from now until a waiting job should get `slots` slots beyond those that others get first
  // (demand_ahead.h), by its profile and by the rate at which slots of its size came free. O(buckets), some
  // ten microseconds. nullopt where the job could be placed now; the basis says where the history is not
  // enough. Of a job with constraints or extras it is taken that its servers are as busy as others of their
  // platform, and that extras come free with units; kTooFew where units are free and only extras are missing.
  // The first such job of its kind after a change of facts takes O(servers).
  std::optional<WaitEstimate> waitOf(const JobSpec& spec, uint32_t slots, uint64_t slotsAhead,
                                     MonotonicTime now);

  // When such a job should start: by then it has its slots with the probability asked for, or on average
  // where that is beyond the history. `now` where it could be placed now; kNever where the history is not
  // enough. Some ten microseconds.
  WallTime startOf(const JobSpec& spec, uint32_t slots, uint64_t slotsAhead, Now now);

  // How long from now such a job should wait for a slot that is good enough: not at all where that would take
  // longer than its bound, which is its max_wait or mu + 2 sigma of the time until enough slots have come.
  // nullopt where the history is not enough, or slots seem to be free. Some ten microseconds.
  std::optional<Duration> boundOf(const JobSpec& spec, uint32_t slots, uint64_t slotsAhead,
                                  MonotonicTime now);

  struct NamedBucket {
    BucketSummary summary;
    std::string platform;
  };
  // In which the server is; nothing where it takes no tasks.
  std::optional<BucketId> bucketOf(ServerId server) const { return index_.bucketOf(server); }
  // Buckets with servers, by number.
  std::vector<NamedBucket> buckets(MonotonicTime now, BucketId first = 0, size_t atMost = SIZE_MAX);

 private:
  Admission admissionOf(const JobSpec& spec, uint32_t slots, uint64_t slotsAhead, MonotonicTime now);
  const std::vector<double>& reachOf(const JobSpec& spec);
  PlatformId numberOf(const std::string& platform);
  void take(ServerId server, MonotonicTime now);

  // What constraints and extras say of where jobs may go.
  using Kind = std::pair<std::vector<Constraint>, Extras>;

  const PublishedState& published_;
  const AdmissionOptions admission_;
  BucketIndex index_;
  std::vector<std::string> platforms_;  // by number
  std::unordered_map<std::string, PlatformId> numbers_;
  Matching matching_;
  // Those asked for since facts have changed last: Suitor::reach.
  std::vector<std::pair<Kind, std::vector<double>>> reaches_;
  uint64_t factsVersion_ = 0;
};

}  // namespace tarcil
