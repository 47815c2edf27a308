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

Error mayRunAsNobody(const Caller& caller) {
  return denied("user: the token of " + caller.user +
                " may not run jobs as any system user; ask the operator");
}

}  // namespace

Result<std::string> runAsFor(const JobSpec& spec, const Caller& caller) {
  if (caller.runAs.empty()) return mayRunAsNobody(caller);
  const std::string& runAs = spec.user.empty() ? caller.runAs.front() : spec.user;
  if (const Status may = checkRunAs(runAs, caller); !may) return may.error();
  return runAs;
}

Status checkRunAs(const std::string& runAs, const Caller& caller) {
  if (std::ranges::find(caller.runAs, runAs) != caller.runAs.end()) return {};
  if (caller.runAs.empty()) return mayRunAsNobody(caller);
  return denied("user: " + caller.user + " may not run jobs as `" + runAs + "`, only as " +
                listed(caller.runAs));
}

}  // namespace tarcil
