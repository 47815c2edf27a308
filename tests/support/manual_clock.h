// A clock that stands still until a test moves it.
#pragma once

#include "env/clock.h"

namespace tarcil {

class ManualClock final : public Clock {
 public:
  Now now() const override { return now_; }
  void pass(Duration time) {
    now_.steady += time;
    now_.wall += time;
  }

 private:
  Now now_{};
};

}  // namespace tarcil
