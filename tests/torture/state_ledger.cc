#include "tests/torture/state_ledger.h"

namespace tarcil::torture {

void StateLedger::take(const AgentAttaching& event) {
  if (settled_) last_[event.link];
}

void StateLedger::take(const News& event) {
  for (const ServerUpdate& update : event.servers) {
    if (update.facts) {
      const auto [number, isNew] = numbers_.emplace(update.facts->name, update.id);
      const auto [facts, isNewNumber] = facts_.emplace(update.id, *update.facts);
      if (number->second != update.id || facts->second.name != update.facts->name)
        problems_.add("server " + std::to_string(update.id) + " is now told as " + update.facts->name);
    }
    take(update);
    const auto link = last_.find(event.link);
    if (link == last_.end()) continue;
    ServerStatus& last = link->second[update.id];
    if (update.status.version >= last.version) last = update.status;
  }
}

void StateLedger::take(const CommitAnswer& answer) {
  for (const ServerUpdate& update : answer.servers) take(update);
}

void StateLedger::take(const ServerUpdate& update) {
  const auto [first, isFirst] = versions_.emplace(std::pair{update.id, update.status.version}, update.status);
  if (!isFirst) {
    if (first->second != update.status) {
      problems_.add("version " + std::to_string(update.status.version) + " of server " +
                    std::to_string(update.id) + " was told with another state before");
    }
    return;
  }
  if (const auto facts = facts_.find(update.id); facts != facts_.end()) checkSum(update, facts->second.rus);
}

void StateLedger::checkSum(const ServerUpdate& update, uint32_t rus) {
  const auto sum = update.status.sum[static_cast<size_t>(Resource::kCore)];
  const auto taken = static_cast<int64_t>(rus) - update.status.free.size();
  if (sum == taken) return;
  problems_.add("server " + std::to_string(update.id) + " has " + std::to_string(taken) +
                " units taken, and tasks that make a sum of " + std::to_string(sum));
}

}  // namespace tarcil::torture
