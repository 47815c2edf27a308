// Quality and satisfaction of a slot for a job (Tarcil section 3.2, Eq. 4-5). Pure; O(kResources).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/model/encoding.h"
#include "core/model/profile.h"
#include "core/model/resources.h"

namespace tarcil {

enum class QualityModel : uint8_t {
  kEncoded,        // S = 1 - max(0, T_W - U_H)
  kComponentwise,  // S = 1 - max_i max(0, C[i] - t_p[i]) / 99
};
// What files and flags call them, in the order of the enumeration.
inline constexpr std::array<std::string_view, 2> kQualityModelNames = {"encoded", "componentwise"};

// How much pressure breaks no neighbour, and what S a newcomer leaves to neighbours that are not strict,
// unless the operator says otherwise (core/decide/options.h). types.capnp has the second, too.
inline constexpr int kDefaultNoiseFloor = 2;
inline constexpr double kDefaultNeighbourFloor = 0.1, kMinNeighbourFloor = 0.01;

// A job as one platform sees it: its demand scaled by the platform's share, in the job's own order.
struct JobView {
  Order order{};  // from the unscaled demand; the same on every platform
  // As it arrives on the platform, unclamped: a share above 1 may lift it over 99, and slack has to subtract
  // exactly what the resident itself adds.
  PressureSum caused{};
  Pressure tolerated{};         // t_p = 99 - share * demand
  Encoded target = 0;           // T_W, the encoded scaled demand
  double platformFactor = 1.0;  // performance here relative to the best platform
};

JobView viewOn(const Profile& profile, const Share& share, double platformFactor);
// The same with the profile's order known: orderOf(demandOf(profile.tolerated)).
JobView viewOn(const Profile& profile, const Order& order, const Share& share, double platformFactor);

// What one slot is worth to one job.
struct Judgement {
  Pressure contention{};     // C as judged, safety margin included
  Encoded encoded = 0;       // the contention in the job's order; U_H = 1 - normalized(encoded)
  bool meetsTarget = false;  // U_H >= T_W
  // Q = qNumerator / kEncodedMax, exact, for ranking; a slot that misses the target ranks below every one
  // that meets it.
  Encoded qNumerator = 0;
  double satisfaction = 0;  // S in [0, 1], by the chosen model
};

double uH(const Judgement& judgement);  // U_H in [0, 1]
double q(const Judgement& judgement);   // Q in [0, 1]

// A pressure with a safety margin: profiles are estimates, and the tightest fit should not be the first to
// break. At most doubled, since without pressure there is no error to guard against.
inline uint8_t withMargin(uint8_t pressure, int margin) {
  return static_cast<uint8_t>(std::min(pressure + std::min<int>(pressure, margin), kMaxPressure));
}

// Judges contention C (background included, clamped), each pressure withMargin().
Judgement judge(const JobView& job, const Pressure& contention, QualityModel model, int margin);

// Q as the paper prints Eq. 5: T_W - U_H where the target is missed. For comparison only.
double literalQ(const JobView& job, const Judgement& judgement);

// E = S * platform factor (docs/design.md).
double expectedPerformance(const JobView& job, const Judgement& judgement);

}  // namespace tarcil
