// Admission control: whether a job is placed now or waits, by the buckets alone (Tarcil section 4).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/time.h"
#include "core/state/glance.h"
#include "lsh/bucket_index.h"
#include "lsh/wait_estimate.h"

namespace tarcil {

struct AdmissionOptions {
  // How many more free slots than needed matching buckets must have, as a fraction of those needed, 0 to 10.
  // Higher: fewer jobs sample without success, more of them wait. 0.25: about the error of the estimate of p.
  double headroom = 0.25;

  // Probability with which enough slots are free at the predicted time, in (0, 1).
  double probability = 0.95;
};

// What of a job buckets are judged by.
struct Suitor {
  std::span<const Newcomer> newcomers;  // by platform
  // Least expected performance E at which a slot is acceptable: target * best platform factor.
  double least = 0.95;
  uint32_t rus = 1;  // units of a slot
  // By platform, the share of its units on servers where the job may go at all; empty: everywhere.
  std::span<const double> reach{};
};

// Which buckets match. Owned by the caller and refilled, so that a decision allocates no memory.
struct Matching {
  std::vector<uint32_t> masks;  // by bucket: all ones where it matches, else 0
  std::vector<float> bearing;   // by bucket: share of its free units whose servers' residents bear the job
  std::vector<float> reach;     // by bucket: share of its units on servers where the job may go
  double slots = 0;             // acceptable free slots expected in those that match
  double p = 0;                 // acceptable free slots expected, of all free slots; 0 where there is none

  // What it was made from.
  std::vector<BucketId> ids;
  std::vector<Glance> glances;
  std::vector<int64_t> came;
};

// A bucket matches if a server with its mean contention would be acceptable. Not every free slot in it is:
// the residents of some of its servers would not tolerate the job. Requires: a newcomer for each platform of
// the index.
void match(const BucketIndex& index, const Suitor& suitor, Matching& matching);

// How many slots a job needs, and how many of the acceptable ones go to others first. Arrivals are counted in
// slots of the job's size: smaller jobs take units before they make up a slot, which shows in the rate at
// which such slots came.
struct Wish {
  uint32_t slots = 1;
  double ahead = 0;
  std::optional<Duration> maxWait{};  // a bound of the job's own
};

enum class Admit : uint8_t {
  kPlace,        // clearly enough slots are free: sample
  kQueue,        // wait until they are, or until the bound
  kBestThereIs,  // not enough, and waiting would exceed the bound: place on the best slot there is
};

struct Admission {
  Admit verdict = Admit::kPlace;
  double slots = 0;  // acceptable free slots expected
  double p = 0;
  WaitEstimate wait{};  // kQueue, kBestThereIs: until enough slots are free
  // From now on; nullopt where neither the job nor the history gives one.
  std::optional<Duration> bound{};
};

// O(buckets), whatever the number of servers; where the job cannot be placed now, O(buckets * intervals) for
// the estimate. The history is that until the last update() or advance() of the index.
Admission admit(const BucketIndex& index, const Suitor& suitor, const Wish& wish,
                const AdmissionOptions& options, Matching& matching);

}  // namespace tarcil
