// What a slot has to be worth to be taken, where others wait for slots too (docs/design.md, "What a slot is
// worth").
#pragma once

#include <array>
#include <cstddef>

namespace tarcil {

// The reservation value of a search (McCall, 1970), from what decisions found of late and how many are held
// up.
//
// Worth is what a job gets of a slot less what its neighbours lose by it, in performance. Who takes a slot
// worth w gives up what the next decisions would have found above that, and saves the wait. With offers drawn
// from those of late, of which one comes for each task that ends, waiting for another costs every task that
// is held up and the one that decides 1 / running of its performance; so the price r is where
//   mean of max(0, offer - r) = r * (held up + 1) / running.
// Held up are those that wait, and those who come until they all have been served: W / (1 - rho) in all
// (core/decide/utilisation.h). But a slot that one refuses delays nobody where another takes it: what counts
// is the share of units that stay free though tasks wait. Nobody waiting, the price is near the best of what
// is offered; the more wait, the higher the load and the more is left unused, the lower, down to 0: then
// whatever brings more than it costs is taken. Nothing in it is tuned.
class Price {
 public:
  // The most that any slot was worth that a decision saw. In [0, 1]; what is outside counts as the end there.
  void offered(double worth);

  // r for so many tasks that are held up and that run; 1 before anything was offered, and 0 where nothing
  // runs that could end. O(kRemembered).
  double at(double heldUp, double running) const;

 private:
  static constexpr size_t kRemembered = 64;

  std::array<double, kRemembered> offers_{};   // descending
  std::array<double, kRemembered> inOrder_{};  // as they came, around
  size_t count_ = 0, next_ = 0;
};

}  // namespace tarcil
