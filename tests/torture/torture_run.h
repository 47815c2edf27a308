// One run: a master that is killed all the time, agents, monitors and a user that do not mind, and a history
// of it all.
#pragma once

#include <kj/async-io.h>

#include <cstdint>
#include <string>

namespace tarcil::torture {

struct RunOptions {
  std::string tarcil;  // the program
  std::string folder;  // for `history`, and the master's `store` and `log`
  double seconds = 10;
  uint64_t seed = 1;  // of what is asked for and when; how the processes interleave is up to the machine
};

// Returns when the time is over and everything is settled; the master is dead then, and its store can be
// read. Throws where the master ends by itself, or things do not settle within a minute.
void torture(const RunOptions& options, kj::AsyncIoContext& io);

}  // namespace tarcil::torture
