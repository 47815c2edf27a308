// What the tasks already on a server can still bear (docs/design.md, "Residents count too").
#pragma once

#include <optional>

#include "core/model/quality.h"
#include "core/model/resources.h"

namespace tarcil {

// G where a server has no resident: any load is borne.
inline constexpr int32_t kNoResident = 1'000'000;

// One resident's contribution to G: t_p[i] + share_p[i] * c[i]; kNoResident where it tolerates all that there
// can be (t_p[i] = 99), since contention is clamped there and nothing that is added can break it.
PressureSum residentBound(const JobView& resident);

// G[i] = min over residents. Start from noResidents().
PressureSum noResidents();
void tightenBound(PressureSum& bound, const PressureSum& resident);

// slack[i] = G[i] - share[i] * sum[i] - background[i], unclamped. `sum` counts every task on the server.
PressureSum slackOf(const PressureSum& bound, const PressureSum& sum, const Share& share,
                    const Pressure& background);

// A slack as people see it, from -99 to 99; nullopt where no resident bounds it. Background and sums are
// taken from the bound of a server without residents, too.
std::optional<int32_t> boundedSlack(int32_t slack);

// Index of the resource on which `caused` (as it arrives on the platform) would break a resident, or -1. What
// is within the noise floor may overrun the slack, but no further than by the noise floor, however many such
// newcomers come: the first i with caused[i] > 0 and
//   caused[i] > max(0, slack[i])         where caused[i] > noiseFloor
//   caused[i] > slack[i] + noiseFloor    elsewhere
int brokenResource(const PressureSum& caused, const PressureSum& slack, int noiseFloor);

}  // namespace tarcil
