// The clocks that shells read, injected so that nothing else does.
#pragma once

#include "core/base/time.h"

namespace tarcil {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Now now() const = 0;
};

// The machine's clocks. Lives as long as the process.
const Clock& systemClock();

}  // namespace tarcil
