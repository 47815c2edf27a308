#include "core/state/run_as.h"

#include <algorithm>
#include <vector>

namespace tarcil {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Result<std::string> runAsFor(const JobSpec& spec, const Caller& caller) {
  if (spec.user.empty() && !caller.runAs.empty()) return caller.runAs.front();
  if (const Status may = checkRunAs(spec.user, caller); !may) return may.error();
  return spec.user;
}

Status checkRunAs(const std::string& runAs, const Caller& caller) {
  if (std::ranges::find(caller.runAs, runAs) != caller.runAs.end()) return {};
  if (caller.runAs.empty()) {
    return denied("user: the token of " + caller.user +
                  " may not run jobs as any system user; ask the operator");
  }
  return denied("user: " + caller.user + " may not run jobs as `" + runAs + "`, only as " +
                listed(caller.runAs));
}

}  // namespace tarcil
