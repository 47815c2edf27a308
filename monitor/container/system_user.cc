#include "monitor/container/system_user.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <system_error>

namespace tarcil {
namespace {

constexpr Duration kKeep = std::chrono::seconds(10);
constexpr size_t kMaxKept = 1000;

std::vector<gid_t> groupsOf(const std::string& name, gid_t primary) {
  int count = 64;
  std::vector<gid_t> groups(static_cast<size_t>(count));
  if (::getgrouplist(name.c_str(), primary, groups.data(), &count) < 0) {
    groups.resize(static_cast<size_t>(count));
    ::getgrouplist(name.c_str(), primary, groups.data(), &count);
  }
  groups.resize(static_cast<size_t>(count));
  return groups;
}

Result<SystemUser> askSystem(const std::string& name) {
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found)) == ERANGE) {
    buffer.resize(buffer.size() * 2);
  }
  if (found == nullptr) {
    const std::string reason = error != 0 ? ": " + std::generic_category().message(error) : std::string();
    return notFound("user '" + name + "' does not exist on this server" + reason);
  }
  return SystemUser{name,         entry.pw_uid,  entry.pw_gid, groupsOf(name, entry.pw_gid),
                    entry.pw_dir, entry.pw_shell};
}

}  // namespace

std::optional<gid_t> groupNamed(const std::string& name) {
  std::vector<char> buffer(16 * 1024);
  group entry{};
  group* found = nullptr;
  while (::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == ERANGE) {
    buffer.resize(buffer.size() * 2);
  }
  return found == nullptr ? std::nullopt : std::optional(entry.gr_gid);
}

Result<const SystemUser*> UserDirectory::find(const std::string& name, MonotonicTime now) {
  if (const auto known = known_.find(name); known != known_.end() && now < known->second.until) {
    return &known->second.user;
  }
  Result<SystemUser> asked = askSystem(name);
  if (!asked) return asked.error();
  if (known_.size() >= kMaxKept) known_.clear();
  Entry& entry = known_[name];
  entry = {std::move(*asked), now + kKeep};
  return &entry.user;
}

}  // namespace tarcil
