// A submission between its first checks and its first commit.
#pragma once

#include <vector>

#include "agent/logic/events.h"
#include "core/base/time.h"

namespace tarcil::agent {

struct Arrival {
  std::vector<RequestId> clients;
  JobRecord record;
  FilePieces files;
  MonotonicTime deadline;  // refused as Unavailable then, if the master is still away
  // Was admitted before, and its first commit may have reached the master: it can no longer be refused.
  bool admitted = false;
  // Several pieces: they are at the master, for a commit of this attachment.
  bool filesAreThere = false;
};

}  // namespace tarcil::agent
