#include <algorithm>
#include <array>

#include "classifier/kernels/kernels.h"
#include "classifier/kernels/mapping.h"

namespace tarcil {
namespace {

constexpr size_t kWalks = 4;  // at once: so that a large cache is gone through quickly
constexpr int kStepsOfABurst = 5'000;

class WalkKernel final : public Kernel {
 public:
  explicit WalkKernel(const WalkPlan& plan) : plan_(plan) {}

  void set(int intensity) override {
    const double wanted = partOf(static_cast<double>(plan_.places), intensity);
    places_ = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, UINT32_MAX);
    const size_t bytes = places_ * plan_.stride + kHugePageBytes;
    if (bytes > memory_.size()) {
      memory_ = Mapping(bytes);
      ::madvise(memory_.data(), bytes, plan_.largePages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
      // Written, or all of it would be one page of zeros.
      std::memset(memory_.data(), 0, bytes);
    }
    for (uint64_t walked = 0; walked < places_; walked += kWalks * kStepsOfABurst) burst();
  }

  // Each step waits for the value that the step before it read, which is 0, but nobody knows.
  double burst() override {
    // From where a large page begins, where there are any.
    const auto start = reinterpret_cast<uintptr_t>(memory_.data());
    const char* const memory = memory_.data() + (plan_.largePages ? -start % kHugePageBytes : 0);
    std::array<uint64_t, kWalks> at = at_;
    for (int i = 0; i < kStepsOfABurst; ++i) {
      for (uint64_t& walk : at) {
        walk = walk * 6364136223846793005u + 1442695040888963407u;
        const uint64_t place = ((walk >> 32) * places_) >> 32;
        walk += static_cast<uint8_t>(*static_cast<const volatile char*>(memory + place * plan_.stride));
      }
    }
    at_ = at;
    return static_cast<double>(kWalks) * kStepsOfABurst;
  }

 private:
  static constexpr size_t kHugePageBytes = size_t{2} << 20;

  const WalkPlan plan_;
  uint64_t places_ = 1;
  Mapping memory_;
  std::array<uint64_t, kWalks> at_ = {1, 2, 3, 4};
};

}  // namespace

std::unique_ptr<Kernel> makeWalkKernel(const WalkPlan& plan) {
  return std::make_unique<WalkKernel>(plan);
}

}  // namespace tarcil
