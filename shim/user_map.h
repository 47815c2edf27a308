// The user namespace of a command that keeps privileges: they count for what is the task's alone, and not for
// the server.
#pragma once

#include <linux/sched.h>

#include "shim/plan_reader.h"
#include "shim/report.h"

namespace tarcil {

// All users and groups are in it under the numbers that they have on the server, but the last: by that
// programs see that they are not in the server's own. It is the shim that has to say so, while init waits.
class UserMap {
 public:
  // False: `report` says why. Requires: once.
  bool open(const Plan& plan, Report& report);
  // What clone takes for it.
  uint64_t cloneFlags() const { return reader_ < 0 ? 0 : CLONE_NEWUSER; }
  // In the shim, once init is there. False: `report` says why, and init ends.
  bool write(int init, Report& report);
  // In init, before anything else. Ends the process where the shim could not write it.
  void await();

 private:
  int reader_ = -1;
  int writer_ = -1;
};

}  // namespace tarcil
