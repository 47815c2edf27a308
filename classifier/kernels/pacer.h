// When to work and when to rest, so that so much is done a second and no more. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace tarcil {

using PacerTime = std::chrono::steady_clock::time_point;

// Work is counted in the caller's unit. What was missed is made up for no further back than kMaxDebt, so
// that a kernel that was held up does not burst afterwards.
class Pacer final {
 public:
  static constexpr std::chrono::milliseconds kMaxDebt{20};

  // `perSecond`: nullopt: as much as there can be.
  void start(std::optional<double> perSecond, PacerTime now) {
    perSecond_ = perSecond;
    due_ = now;
  }

  // Notes work that is done; returns for how long to rest before more is due.
  std::chrono::nanoseconds did(double work, PacerTime now) {
    if (!perSecond_) return {};
    if (*perSecond_ <= 0) return kMaxDebt;
    const std::chrono::duration<double> worth(work / *perSecond_);
    due_ = std::max(due_, now - kMaxDebt) + std::chrono::duration_cast<std::chrono::nanoseconds>(worth);
    return std::max(std::chrono::nanoseconds{}, due_ - now);
  }

 private:
  std::optional<double> perSecond_;
  PacerTime due_;
};

}  // namespace tarcil
