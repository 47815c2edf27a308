#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <cstring>

namespace tarcil::fuzz {
namespace {

constexpr size_t kWord = 8;

// Words that mean something in a message: sizes, offsets, lists of nothing, far pointers, the ends of
// the ranges.
constexpr uint64_t kTellingWords[] = {0,
                                      1,
                                      UINT64_MAX,
                                      UINT32_MAX,
                                      uint64_t{1} << 32,
                                      0x0000'0001'0000'0001,
                                      0x7fff'ffff'0000'0001,
                                      0xffff'ffff'0000'0002,
                                      0x8000'0000'0000'0000};

size_t someWord(const Bytes& bytes, Rng& rng) {
  return kWord * rng.below(bytes.size() / kWord);
}

void mutateOnce(Bytes& bytes, Rng& rng) {
  const size_t at = rng.below(bytes.size());
  const auto begin = bytes.begin();
  switch (rng.below(8)) {
    case 0:
    case 1:
      bytes[at] ^= static_cast<uint8_t>(1u << rng.below(8));
      return;
    case 2:
      bytes[at] = static_cast<uint8_t>(rng());
      return;
    case 3: {
      const uint64_t word = rng.below(2) == 0 ? rng() : kTellingWords[rng.below(std::size(kTellingWords))];
      std::memcpy(&bytes[someWord(bytes, rng)], &word, kWord);
      return;
    }
    case 4:
      std::memmove(&bytes[someWord(bytes, rng)], &bytes[someWord(bytes, rng)], kWord);
      return;
    case 5: {
      const auto from = begin + static_cast<ptrdiff_t>(someWord(bytes, rng));
      const Bytes piece(from, from + kWord);
      bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(someWord(bytes, rng)), piece.begin(), piece.end());
      return;
    }
    case 6: {
      const auto from = begin + static_cast<ptrdiff_t>(someWord(bytes, rng));
      bytes.erase(from, from + kWord);
      return;
    }
    default:
      if (rng.below(4) == 0) bytes.resize(at);
  }
}

}  // namespace

Bytes mutated(Bytes bytes, Rng& rng) {
  for (uint64_t left = 1 + rng.below(6); left > 0 && bytes.size() > 2 * kWord; --left) mutateOnce(bytes, rng);
  return bytes;
}

}  // namespace tarcil::fuzz
