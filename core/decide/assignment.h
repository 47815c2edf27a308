// Assigns the slots that were found to a job's tasks: the claims of a decision.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/decide/chooser.h"
#include "core/decide/sites.h"
#include "core/decide/spread_count.h"

namespace tarcil {

// Slots are taken one after the other, and the server is judged again after each, so that a job's own tasks
// never violate each other's profiles. The arguments outlive the assignment.
class Assignment {
 public:
  // `placed` counts the tasks that have their slots; it is updated.
  Assignment(const SearchContext& context, const PlacementRequest& request, Sites& sites,
             SpreadCount& placed);

  // The next slot of the site for the task at this position of the request, or for the first of the others
  // that has none. The slot after it is judged only where it may be wanted (`looksOn`). Requires: the task
  // has none, and left() > 0.
  void assign(Site& site, size_t task, bool looksOn = true);
  void assignNext(Site& site, bool looksOn = true) { assign(site, nextTask(), looksOn); }

  // Takes slots in the order of their rank while tasks are without one. Requires: these sites, which it
  // reorders, are the best for as many tasks.
  void assignBest(std::vector<uint32_t>& sites);

  // The same for the tasks at these positions of the request, which go nowhere else: none of the others'
  // slots is for them.
  void assignOnly(std::span<const size_t> tasks, std::vector<uint32_t>& sites);

  // Takes all back. The caller does the same with the sites and with `placed`.
  void clear();

  // Claims that may be made yet.
  size_t left() const { return request_.atMost - claims_.size(); }
  // Tasks that are to get a slot yet, but for those that assignOnly() has seen.
  size_t missing() const { return std::min(free_, left()); }
  bool isComplete() const { return missing() == 0; }
  // Of those tasks that have no slot: how many there are, and the lowest index.
  size_t unmet() const { return unmet_; }
  TaskIndex firstUnmet() const { return firstUnmet_; }
  // Whether every task has its slot.
  bool isWhole() const { return claims_.size() == request_.tasks.size(); }
  // Claims of acceptable slots.
  uint64_t acceptable() const { return acceptable_; }
  std::vector<Claim> takeClaims() { return std::move(claims_); }

 private:
  size_t nextTask();
  // Takes slots of these sites in the order of their rank, each by take(site, whether the slot after it is to
  // be judged), until isEnough().
  template <typename IsEnough, typename Take>
  void takeBest(std::vector<uint32_t>& sites, const IsEnough& isEnough, const Take& take);

  const SearchContext& context_;
  const PlacementRequest& request_;
  Sites& sites_;
  SpreadCount& placed_;
  std::vector<Claim> claims_;
  // By position in the request: has its claim, or goes nowhere else. Empty where all go in order.
  std::vector<bool> done_;
  size_t free_;  // tasks without a claim that may go anywhere
  size_t unmet_ = 0;
  TaskIndex firstUnmet_ = 0;
  size_t next_ = 0;  // no task before this position is without a claim
  uint64_t acceptable_ = 0;
};

}  // namespace tarcil
