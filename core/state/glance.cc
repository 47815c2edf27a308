#include "core/state/glance.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tarcil {
namespace {

constexpr uint8_t kNoDigit = 0x80;  // the byte shuffle yields 0 for it
constexpr uint8_t kMaxHurt = Vacancy::kUnbounded - 1;

// Nothing here can be foretold from slot to slot: selects take less time than branches.
Obstacle obstacle(const Newcomer& newcomer, const Vacancy& vacancy, bool breaksNeighbour) {
  Obstacle found = breaksNeighbour ? Obstacle::kNeighbour : Obstacle::kNone;
  found = vacancy.free < newcomer.rus ? Obstacle::kNotEnoughFree : found;
  return vacancy.usable ? found : Obstacle::kNotUsable;
}

#if defined(__x86_64__)

// Digits d0 to d9, two decimals each, most critical first, as a number: pairs of digits, then pairs of pairs.
__attribute__((target("ssse3"))) Encoded number(__m128i digits) {
  const __m128i fours = _mm_maddubs_epi16(digits, _mm_set1_epi16(1 << 8 | 100));
  const __m128i eights = _mm_madd_epi16(fours, _mm_setr_epi16(10'000, 1, 10'000, 1, 1, 0, 0, 0));
  const auto first = static_cast<uint64_t>(_mm_cvtsi128_si64(eights));
  const auto last = static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_unpackhi_epi64(eights, eights)));
  const uint64_t high = first & UINT32_MAX, low = (first >> 32) * 10'000 + last;
  return static_cast<Encoded>(high) * 1'000'000'000'000ULL + low;
}

// Lanes from kResources on hold other fields of the vacancy; order, tolerated and hurts blank them out.
__attribute__((target("ssse3"))) Glance glanceByShuffle(const Newcomer& newcomer, const Vacancy& vacancy) {
  const auto load = [](const void* at) { return _mm_load_si128(static_cast<const __m128i*>(at)); };
  const __m128i contention = load(&vacancy.contention);
  const __m128i margin = _mm_min_epu8(contention, _mm_set1_epi8(static_cast<char>(newcomer.margin)));
  const __m128i interference = _mm_min_epu8(_mm_adds_epu8(contention, margin), _mm_set1_epi8(kMaxPressure));
  const __m128i bears = load(&vacancy.slack);
  const __m128i over = _mm_subs_epu8(load(newcomer.hurts.data()), bears);
  const auto broken =
      static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(over, _mm_setzero_si128()))) ^ 0xffffU;
  Glance seen;
  seen.encoded = number(_mm_shuffle_epi8(interference, load(newcomer.order.data())));
  seen.excess = largest(_mm_subs_epu8(interference, load(newcomer.tolerated.data())));
  seen.obstacle = obstacle(newcomer, vacancy, broken != 0);
  const auto first = static_cast<uint8_t>(__builtin_ctz(broken | 1U << kResources));
  seen.resource = seen.obstacle == Obstacle::kNeighbour ? first : 0;
  return seen;
}

__attribute__((target("ssse3"))) void glanceAllByShuffle(std::span<const Newcomer> newcomers,
                                                         std::span<const Vacancy> vacancies,
                                                         std::span<const ServerId> servers,
                                                         std::span<Glance> out) {
  for (size_t i = 0; i < servers.size(); ++i) {
    const Vacancy& vacancy = vacancies[servers[i]];
    out[i] = glanceByShuffle(newcomers[vacancy.platform], vacancy);
  }
}

bool shuffles() {
  static const bool kShuffles = __builtin_cpu_supports("ssse3");
  return kShuffles;
}

#endif

}  // namespace

Newcomer newcomer(const JobView& job, const Judging& judging, uint32_t rus) {
  Newcomer made;
  made.order.fill(kNoDigit);
  made.tolerated.fill(UINT8_MAX);
  made.onsets.fill(UINT8_MAX);
  const bool byNeighbours = judging.contention == ContentionModel::kSlowdowns;
  made.byNeighbours = byNeighbours;
  made.protects = judging.protectNeighbours;
  made.noiseFloor = static_cast<uint8_t>(judging.noiseFloor);
  made.mostSlowdown = slowdownLeaving(judging.neighbourFloor);
  for (size_t i = 0; i < kResources; ++i) {
    made.order[i] = job.order[i];
    made.tolerated[i] = job.tolerated[i];
    made.presses[i] = static_cast<uint8_t>(std::min<int32_t>(job.caused[i], kMaxPressure));
    made.raised[i] = static_cast<uint8_t>(made.presses[i] + kMaxPressure);
    made.onsets[i] = onsetOf(job.tolerated[i]);
    // As brokenResource(): what is within the noise floor may overrun the slack by the noise floor.
    const int32_t forgiven = job.caused[i] > judging.noiseFloor ? 0 : judging.noiseFloor;
    const int32_t hurts = std::min<int32_t>(job.caused[i] + Vacancy::kNoSlack - forgiven, kMaxHurt);
    if (judging.protectNeighbours && !byNeighbours && job.caused[i] > 0)
      made.hurts[i] = static_cast<uint8_t>(hurts);
  }
  made.target = job.target;
  made.rus = rus;
  made.margin = static_cast<uint8_t>(judging.margin);
  // Slowdowns say what is lost, whatever is most critical.
  made.model = byNeighbours ? QualityModel::kComponentwise : judging.model;
  made.platformFactor = job.platformFactor;
  return made;
}

Glance glancePortably(const Newcomer& newcomer, const Vacancy& vacancy) {
  Pressure interference{};
  Order order{};
  int broken = -1, excess = 0;
  for (size_t i = 0; i < kResources; ++i) {
    interference[i] = withMargin(vacancy.contention[i], newcomer.margin);
    order[i] = newcomer.order[i];
    excess = std::max(excess, interference[i] - newcomer.tolerated[i]);
    if (broken < 0 && newcomer.hurts[i] > vacancy.slack[i]) broken = static_cast<int>(i);
  }
  Glance seen;
  seen.encoded = encode(interference, order);
  seen.excess = static_cast<uint8_t>(excess);
  seen.obstacle = obstacle(newcomer, vacancy, broken >= 0);
  if (seen.obstacle == Obstacle::kNeighbour) seen.resource = static_cast<uint8_t>(broken);
  return seen;
}

Glance glance(const Newcomer& newcomer, const Vacancy& vacancy) {
#if defined(__x86_64__)
  if (shuffles()) return glanceByShuffle(newcomer, vacancy);
#endif
  return glancePortably(newcomer, vacancy);
}

void glance(std::span<const Newcomer> newcomers, std::span<const Vacancy> vacancies,
            std::span<const ServerId> servers, std::span<Glance> out) {
#if defined(__x86_64__)
  if (shuffles()) return glanceAllByShuffle(newcomers, vacancies, servers, out);
#endif
  for (size_t i = 0; i < servers.size(); ++i) {
    const Vacancy& vacancy = vacancies[servers[i]];
    out[i] = glancePortably(newcomers[vacancy.platform], vacancy);
  }
}

}  // namespace tarcil
