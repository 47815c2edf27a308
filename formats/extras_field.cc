#include "formats/extras_field.h"

#include <optional>
#include <string>

#include "core/base/names.h"
#include "core/base/text.h"
#include "core/base/whole_number.h"
#include "core/state/extras.h"

namespace tarcil {
namespace {

// What is wrong with one more kind besides those that are there; nothing where it is fine.
std::optional<std::string> problemOfKind(const std::string& kind, const Extras& others) {
  if (!isPlainName(kind, kMaxNameCharacters)) {
    return "a kind's name has letters, digits, dots, dashes or underscores; rename it";
  }
  for (const auto& [other, count] : others) {
    if (extraVariable(other) == extraVariable(kind)) {
      return "gives tasks the same variable " + extraVariable(kind) + " as '" + other + "'; rename one";
    }
  }
  if (others.size() == kMaxExtraKinds) {
    return "there are more than " + std::to_string(kMaxExtraKinds) + " kinds; leave some out";
  }
  return std::nullopt;
}

}  // namespace

Extras extrasIn(const YamlValue& value) {
  Extras extras;
  auto mapping = value.mapping();
  if (!mapping) return extras;
  for (const auto& [kind, entry] : mapping->all()) {
    if (auto problem = problemOfKind(kind, extras)) {
      entry.problem(*problem);
    } else if (auto count = entry.integer(1, kMaxExtra)) {
      extras[kind] = static_cast<uint32_t>(*count);
    }
  }
  return extras;
}

Status addExtra(std::string_view argument, Extras& to) {
  const size_t equals = argument.find('=');
  if (equals == std::string_view::npos) {
    return invalid(shown(argument) + " is no pair; write KIND=COUNT, for example gpus=4");
  }
  const std::string kind(argument.substr(0, equals));
  if (to.contains(kind)) return invalid(shown(kind) + " is given twice; keep one");
  if (auto problem = problemOfKind(kind, to)) return invalid(shown(kind) + ": " + *problem);
  const std::string_view digits = argument.substr(equals + 1);
  const auto count = wholeNumberIn<uint32_t>(digits);
  if (!count || *count < 1 || *count > kMaxExtra) {
    return invalid("the count of " + shown(kind) + " is " + shown(digits) +
                   "; write a whole number from 1 to " + std::to_string(kMaxExtra));
  }
  to[kind] = *count;
  return {};
}

}  // namespace tarcil
