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
  if (caller.runAs.empty()) {
    return denied("user: the token of " + caller.user +
                  " may not run jobs as any system user; ask the operator");
  }
  if (spec.user.empty()) return caller.runAs.front();
  if (std::ranges::find(caller.runAs, spec.user) != caller.runAs.end()) return spec.user;
  return denied("user: " + caller.user + " may not run jobs as `" + spec.user + "`, only as " +
                listed(caller.runAs));
}

}  // namespace tarcil
