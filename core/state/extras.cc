#include "core/state/extras.h"

#include <algorithm>

namespace tarcil {

FreeExtras allExtras(const Extras& there) {
  FreeExtras free;
  for (const auto& [kind, count] : there) free[kind] = RuSet::all(count);
  return free;
}

bool haveExtras(const FreeExtras& free, const Extras& needed, uint32_t times) {
  return std::all_of(needed.begin(), needed.end(), [&](const auto& need) {
    const auto found = free.find(need.first);
    return found != free.end() && found->second.size() >= uint64_t{need.second} * times;
  });
}

std::string inWords(const Extras& extras) {
  std::string text;
  for (const auto& [kind, count] : extras)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
  return text;
}

ExtraNumbers lowestExtras(const FreeExtras& free, const Extras& needed) {
  ExtraNumbers numbers;
  for (const auto& [kind, count] : needed) {
    const auto found = free.find(kind);
    if (found != free.end()) numbers[kind] = found->second.first(count);
  }
  return numbers;
}

void takeExtras(FreeExtras& free, const ExtraNumbers& numbers) {
  for (const auto& [kind, taken] : numbers) {
    const auto found = free.find(kind);
    if (found == free.end()) continue;
    for (uint16_t number : taken) found->second.erase(number);
  }
}

void returnExtras(FreeExtras& free, const ExtraNumbers& numbers, const Extras& there) {
  for (const auto& [kind, returned] : numbers) {
    const auto total = there.find(kind);
    if (total == there.end()) continue;
    for (uint16_t number : returned) {
      if (number < total->second) free[kind].insert(number);
    }
  }
}

std::string extraVariable(const std::string& kind) {
  std::string name(kExtraVariablePrefix);
  for (char c : kind) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    const bool stays = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += stays ? c : '_';
  }
  return name;
}

}  // namespace tarcil
