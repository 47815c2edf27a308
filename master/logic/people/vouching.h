// Whose word the master takes for who a user is: of which agents, and for whom (AgentPort.vouch).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace tarcil::master {

class Vouching final {
 public:
  enum class Whom : uint8_t {
    kNobody,
    kKnown,  // users that the store has
    kAll,    // these, and everybody else as a submitter whose jobs run as themselves
  };

  // A rule as an option has it: AGENT=all or AGENT=known, where AGENT may be * for every agent, and the
  // master's own socket while it is read-only. Of several for an agent its own counts before *. Invalid for
  // anything else.
  Status add(const std::string& rule);

  // An empty name stands for the master's own socket.
  Whom of(const std::string& agent) const;

 private:
  std::vector<std::pair<std::string, Whom>> rules_;
};

}  // namespace tarcil::master
