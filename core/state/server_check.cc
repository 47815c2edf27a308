#include "core/state/server_check.h"

#include <algorithm>
#include <string>

#include "core/base/names.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

std::string whyNotWithin(const ServerFacts& facts) {
  const auto tooMany = [](const char* field, size_t count, size_t most) {
    return std::string(field) + ": " + std::to_string(count) + "; at most " + std::to_string(most);
  };
  if (facts.rus < 1 || facts.rus > kMaxServerRus) {
    return "rus: " + std::to_string(facts.rus) + "; write a number from 1 to " +
           std::to_string(kMaxServerRus);
  }
  if (facts.attributes.size() > kMaxAttributes)
    return tooMany("attributes", facts.attributes.size(), kMaxAttributes);
  for (const auto& [name, value] : facts.attributes) {
    if (!isPlainName(name, kMaxNameCharacters) || !isAttributeValue(value))
      return "attributes: " + shown(name) + " = " + shown(value) +
             " does not fit; write a plain name and 1 to " + std::to_string(kMaxNameCharacters) +
             " characters without control characters";
  }
  if (facts.address.size() > kMaxAddressBytes)
    return tooMany("bytes of its address", facts.address.size(), kMaxAddressBytes);
  if (facts.missing.size() > kMaxMissing) return tooMany("missing", facts.missing.size(), kMaxMissing);
  const auto isTooLong = [](const std::string& what) { return what.size() > kMaxMissingBytes; };
  if (const auto what = std::ranges::find_if(facts.missing, isTooLong); what != facts.missing.end())
    return tooMany("bytes of what is missing", what->size(), kMaxMissingBytes);
  return "";
}

}  // namespace

bool isAttributeValue(std::string_view value) {
  return !value.empty() && characters(value) <= kMaxNameCharacters && isPrintable(value);
}

Status checkFacts(const ServerFacts& facts) {
  if (Status named = checkName("server", facts.name); !named) return named;
  if (Status named = checkName("platform", facts.platform); !named) return named;
  if (!facts.rack.empty()) {
    if (Status named = checkName("rack", facts.rack); !named) return named;
  }
  const std::string problem = whyNotWithin(facts);
  return problem.empty() ? Status() : invalid("server \"" + facts.name + "\": " + problem);
}

}  // namespace tarcil
