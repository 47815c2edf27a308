// The clocks that shells read, injected so that nothing else does.
#pragma once

#include "core/base/time.h"

namespace tarcil {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now now() const = 0;
};

// The machine's clocks; the steady one runs on while the machine sleeps. Lives as long as the process.
const Clock& systemClock();

}  // namespace tarcil
