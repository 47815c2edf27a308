#include "classifier/kernels/kernels.h"

namespace tarcil {
namespace {

constexpr int kRounds = 20'000;  // of a burst: some tenths of a millisecond

// Keeps the compiler from leaving out or joining what it could work out beforehand.
template <typename Value>
void keep(Value& value) {
  asm volatile("" : "+r"(value));
}
void keep(double& value) {
#ifdef __x86_64__
  asm volatile("" : "+x"(value));
#else
  asm volatile("" : "+w"(value));
#endif
}

class CoreKernel final : public Kernel {
 public:
  void set(int) override {}

  double burst() override {
    uint64_t integer = 1;
    double real = 0.5, other = 0.25;
    for (int i = 0; i < kRounds; ++i) {
      integer = integer * 6364136223846793005u + 1442695040888963407u;
      real = real * 0.999 + 0.001;
      other = other * 0.998 + 0.002;
      keep(integer);
      keep(real);
      keep(other);
    }
    return kRounds * 6.0;
  }
};

}  // namespace

std::unique_ptr<Kernel> makeCoreKernel() {
  return std::make_unique<CoreKernel>();
}

}  // namespace tarcil
