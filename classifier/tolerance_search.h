// How much pressure a command bears: which intensities to try, and what follows from them. Pure.
#pragma once

#include <optional>

#include "core/model/resources.h"

namespace tarcil {

struct ToleranceOptions {
  double target = 0.95;  // least performance, relative to running alone
  int probes = 5;        // at most
  int precision = 4;     // points between borne and not borne that are close enough
};

struct Tolerance {
  int tolerated = 0;  // pressure that is borne, in [0, 99]
  // The highest pressure seen to be borne, and the lowest that was not; 99 and 99 where all was borne.
  int borne = 0;
  int tooMuch = kMaxPressure;
  // The strongest pressure that was there, and how the command performed under it.
  int strongest = 0;
  double performance = 1;

  bool bearsAll() const { return tolerated == kMaxPressure; }
};

// Whether all seemed to be borne, but under less than 70 % of the pressure that the kernel makes with its
// cores to itself: then nothing follows from it.
bool wasHeldBack(const Tolerance& tolerance, double possible);

// Begins at full pressure: most commands bear most of it. One that does not is asked once more: other
// programs may have slowed it, and a neighbour that is far more sensitive than it is would be turned away
// from everywhere. Between the highest pressure borne and the lowest not borne it goes on where a straight
// line through the two meets the target, which takes two or three probes where the line is straight and no
// more than bisection otherwise.
class ToleranceSearch final {
 public:
  explicit ToleranceSearch(const ToleranceOptions& options) : options_(options) {}

  // The intensity to try next; nullopt: it is known well enough, or there were enough probes.
  std::optional<int> next() const;

  // How the command performed, relative to running alone, under the pressure that the kernel `reached` when
  // it was asked for `intensity`: less where its cores cannot do more, and then that is what counts.
  void saw(int intensity, int reached, double performance);

  // What is known so far. Where the strongest pressure that there could be was borne, all of 99 is: nothing
  // that fits beside the command on this machine presses harder.
  Tolerance result() const;

 private:
  struct Seen {
    int pressure = 0;
    double performance = 1;
  };
  double crossing() const;

  const ToleranceOptions options_;
  int probes_ = 0;
  Seen borne_;
  std::optional<Seen> tooMuch_;
  std::optional<Seen> strongest_;
};

}  // namespace tarcil
