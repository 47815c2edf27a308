#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "classifier/kernels/kernels.h"
#include "classifier/kernels/mapping.h"

namespace tarcil {
namespace {

constexpr size_t kBytes = size_t{64} << 20;
constexpr size_t kPieceBytes = size_t{1} << 20;  // of a burst: some tenths of a millisecond

class StreamKernel final : public Kernel {
 public:
  void set(int) override {
    if (memory_.size() > 0) return;
    memory_ = Mapping(kBytes);
    ::madvise(memory_.data(), kBytes, MADV_HUGEPAGE);
    std::memset(memory_.data(), 0, kBytes);
  }

  double burst() override {
    char* const piece = memory_.data() + at_;
    at_ = (at_ + kPieceBytes) % kBytes;
#ifdef __x86_64__
    // Past the caches: else what is written would have to be larger than all of them, and would empty them.
    const __m128i value = _mm_set1_epi8(static_cast<char>(at_ >> 20));
    for (size_t i = 0; i < kPieceBytes; i += sizeof value) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(piece + i), value);
    }
    _mm_sfence();
#else
    std::memset(piece, static_cast<char>(at_ >> 20), kPieceBytes);
#endif
    return kPieceBytes;
  }

 private:
  Mapping memory_;
  size_t at_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> makeStreamKernel() {
  return std::make_unique<StreamKernel>();
}

}  // namespace tarcil
