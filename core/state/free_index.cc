#include "core/state/free_index.h"

#include <algorithm>
#include <bit>

namespace tarcil {

size_t FreeIndex::classOf(uint32_t units) {
  if (units <= kExact) return units;
  const uint32_t below = units - 1;  // so that a power of two closes its doubling
  const auto doubling = static_cast<uint32_t>(std::bit_width(below)) - 1;  // 5 for 33 to 64
  const uint32_t quarter = below >> (doubling - 2) & 3;
  return kExact + 1 + size_t{doubling - 5} * 4 + quarter;
}

uint32_t FreeIndex::mostIn(size_t index) {
  if (index <= kExact) return static_cast<uint32_t>(index);
  const auto above = static_cast<uint32_t>(index - kExact - 1);
  const uint32_t doubling = 5 + above / 4, quarter = above % 4;
  return (1U << doubling) + ((quarter + 1) << (doubling - 2));
}

void FreeIndex::set(ServerId server, uint32_t units) {
  if (server >= places_.size()) {
    if (units == 0) return;
    places_.resize(size_t{server} + 1);
  }
  const uint32_t before = places_[server].units;
  places_[server].units = static_cast<uint16_t>(units);
  units_ += units;
  units_ -= before;
  const size_t from = classOf(before), to = classOf(units);
  if (from == to) return;
  if (before > 0) leave(server, from);
  if (units > 0) enter(server, to);
}

void FreeIndex::enter(ServerId server, size_t index) {
  places_[server].position = static_cast<uint32_t>(classes_[index].size());
  classes_[index].push_back(server);
  weights_[index] += mostIn(index);
  end_ = std::max(end_, index + 1);
}

void FreeIndex::leave(ServerId server, size_t index) {
  std::vector<ServerId>& members = classes_[index];
  const uint32_t hole = places_[server].position;
  const ServerId last = members.back();
  members[hole] = last;
  places_[last].position = hole;
  members.pop_back();
  weights_[index] -= mostIn(index);
}

void FreeIndex::prepare(Draws& draws, uint32_t least) const {
  draws.places_ = &places_;
  draws.least_ = least;
  draws.total_ = 0;
  draws.servers_ = 0;
  draws.count_ = 0;
  const size_t first = classOf(std::max(1U, least));
  for (size_t index = first; index < end_; ++index) {
    if (classes_[index].empty()) continue;
    draws.total_ += weights_[index];
    draws.servers_ += static_cast<uint32_t>(classes_[index].size());
    draws.below_[draws.count_] = draws.total_;
    draws.classes_[draws.count_++] = {classes_[index].data(), mostIn(index), index <= kExact};
  }
  // With `least` inside a class, all that are left may lie below it.
  const bool mayFail = first > kExact && first < end_ && draws.total_ == weights_[first];
  if (mayFail && std::none_of(classes_[first].begin(), classes_[first].end(),
                              [&](ServerId server) { return places_[server].units >= least; })) {
    draws.total_ = 0;
  }
}

inline FreeIndex::Draws::Pick FreeIndex::Draws::pick(Rng& rng) const {
  const uint64_t drawn = rng.below(total_);
  // Binary search without branches: which class it falls into cannot be predicted.
  size_t index = 0;
  for (size_t left = count_; left > 1;) {
    const size_t half = left / 2;
    index += drawn >= below_[index + half - 1] ? half : 0;
    left -= half;
  }
  const Class& from = classes_[index];
  const uint64_t within = drawn - (index == 0 ? 0 : below_[index - 1]);
  // Half of the digits divide several times as quickly, and almost always suffice.
  const bool small = within <= UINT32_MAX;
  const uint64_t member = small ? static_cast<uint32_t>(within) / from.most : within / from.most;
  return {from.members + member, static_cast<uint32_t>(within - member * from.most), from.exact};
}

inline bool FreeIndex::Draws::stands(const Pick& pick) const {
  if (pick.exact) return true;
  const uint32_t units = (*places_)[*pick.server].units;
  return units >= least_ && pick.unit < units;
}

FreeIndex::Drawn FreeIndex::Draws::next(Rng& rng) const {
  while (true) {
    const Pick picked = pick(rng);
    if (stands(picked)) return {*picked.server, picked.unit};
  }
}

void FreeIndex::Draws::next(Rng& rng, std::span<Drawn> out) const {
  std::array<Pick, kMany> picks;
  for (size_t i = 0; i < out.size(); ++i) {
    picks[i] = pick(rng);
    __builtin_prefetch(picks[i].server);
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = stands(picks[i]) ? Drawn{*picks[i].server, picks[i].unit} : next(rng);
  }
}

uint32_t FreeIndex::serversBelow(uint32_t least) const {
  const size_t end = classOf(least);
  size_t servers = 0;
  for (size_t index = 1; index < std::min(end, kClasses); ++index) servers += classes_[index].size();
  if (end <= kExact || end >= kClasses) return static_cast<uint32_t>(servers);
  for (ServerId server : classes_[end]) servers += places_[server].units < least ? 1 : 0;
  return static_cast<uint32_t>(servers);
}

}  // namespace tarcil
