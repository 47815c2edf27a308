#include "core/base/names.h"

#include "core/base/text.h"

namespace tarcil {
bool isPlainName(std::string_view name, size_t most) {
  static constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.size() <= most && name.find_first_not_of(kAllowed) == std::string_view::npos &&
         name.front() != '.' && name.front() != '-';
}

Status checkName(const std::string& what, std::string_view name) {
  if (isPlainName(name, kMaxNameCharacters)) return {};
  return invalid(what + ": " + shown(name) + " is no name; write 1 to " + std::to_string(kMaxNameCharacters) +
                 " letters, digits, dots, dashes or underscores, a letter, digit or underscore first");
}

}  // namespace tarcil
