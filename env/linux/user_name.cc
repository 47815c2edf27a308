#include "env/user_name.h"

#include <pwd.h>

#include <cerrno>
#include <vector>

namespace tarcil {

std::optional<std::string> userNameOf(uint32_t uid) {
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  while (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == ERANGE)
    buffer.resize(buffer.size() * 2);
  if (found == nullptr) return std::nullopt;
  return entry.pw_name;
}

}  // namespace tarcil
