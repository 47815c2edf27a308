#include "core/model/sample_size.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tarcil {
namespace {

// Above 2^53 a double no longer tells neighbouring counts apart.
constexpr uint64_t kMaxDraws = uint64_t{1} << 53;

// (1 - p)^n. The rounding error of 1 - p is corrected, because a large n would magnify it; where 1 - p is
// exact, so are ties such as 0.5^2 = 0.25. Requires: 0 <= p < 1.
double allMiss(double p, double n) {
  const double rest = 1 - p;
  const double lost = (1 - rest) - p;
  return std::pow(rest, n) * std::exp(n * std::log1p(lost / rest));
}

// ln(n!) minus Stirling's approximation of it. Requires: n >= 1.
double stirlingError(double n) {
  if (n <= 15) {
    double factorial = 1;
    for (double i = 2; i <= n; ++i) factorial *= i;
    return std::log(factorial) - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2 * std::numbers::pi);
  }
  const double square = n * n;
  return (1.0 / 12 -
          (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / square) / square) / square) / square) /
         n;
}

// x ln(x / mean) + mean - x, where `difference` is x - mean, known better than the operands tell. Requires:
// x, mean > 0.
double deviance(double x, double mean, double difference) {
  if (std::abs(difference) >= 0.1 * (x + mean)) return x * std::log(x / mean) - difference;
  // Near the mean the terms above cancel; this is their series.
  const double v = difference / (x + mean);
  double sum = difference * v;
  double term = 2 * x * v;
  for (int j = 1;; ++j) {
    term *= v * v;
    const double next = sum + term / (2 * j + 1);
    if (next == sum) return sum;
    sum = next;
  }
}

// P[Bin(n, p) = k] by Loader's saddle-point expansion (2000): no log-gamma of huge arguments, whose
// difference would lose all digits (n may be 10^14), and no global state. Requires: 0 < p < 1, 0 <= k <= n.
double exactly(double k, double n, double p) {
  if (k == 0) return allMiss(p, n);
  if (k == n) return std::pow(p, n);
  const double mean = n * p;
  const double exponent = stirlingError(n) - stirlingError(k) - stirlingError(n - k) -
                          deviance(k, mean, k - mean) - deviance(n - k, n * (1 - p), mean - k);
  return std::exp(exponent) * std::sqrt(n / (2 * std::numbers::pi * k * (n - k)));
}

// Small enough a term that the rest of a falling series no longer matters.
bool negligible(double term, double sum) {
  return term <= sum * 0x1p-60;
}

// P[Bin(n, p) >= m], summed away from the mean so that terms fall. Requires: np < m <= n, 0 < p < 1.
double upperTail(double m, double n, double p) {
  const double odds = p / (1 - p);
  double term = exactly(m, n, p);
  double sum = term;
  for (double k = m; k < n && !negligible(term, sum); ++k) {
    term *= (n - k) / (k + 1) * odds;
    sum += term;
  }
  return sum;
}

// P[Bin(n, p) <= k], summed away from the mean. Requires: 0 <= k < np, 0 < p < 1.
double lowerTail(double k, double n, double p) {
  const double odds = (1 - p) / p;
  double term = exactly(k, n, p);
  double sum = term;
  for (; k > 0 && !negligible(term, sum); --k) {
    term *= k / (n - k + 1) * odds;
    sum += term;
  }
  return sum;
}

double atLeast(uint64_t m, uint64_t draws, double p) {
  if (m == 0) return 1;
  if (draws < m || p <= 0) return 0;
  if (p >= 1) return 1;
  const auto hits = static_cast<double>(m);
  const auto n = static_cast<double>(draws);
  // Of the two tails the shorter one is summed: it alone is precise when it is tiny.
  const double tail = hits > n * p ? upperTail(hits, n, p) : 1 - lowerTail(hits - 1, n, p);
  return std::clamp(tail, 0.0, 1.0);
}

// ceil(ln(eps) / ln(1 - p)), then moved by at most one where the rounding of the logarithms decided a tie.
std::optional<uint64_t> drawsForOne(double p, double confidence) {
  const double closedForm = std::ceil(std::log1p(-confidence) / std::log1p(-p));
  if (!(closedForm < static_cast<double>(kMaxDraws))) return std::nullopt;
  const auto draws = std::max<uint64_t>(1, static_cast<uint64_t>(closedForm));
  if (atLeast(1, draws, p) < confidence) return draws + 1;
  if (draws > 1 && atLeast(1, draws - 1, p) >= confidence) return draws - 1;
  return draws;
}

}  // namespace

std::optional<uint64_t> drawsNeeded(double p, double confidence, uint32_t m) {
  if (p <= 0) return std::nullopt;
  if (p >= 1) return m;
  if (m == 1) return drawsForOne(p, confidence);
  uint64_t tooFew = m - 1;
  uint64_t enough = m;
  while (atLeast(m, enough, p) < confidence) {
    if (enough == kMaxDraws - 1) return std::nullopt;
    tooFew = enough;
    enough = std::min(2 * enough, kMaxDraws - 1);
  }
  while (enough - tooFew > 1) {
    const uint64_t middle = tooFew + (enough - tooFew) / 2;
    (atLeast(m, middle, p) >= confidence ? enough : tooFew) = middle;
  }
  return enough;
}

double guarantee(double p, uint64_t draws, uint32_t m) {
  return atLeast(m, draws, p);
}

double lowerBound(uint64_t acceptable, uint64_t drawn, double confidence) {
  // The p at which this many successes would be a surprise of probability 1 - confidence, bracketed from both
  // sides; the lower end errs on the safe side.
  if (acceptable == 0) return 0;
  double low = 0;
  double high = 1;
  while (high - low > 1e-12 * high) {
    const double middle = low + (high - low) / 2;
    (atLeast(acceptable, drawn, middle) <= 1 - confidence ? low : high) = middle;
  }
  return low;
}

}  // namespace tarcil
