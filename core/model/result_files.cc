#include "core/model/result_files.h"

#include <algorithm>

#include "core/base/text.h"

namespace tarcil {

bool staysInside(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

std::string whyNotPattern(std::string_view pattern) {
  if (!staysInside(pattern)) {
    return "is no pattern of files below the task's working directory; write, for example, out/*.csv, "
           "without "
           "'/' in front and without '.' and '..'";
  }
  if (characters(pattern) > kMaxPatternCharacters) {
    return "has " + std::to_string(characters(pattern)) + " characters; write at most " +
           std::to_string(kMaxPatternCharacters);
  }
  const auto parts = static_cast<size_t>(std::ranges::count(pattern, '/')) + 1;
  if (parts > kMaxPatternParts) {
    return "has " + std::to_string(parts) + " names with '/' between them; write at most " +
           std::to_string(kMaxPatternParts);
  }
  return "";
}

}  // namespace tarcil
