// Quantiles of the gamma distribution.
#pragma once

namespace tarcil {

// The x below which a gamma variable of this shape and scale 1 lies with the given probability; its mean and
// its variance are `shape`. Within a hundredth, or 10^-9 where that is more. Requires: shape > 0, 0 <
// probability < 1.
double gammaQuantile(double shape, double probability);

}  // namespace tarcil
