#include "monitor/container/units_record.h"

#include <charconv>

namespace tarcil {

std::string unitsRecord(const std::vector<RuIndex>& rus) {
  std::string text;
  for (const RuIndex ru : rus) text += std::to_string(ru) + " ";
  return text + "\n";
}

std::optional<std::vector<RuIndex>> parseUnitsRecord(std::string_view text) {
  std::vector<RuIndex> rus;
  while (!text.empty() && text != "\n") {
    RuIndex ru = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ru);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (error != std::errc() || !text.starts_with(' ')) return std::nullopt;
    text.remove_prefix(1);
    rus.push_back(ru);
  }
  return text.empty() || rus.empty() ? std::nullopt : std::optional(std::move(rus));
}

}  // namespace tarcil
