#include "formats/recording_part.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "core/base/units.h"

namespace tarcil {

std::string nameOfPart(WallTime begins) {
  std::string name = formatTime(begins) + kRecordingEnding;
  std::ranges::replace(name, ':', '-');
  return name;
}

WallTime beginOfPart(const std::string& name) {
  if (!name.ends_with(kRecordingEnding)) return kNever;
  std::string text = name.substr(0, name.size() - std::string_view(kRecordingEnding).size());
  if (const size_t day = text.find('T'); day != std::string::npos)
    std::replace(text.begin() + static_cast<std::ptrdiff_t>(day), text.end(), '-', ':');
  const auto time = parseTime(text);
  return time ? *time : kNever;
}

}  // namespace tarcil
