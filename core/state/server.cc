#include "core/state/server.h"

namespace tarcil {

std::map<std::string, std::string> constraintAttributes(const ServerFacts& facts) {
  std::map<std::string, std::string> attributes = facts.attributes;
  attributes["platform"] = facts.platform;
  attributes["rack"] = facts.rack;
  attributes["server"] = facts.name;
  return attributes;
}

}  // namespace tarcil
