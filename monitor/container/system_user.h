// Users of this machine, as tasks need them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace tarcil {

struct SystemUser {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // all of them, as login gives them
  std::string home;
  std::string shell;
};

// The number of a group of this machine; nullopt: there is none of this name.
std::optional<gid_t> groupNamed(const std::string& name);

// Asks the machine's user database, and keeps an answer for ten seconds: a burst of tasks is mostly
// one user's.
class UserDirectory {
 public:
  // kNotFound: there is no such user. The reference holds until the next call.
  Result<const SystemUser*> find(const std::string& name, MonotonicTime now);

 private:
  struct Entry {
    SystemUser user;
    MonotonicTime until;
  };
  std::unordered_map<std::string, Entry> known_;
};

}  // namespace tarcil
