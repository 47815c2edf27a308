#include "monitor/container/root_policy.h"

#include <algorithm>
#include <filesystem>

namespace tarcil {

namespace fs = std::filesystem;

bool isBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

Result<std::string> allowedRoot(const std::string& wanted, const std::vector<std::string>& allowed) {
  const auto named = [&wanted](const char* problem) { return "the folder '" + wanted + "' " + problem; };
  if (!wanted.starts_with('/')) return invalid(named("is no absolute path: write one that starts with /"));
  std::error_code error;
  const fs::path path = fs::canonical(wanted, error);
  if (error) return notFound(named("cannot be found on this server: ") + error.message());
  if (!fs::is_directory(path, error)) return invalid(named("is no folder"));
  for (const std::string& folder : allowed) {
    const fs::path place = fs::canonical(folder, error);
    if (!error && isBelow(path, place)) return path.string();
  }
  return denied(
      named("may not be used by tasks on this server: its operator allows folders with --allow-rootfs"));
}

}  // namespace tarcil
