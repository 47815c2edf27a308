#include "agent/logic/state_copy.h"

#include <utility>

namespace tarcil::agent {

void StateCopy::apply(const ServerUpdate& update, Source source) {
  const bool wasKnown = state_.known(update.id);
  if (!wasKnown && !update.facts) return;
  if (!wasKnown || update.status.version > state_.version(update.id)) note(update, source);
  if (update.facts) noteFacts(update.id, *update.facts);
  if (source == Source::kFeed) noteCaughtUp(update);
  state_.apply(update);
}

void StateCopy::note(const ServerUpdate& update, Source source) {
  if (update.id >= taken_.size()) taken_.resize(size_t{update.id} + 1);
  taken_[update.id] = checksumOf(update.id, update.status);
  if (source == Source::kAnswer) ahead_[update.id] = update.status.version;
}

void StateCopy::noteFacts(ServerId id, const ServerFacts& facts) {
  if (id >= takenFacts_.size()) takenFacts_.resize(size_t{id} + 1);
  const uint64_t sum = checksumOf(id, facts);
  factsTaken_ += sum - std::exchange(takenFacts_[id], sum);
}

void StateCopy::noteCaughtUp(const ServerUpdate& update) {
  if (ahead_.empty()) return;
  const auto found = ahead_.find(update.id);
  if (found != ahead_.end() && found->second <= update.status.version) ahead_.erase(found);
}

StateChecksum StateCopy::checksum(const std::set<ServerId>& laidOver) const {
  StateChecksum sum{.statuses = 0, .facts = factsTaken_};
  for (ServerId id = 0; id < state_.size(); ++id) {
    if (!state_.known(id)) continue;
    sum.statuses += laidOver.contains(id) ? taken_[id] : checksumOf(id, state_.status(id));
  }
  return sum;
}

}  // namespace tarcil::agent
