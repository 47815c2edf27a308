#include "master/logic/people/vouching.h"

#include <algorithm>
#include <optional>

#include "core/base/names.h"
#include "core/base/text.h"

namespace tarcil::master {
namespace {

constexpr const char* kEveryAgent = "*";

std::optional<Vouching::Whom> whomNamed(const std::string& name) {
  if (name == "all") return Vouching::Whom::kAll;
  if (name == "known") return Vouching::Whom::kKnown;
  return std::nullopt;
}

}  // namespace

Status Vouching::add(const std::string& rule) {
  const size_t equals = rule.find('=');
  const std::string agent = rule.substr(0, equals);
  const auto whom = equals == std::string::npos ? std::nullopt : whomNamed(rule.substr(equals + 1));
  if (!whom)
    return invalid(shown(rule) + " is no rule; write AGENT=all or AGENT=known, such as login-1=known");
  if (agent != kEveryAgent) {
    if (Status named = checkName(shown(rule), agent); !named) return named;
  }
  if (std::ranges::find(rules_, agent, &std::pair<std::string, Whom>::first) != rules_.end())
    return invalid(shown(rule) + ": there is another rule for " + agent + "; write one");
  rules_.emplace_back(agent, *whom);
  return {};
}

Vouching::Whom Vouching::of(const std::string& agent) const {
  for (const std::string& name : {agent, std::string(kEveryAgent)}) {
    const auto found = std::ranges::find(rules_, name, &std::pair<std::string, Whom>::first);
    if (found != rules_.end()) return found->second;
  }
  return Whom::kNobody;
}

}  // namespace tarcil::master
