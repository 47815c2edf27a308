// One byte for each resource and some more, all compared at once: what a decision does for every slot that it
// looks at.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tarcil {

// Aligned to their size wherever they are compared.
using Lanes = std::array<uint8_t, 16>;

#if defined(__x86_64__)

inline __m128i loaded(const Lanes& lanes) {
  return _mm_load_si128(reinterpret_cast<const __m128i*>(lanes.data()));
}

// Mostly nothing is there.
inline uint8_t largest(__m128i bytes) {
  constexpr int kNone = 0xffff;
  if (_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) == kNone) return 0;
  bytes = _mm_max_epu8(bytes, _mm_srli_si128(bytes, 8));
  bytes = _mm_max_epu8(bytes, _mm_srli_si128(bytes, 4));
  bytes = _mm_max_epu8(bytes, _mm_srli_si128(bytes, 2));
  bytes = _mm_max_epu8(bytes, _mm_srli_si128(bytes, 1));
  return static_cast<uint8_t>(_mm_cvtsi128_si32(bytes));
}

// The most by which a lane of `a` exceeds that of `b`; 0 where none does.
inline uint8_t mostBeyond(const Lanes& a, const Lanes& b) {
  return largest(_mm_subs_epu8(loaded(a), loaded(b)));
}

// The same with each lane of `a` raised by the margin, but at most twofold, as withMargin() but unclamped.
inline uint8_t mostBeyond(const Lanes& a, uint8_t margin, const Lanes& b) {
  const __m128i more = _mm_min_epu8(loaded(a), _mm_set1_epi8(static_cast<char>(margin)));
  return largest(_mm_subs_epu8(_mm_adds_epu8(loaded(a), more), loaded(b)));
}

#else

inline uint8_t mostBeyond(const Lanes& a, const Lanes& b) {
  uint8_t most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto beyond = static_cast<uint8_t>(a[i] > b[i] ? a[i] - b[i] : 0);
    most = std::max(most, beyond);
  }
  return most;
}

inline uint8_t mostBeyond(const Lanes& a, uint8_t margin, const Lanes& b) {
  alignas(16) Lanes raised{};
  for (size_t i = 0; i < a.size(); ++i)
    raised[i] = static_cast<uint8_t>(std::min(a[i] + std::min(a[i], margin), UINT8_MAX));
  return mostBeyond(raised, b);
}

#endif

}  // namespace tarcil
