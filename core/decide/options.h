// The operator's settings of how slots are sampled and judged (docs/design.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/contention.h"
#include "core/model/job.h"
#include "core/model/quality.h"

namespace tarcil {

inline constexpr double kMinRarity = 0.0001;
inline constexpr uint32_t kMaxCap = 10'000, kMaxFloor = 100'000, kMaxRatio = 100'000;

// What is done to tasks that slow down others of their server (master/logic/health/throttling.h).
enum class Throttling : uint8_t {
  kOff,
  kPreview,  // it is said what would be done
  kOn,
};

inline constexpr NamesOf<Throttling, 3> kThrottlingNames = {
    {{"off", Throttling::kOff}, {"preview", Throttling::kPreview}, {"on", Throttling::kOn}}};

// By what slots are ranked, and which of them are taken.
enum class RankBy : uint8_t {
  kQuality,  // acceptable slots by E in bands, then Q, the tightest fit (the paper)
  // By what the job gets less what its neighbours lose; one that is worth the price is taken too
  // (core/decide/price.h).
  kWorth,
};
// What files and flags call them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> kRankByNames = {"quality", "worth"};

// Part of the shared state: the master stores it, agents follow it. Every field may change at run time; a
// change takes effect with the next decision.
struct QualitySettings {
  // A slot is acceptable if its expected performance reaches this fraction of what the best platform gives
  // the job. A ratio in (0, 1]. Higher: better slots, more draws, longer waits. 0.95: most users would not
  // notice a loss of one twentieth. A job may set its own.
  double target = 0.95;

  // Share of the free slots that has to be acceptable for the promise to hold (1 - x in Tarcil section 3.3),
  // from 0.0001 to 1. Lower: rarer slots are found, with more draws where they are rare. 0.05: what is rarer
  // than one slot in twenty is for the buckets to find.
  double rarity = 0.05;

  // Probability with which the draws find the slots that a job needs where acceptable ones are no rarer than
  // that (1 - eps). In (0, 1). Higher: more draws where acceptable slots are rare, none where they are not.
  // 0.999: one decision in a thousand misses what is there. A job may bring its own.
  double confidence = 0.999;

  // Most slots drawn per slot needed, 1 to 10,000, whatever rarity and confidence ask for. Lower: decisions
  // take no longer than that, and miss more in a crowded cluster. Unset, so that the promise holds.
  std::optional<uint32_t> cap;

  // Fewest slots drawn per job, 1 to 100,000, however early enough acceptable ones turn up. Lower: quicker;
  // higher: tighter fits. 8: fewer than that seldom find a good slot under load (Tarcil Fig. 9).
  uint32_t floor = 8;

  // Fixed number of slots drawn per slot needed, 1 to 100,000; replaces rarity, confidence, cap and floor,
  // and never stops early. Unset, so that a decision draws only until enough are found.
  std::optional<uint32_t> ratio;

  // How satisfaction S is measured. Componentwise, because `encoded` compares a job's second resource only
  // where the first ties, and so accepts a slot with little contention on the first and much on the second.
  QualityModel model = QualityModel::kComponentwise;

  // How what neighbours do to a task combines. Sum of their pressures: slowdowns miss measured co-runs by
  // half as much (docs/accuracy.md), but place tasks no better there, and worse where pressures add up
  // (docs/evaluation.md).
  ContentionModel contention = ContentionModel::kSum;

  // By what slots are ranked. Worth: more choice does not hurt by it, and under load less waits
  // (docs/evaluation.md, "More choice"). Quality is as the paper has it.
  RankBy ranking = RankBy::kWorth;

  // Pressure added to every resource of a slot when it is judged, 0 to 99 points, at most as much as there is
  // already. Higher: safer against wrong profiles, fewer acceptable slots. 0: profiles are trusted. It does
  // not apply while the cluster is crowded (margin.h), and only jobs with a max_wait wait for it. 10: jobs
  // run better and do not wait longer (docs/evaluation.md).
  int margin = 10;

  // Pressure by which a job may exceed what the residents of a server can bear, 0 to 99 points: so little is
  // within the error of a profile. 0: never. 2: small enough not to be noticed.
  int noiseFloor = kDefaultNoiseFloor;

  // Whether a slot is rejected when the job would break a neighbour there. On: a placement should not be at
  // the cost of others. A job may switch it off for itself.
  bool protectNeighbours = true;

  // Below which no neighbour may fall, in S, 0.01 to 1, where slots are ranked by worth and a newcomer may
  // make one fall below its target for a price (Protection). Higher: tasks that run are disturbed less, and
  // more wait. 0.1: next to nobody stands still for another; a higher floor protects no better in sum
  // (docs/evaluation.md). A job may have its own tasks protected altogether.
  double neighbourFloor = kDefaultNeighbourFloor;

  // Whether a job that names an application without a stored profile is accepted with a conservative guess
  // for a profile, while another job measures the application. Off: measuring runs the job's command many
  // times, on a server that does nothing else meanwhile.
  bool profileUnknown = false;

  // Whether tasks that slow down a task whose performance is watched are throttled, where their job yields,
  // or is preemptible and of lower priority. On: a job says so by either. Preview: to see first what it would
  // do.
  Throttling throttling = Throttling::kOn;

  // Counts changes of the settings, so that a claim can name the settings that it was judged by. Set by the
  // master, not by the operator.
  uint64_t version = 0;

  bool operator==(const QualitySettings&) const = default;
};

// Whether decisions by these settings look at each neighbour (ClusterState::keepNeighbours).
constexpr bool looksAtNeighbours(const QualitySettings& settings) {
  return settings.contention == ContentionModel::kSlowdowns || settings.ranking == RankBy::kWorth;
}

// Everything that is wrong with the settings, one sentence each: the field, its value and what to write
// instead. Empty if they are valid.
std::vector<std::string> problems(const QualitySettings& settings);

}  // namespace tarcil
