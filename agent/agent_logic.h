// A scheduler over a copy of the shared state (design 5): checks submissions, samples, judges, commits,
// launches, and keeps waiting jobs until slots suit them. A state machine without I/O; the shell
// (agent_server) carries its actions out.
#pragma once

#include <memory>
#include <vector>

#include "agent/events.h"
#include "agent/options.h"
#include "core/base/rng.h"
#include "core/base/time.h"

namespace tarcil {

class AgentLogic final {
 public:
  AgentLogic(const AgentOptions& options, std::string name);
  ~AgentLogic();

  // Takes one event and appends what is to be done. Actions are to be carried out in order.
  void handle(const agent::Event& event, Now now, Rng& rng, std::vector<agent::Action>& actions);

  // The epoch that the master gave last; 0 before the first attachment.
  uint64_t epoch() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tarcil
