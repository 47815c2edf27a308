// What running tasks hold of a monitor's servers: resource units and countable things.
#pragma once

#include <map>
#include <string>

#include "core/model/launch.h"
#include "core/state/ru_set.h"

namespace tarcil::monitor {

class Holdings {
 public:
  // Whether no running task holds anything that this launch was granted.
  bool areFree(const LaunchSpec& spec) const;
  // Requires: areFree(spec).
  void take(const LaunchSpec& spec);
  void release(const LaunchSpec& spec);

 private:
  struct OfServer {
    RuSet units;
    std::map<std::string, RuSet> extras;  // by kind
  };

  std::map<std::string, OfServer> servers_;
};

}  // namespace tarcil::monitor
