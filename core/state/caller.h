// Who makes a request: what a token says (docs/guide.md).
#pragma once

#include <string>
#include <vector>

#include "core/state/job_state.h"

namespace tarcil {

// What a token allows. kOperate includes all that kSubmit may, for jobs of every user; kRead sees what
// kSubmit does, and changes nothing.
enum class Role : uint8_t { kSubmit, kOperate, kAgent, kMonitor, kRead };

std::string_view name(Role role);  // "submit", "operate", "agent", "monitor", "read"
std::optional<Role> roleNamed(std::string_view name);

// Of a person, and not of a machine.
inline bool isOfUser(Role role) {
  return role != Role::kAgent && role != Role::kMonitor;
}

struct Caller {
  std::string user;
  Role role = Role::kSubmit;
  std::vector<std::string> runAs;  // system users that jobs may run as; the first is the default

  bool operator==(const Caller&) const = default;
};

// Whether the caller may see and steer this user's jobs.
inline bool maySteer(const Caller& caller, const std::string& jobUser) {
  return caller.role == Role::kOperate || caller.user == jobUser;
}

// What whoever may not see whose a task is is told in place of that.
inline constexpr const char* kSomebodysTask = "another user's task";

}  // namespace tarcil
