#include "core/decide/sampler.h"

#include "core/decide/suited.h"

namespace tarcil {
namespace {

// Misses that cost about as much as listing: some for the smallest clusters, and a share of the servers.
constexpr uint64_t kFreeMisses = 64;
constexpr uint64_t kServersPerMiss = 8;

bool takesTasks(const ServerStatus& status) {
  return status.up && !status.cordoned;
}

}  // namespace

std::optional<ServerId> SlotSampler::next() {
  while (!listed_) {
    const std::optional<ServerId> server = state_.draw(rng_);
    if (!server) return std::nullopt;
    Seen& seen = look(*server);
    // The drawn unit stands for a slot that was not drawn yet with this probability, whichever the server: so
    // each slot that is left comes equally often.
    if (rng_.below(state_.freeUnits(*server)) < uint64_t{seen.left} * spec_.rusPerTask) {
      --seen.left;
      return server;
    }
    if (++misses_ > kFreeMisses + state_.size() / kServersPerMiss) listWhatIsLeft();
  }
  if (left_.empty()) return std::nullopt;
  std::swap(left_[rng_.below(left_.size())], left_.back());
  const ServerId server = left_.back();
  left_.pop_back();
  return server;
}

bool SlotSampler::take(ServerId server) {
  if (!takesTasks(state_.status(server))) return false;
  Seen& seen = look(server);
  if (seen.left == 0) return false;
  --seen.left;
  return true;
}

SlotSampler::Seen& SlotSampler::look(ServerId server) {
  const auto [it, isNew] = seen_.try_emplace(server);
  Seen& seen = it->second;
  if (!isNew) return seen;
  if (!suits(state_.facts(server), spec_.placement.constraints)) {
    ++unsuited_;
  } else if (const uint32_t slots = state_.freeUnits(server) / spec_.rusPerTask; slots > 0) {
    seen.left = slots;
  } else {
    ++tooFull_;
  }
  return seen;
}

void SlotSampler::listWhatIsLeft() {
  listed_ = true;
  for (ServerId id = 0; id < state_.size(); ++id) {
    if (!state_.known(id) || !takesTasks(state_.status(id))) continue;
    left_.insert(left_.end(), look(id).left, id);
  }
}

}  // namespace tarcil
