#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "classifier/kernels/kernels.h"
#include "classifier/kernels/mapping.h"
#include "core/base/rng.h"

namespace tarcil {
namespace {

constexpr size_t kLineBytes = 64;
constexpr size_t kJumpsOfABurst = 100'000;

// x86-64: 0xE9 and the distance from the end of the instruction; 0xC3 returns.
void writeJump(char* from, const char* to) {
  *from = static_cast<char>(0xE9);
  const auto distance = static_cast<int32_t>(to - (from + 5));
  std::memcpy(from + 1, &distance, sizeof distance);
}

void writeReturn(char* at) {
  *at = static_cast<char>(0xC3);
}

class CodeKernel final : public Kernel {
 public:
  explicit CodeKernel(uint64_t cacheBytes) : cacheBytes_(cacheBytes) {}

  // Never writable and executable at once.
  void set(int intensity) override {
    const auto bytes = static_cast<size_t>(partOf(static_cast<double>(cacheBytes_), intensity));
    lines_ = std::max<size_t>(bytes / kLineBytes, 1);
    code_ = Mapping(lines_ * kLineBytes);
    // One round through all lines, in an order that no prefetcher foresees.
    std::vector<size_t> order(lines_);
    std::iota(order.begin(), order.end(), 0);
    Rng rng(lines_);
    for (size_t i = lines_ - 1; i > 1; --i) std::swap(order[i], order[1 + rng.below(i)]);
    for (size_t i = 0; i + 1 < lines_; ++i) writeJump(lineAt(order[i]), lineAt(order[i + 1]));
    writeReturn(lineAt(order.back()));
    if (::mprotect(code_.data(), code_.size(), PROT_READ | PROT_EXEC) != 0) {
      throw std::runtime_error(std::string("generated code may not be run: ") + std::strerror(errno));
    }
    burst();
  }

  double burst() override {
    const auto round = reinterpret_cast<void (*)()>(code_.data());
    const size_t rounds = std::max<size_t>(kJumpsOfABurst / lines_, 1);
    for (size_t i = 0; i < rounds; ++i) round();
    return static_cast<double>(rounds * lines_);
  }

 private:
  char* lineAt(size_t index) const { return code_.data() + index * kLineBytes; }

  const uint64_t cacheBytes_;
  Mapping code_;
  size_t lines_ = 1;
};

}  // namespace

std::unique_ptr<Kernel> makeCodeKernel(uint64_t cacheBytes) {
  return std::make_unique<CodeKernel>(cacheBytes);
}

}  // namespace tarcil
