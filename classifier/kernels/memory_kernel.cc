#include <charconv>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "classifier/kernels/kernels.h"
#include "classifier/kernels/mapping.h"
#include "classifier/kernels/memory_bound.h"

namespace tarcil {
namespace {

constexpr size_t kPieceBytes = size_t{32} << 20;
constexpr std::chrono::milliseconds kLookEvery{10};

class MemoryKernel final : public Kernel {
 public:
  explicit MemoryKernel(const KernelSetup& setup)
      : total_(setup.machine.memoryBytes), fillWithin_(setup.fillWithin), paths_(setup.memory) {
    // Should memory run out all the same, this is what has to go.
    std::ofstream("/proc/self/oom_score_adj") << 1000;
  }

  void set(int intensity) override {
    wanted_ = static_cast<uint64_t>(partOf(static_cast<double>(total_), std::min(intensity, kMaxPressure)));
    const auto until = std::chrono::steady_clock::now() + fillWithin_;
    while (pieces_.size() < piecesToHold() && std::chrono::steady_clock::now() < until) take();
    while (pieces_.size() > piecesToHold()) pieces_.pop_back();
    wanted_ = std::min<uint64_t>(wanted_, pieces_.size() * kPieceBytes);
  }

  void rest() override { pieces_.clear(); }

  // Byte seconds, so that work a second is what is held.
  double burst() override {
    const auto before = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(kLookEvery);
    const auto held = static_cast<double>(pieces_.size() * kPieceBytes);
    const size_t hold = piecesToHold();
    while (pieces_.size() > hold) pieces_.pop_back();
    if (pieces_.size() < hold) take();
    return held * std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  }

 private:
  size_t piecesToHold() const {
    return memoryToHold(wanted_, pieces_.size() * kPieceBytes, memoryLeft(paths_), total_) / kPieceBytes;
  }

  void take() {
    Mapping piece(kPieceBytes);
    ::madvise(piece.data(), piece.size(), MADV_HUGEPAGE);
    std::memset(piece.data(), 1, piece.size());
    pieces_.push_back(std::move(piece));
  }

  const uint64_t total_;
  const std::chrono::seconds fillWithin_;
  const MemoryPaths paths_;
  uint64_t wanted_ = 0;
  std::vector<Mapping> pieces_;
};

}  // namespace

std::unique_ptr<Kernel> makeMemoryKernel(const KernelSetup& setup) {
  return std::make_unique<MemoryKernel>(setup);
}

}  // namespace tarcil
