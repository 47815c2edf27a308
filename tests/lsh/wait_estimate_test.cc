// Estimates from histories of processes whose waits are known.
#include "lsh/wait_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "core/base/rng.h"

namespace tarcil::wait_estimate_test {

using std::chrono::seconds;
using Basis = WaitEstimate::Basis;

constexpr Duration kInterval = seconds(20);
constexpr size_t kIntervals = 360;

double exponential(Rng& rng, double mean) {
  return -mean * std::log1p(-rng.unit());
}

// Times in intervals.
struct Arrival {
  double after = 0;  // the one before
  int64_t units = 1;
};
// Makes the next arrival; made anew for each history.
using Process = std::function<Arrival(Rng&)>;
using Maker = std::function<Process(Rng&)>;

Maker gangs(double perInterval, int64_t units) {
  return [=](Rng&) { return [=](Rng& rng) { return Arrival{exponential(rng, 1 / perInterval), units}; }; };
}

Maker single(double perInterval) {
  return gangs(perInterval, 1);
}

// Of 1 to 2 * mean - 1 units each.
Maker mixedGangs(double perInterval, uint64_t mean) {
  return [=](Rng&) {
    return [=](Rng& rng) {
      return Arrival{exponential(rng, 1 / perInterval), static_cast<int64_t>(1 + rng.below(2 * mean - 1))};
    };
  };
}

Maker regular(double perInterval) {
  return [=](Rng& seed) {
    return [=, first = seed.unit()](Rng&) mutable {
      const Arrival arrival{first / perInterval};
      first = 1;
      return arrival;
    };
  };
}

// Single arrivals in times of `length` intervals in the mean, with silence as long between them.
Maker bursts(double perInterval, double length) {
  return [=](Rng&) {
    return [=, left = 0.0](Rng& rng) mutable {
      Arrival arrival{exponential(rng, 1 / perInterval)};
      if (arrival.after > left) {
        arrival.after = left + exponential(rng, length);
        left = exponential(rng, length);
        const double first = exponential(rng, 1 / perInterval);
        arrival.after += std::min(first, left);
        left -= std::min(first, left);
      } else {
        left -= arrival.after;
      }
      return arrival;
    };
  };
}

struct Observed {
  double within = 0;     // share of the waits that ended by `likely`
  double beyond = 0;     // by which they were longer than `bound`
  double mean = 0;       // of the waits
  double estimated = 0;  // `mean`, in the mean over histories
  double sigma = 0;      // the same
};

// Histories of a process, each followed by waits for `units`, each of them from a time so long after
// the last.
Observed observe(const Maker& maker, double units, double useful = 1, double pause = 3) {
  constexpr int kHistories = 60;
  constexpr int kWaits = 60;
  Rng rng(11);
  Observed seen;
  for (int h = 0; h < kHistories; ++h) {
    const Process process = maker(rng);
    std::vector<int64_t> came(kIntervals, 0);
    double time = 0;
    const auto next = [&] {
      const Arrival arrival = process(rng);
      time += arrival.after;
      return arrival.units;
    };
    for (int64_t some = next(); time < kIntervals; some = next()) came[static_cast<size_t>(time)] += some;
    const WaitEstimate estimate = estimateWait(came, kInterval, {units, useful}, 0.95);
    EXPECT_EQ(estimate.basis, Basis::kHistory);
    const auto intervals = [](Duration d) {
      return static_cast<double>(d.count()) / static_cast<double>(kInterval.count());
    };
    for (int w = 0; w < kWaits; ++w) {
      // At a time that does not depend on arrivals; the arrival after it is the last one made.
      const double start = time + pause + 2 * rng.unit();
      int64_t some = next();
      while (time < start) some = next();
      double missing = units;
      for (;; some = next()) {
        for (int64_t i = 0; i < some && missing > 0; ++i) missing -= rng.unit() < useful ? 1 : 0;
        if (missing <= 0) break;
      }
      seen.within += time - start <= intervals(estimate.likely) ? 1 : 0;
      seen.beyond += time - start > intervals(estimate.bound) ? 1 : 0;
      seen.mean += time - start;
    }
    seen.estimated += intervals(estimate.mean);
    seen.sigma += intervals(estimate.sigma);
  }
  seen.within /= kHistories * kWaits;
  seen.beyond /= kHistories * kWaits;
  seen.mean /= kHistories * kWaits;
  seen.estimated /= kHistories;
  seen.sigma /= kHistories;
  return seen;
}

struct Case {
  const char* name;
  Maker process;
  double units;
  double useful;
  double mean;             // known; intervals
  double sigma;            // known
  double atLeast, atMost;  // share of the waits within `likely`
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class Waits : public testing::TestWithParam<Case> {};

TEST_P(Waits, EndByTheTimeThatIsEstimated) {
  const Case& c = GetParam();
  const Observed seen = observe(c.process, c.units, c.useful);
  EXPECT_NEAR(seen.estimated, c.mean, 0.08 * c.mean);
  EXPECT_NEAR(seen.mean, c.mean, 0.08 * c.mean);
  EXPECT_NEAR(seen.sigma, c.sigma, std::max(0.15 * c.sigma, 0.05 * c.mean));
  EXPECT_GE(seen.within, c.atLeast);
  EXPECT_LE(seen.within, c.atMost);
  EXPECT_LE(seen.beyond, 0.08);
  RecordProperty("within", std::to_string(seen.within));
}

// Waits for n of a Poisson process of rate r: Erlang, n / r and sqrt(n) / r. Gangs of g: ceil(n / g) of them.
// Of use with probability u: n / u and sqrt(n) / u of them, as thinned.
INSTANTIATE_TEST_SUITE_P(
    Known, Waits,
    testing::Values(Case{"single, one in ten intervals", single(0.1), 1, 1, 10, 10, 0.92, 0.98},
                    Case{"single, one in an interval", single(1), 1, 1, 1, 1, 0.92, 0.98},
                    Case{"single, a hundred in an interval", single(100), 1, 1, 0.01, 0.01, 0.92, 0.98},
                    Case{"single, a hundred of a hundred", single(100), 100, 1, 1, 0.1, 0.92, 0.98},
                    Case{"single, a thousand of a hundred", single(100), 1'000, 1, 10, 0.316, 0.92, 0.99},
                    Case{"single, five of ten", single(10), 5, 1, 0.5, 0.224, 0.92, 0.98},
                    Case{"gang of ten, one", gangs(0.5, 10), 1, 1, 2, 2, 0.92, 0.98},
                    Case{"gang of ten, ten", gangs(0.5, 10), 10, 1, 2, 2, 0.92, 0.98},
                    Case{"gang of ten, eleven", gangs(0.5, 10), 11, 1, 4, 2.83, 0.92, 0.98},
                    Case{"gang of ten, a hundred", gangs(1, 10), 100, 1, 10, 3.16, 0.92, 0.99},
                    Case{"gang of ten, often, fifty", gangs(5, 10), 50, 1, 1, 0.447, 0.92, 0.99},
                    Case{"gangs of one to nineteen, one", mixedGangs(0.5, 10), 1, 1, 2, 2, 0.92, 0.98},
                    Case{"regular, one in two intervals", regular(0.5), 20, 1, 39, 0.58, 0.92, 1},
                    Case{"regular, ten in an interval", regular(10), 100, 1, 9.95, 0.03, 0.92, 1},
                    Case{"a fifth is of use, one", single(2), 1, 0.2, 2.5, 2.5, 0.92, 0.98},
                    Case{"a tenth is of use, twenty", single(20), 20, 0.1, 10, 2.24, 0.92, 0.99}));

// Silences of 6 intervals, half of the time; 10 units in each of the others. Starting amid a silence, one has
// to wait for its end.
TEST(Waits, OfBurstsAreNotThoseOfTheirRate) {
  const Observed seen = observe(bursts(10, 6), 1, 1, 40);
  EXPECT_NEAR(seen.mean, 0.5 * 6 + 0.1, 0.4);
  EXPECT_NEAR(seen.estimated, seen.mean, 0.15 * seen.mean);
  EXPECT_GE(seen.within, 0.90);
  EXPECT_LE(seen.within, 0.99);
}

TEST(WaitEstimate, SaysWhereItIsTooYoung) {
  const std::vector<int64_t> came(kMinIntervals, 5);
  EXPECT_EQ(estimateWait(std::span(came).first(kMinIntervals - 1), kInterval, {1, 1}, 0.95).basis,
            Basis::kTooYoung);
  EXPECT_EQ(estimateWait(came, kInterval, {1, 1}, 0.95).basis, Basis::kHistory);
}

TEST(WaitEstimate, SaysWhereTooFewCame) {
  std::vector<int64_t> came(kIntervals, 0);
  for (size_t i = 0; i + 1 < kMinArrivals; ++i) came[40 * i] = 100;
  EXPECT_EQ(estimateWait(came, kInterval, {1, 1}, 0.95).basis, Basis::kTooFew);
  came[359] = 1;
  EXPECT_EQ(estimateWait(came, kInterval, {1, 1}, 0.95).basis, Basis::kHistory);
}

TEST(WaitEstimate, SaysThatNothingStaysWhereAsMuchGoes) {
  std::vector<int64_t> came(kIntervals);
  for (size_t i = 0; i < kIntervals; ++i) came[i] = i % 2 == 0 ? 5 : -5;
  EXPECT_EQ(estimateWait(came, kInterval, {1, 1}, 0.95).basis, Basis::kTooFew);
}

TEST(WaitEstimate, SaysWhereTheWaitIsLongerThanTheHistory) {
  const std::vector<int64_t> came(kIntervals, 1);
  const WaitEstimate beyond = estimateWait(came, kInterval, {361, 1}, 0.95);
  EXPECT_EQ(beyond.basis, Basis::kBeyondHistory);
  EXPECT_EQ(beyond.mean, 361 * kInterval);
  EXPECT_EQ(estimateWait(came, kInterval, {360, 1}, 0.95).basis, Basis::kHistory);
  EXPECT_EQ(estimateWait(came, kInterval, {180, 0.49}, 0.95).basis, Basis::kBeyondHistory);
}

TEST(WaitEstimate, CountsWhatMovesAwayAgainstWhatComes) {
  std::vector<int64_t> came(kIntervals);
  for (size_t i = 0; i < kIntervals; ++i) came[i] = i % 2 == 0 ? 6 : -4;
  // Two intervals bring two units: twenty need twenty intervals, or fewer while the first of each pair lasts.
  const WaitEstimate estimate = estimateWait(came, kInterval, {20, 1}, 0.95);
  EXPECT_EQ(estimate.basis, Basis::kHistory);
  EXPECT_GT(estimate.mean, 13 * kInterval);
  EXPECT_LT(estimate.mean, 21 * kInterval);
}

TEST(WaitEstimate, IsLongerForMoreAndForAHigherProbability) {
  Rng rng(5);
  std::vector<int64_t> came(kIntervals);
  for (int64_t& units : came) units = static_cast<int64_t>(rng.below(9));
  Duration before{};
  for (double units : {1.0, 2.0, 5.0, 20.0, 100.0, 170.0, 200.0, 1'000.0}) {
    const WaitEstimate estimate = estimateWait(came, kInterval, {units, 1}, 0.95);
    EXPECT_GT(estimate.likely, before) << units;
    EXPECT_LT(estimate.likely, estimateWait(came, kInterval, {units, 1}, 0.99).likely);
    EXPECT_NEAR(static_cast<double>(estimate.bound.count()),
                static_cast<double>((estimate.mean + 2 * estimate.sigma).count()), 2);
    before = estimate.likely;
  }
}

TEST(WaitEstimate, AWaitLongerThanAnyTimeIsNoTimeInThePast) {
  const std::vector<int64_t> came(360, 1);
  const WaitEstimate wait =
      estimateWait(came, std::chrono::seconds(20), {.units = 10, .useful = 1e-12}, 0.95);
  EXPECT_EQ(wait.basis, WaitEstimate::Basis::kBeyondHistory);
  EXPECT_GT(wait.mean.count(), 0);
}

}  // namespace tarcil::wait_estimate_test
