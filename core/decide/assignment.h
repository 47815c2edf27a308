// Assigns the slots that were found to a job's tasks: the claims of a decision.
#pragma once

#include <cstdint>
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

  // The next slot of the site for the task at this position of the request, or for the first task that has
  // none. The slot after it is judged only where it may be wanted (`looksOn`). Requires: the task has none.
  void assign(Site& site, size_t task, bool looksOn = true);
  void assignNext(Site& site, bool looksOn = true) { assign(site, nextTask(), looksOn); }

  // Takes slots in the order of their rank while tasks are without one. Requires: these sites, which it
  // reorders, are the best for as many tasks.
  void assignBest(std::vector<uint32_t>& sites);

  size_t missing() const { return request_.tasks.size() - claims_.size(); }
  bool isComplete() const { return missing() == 0; }
  // Claims of acceptable slots.
  uint64_t acceptable() const { return acceptable_; }
  std::vector<Claim> takeClaims() { return std::move(claims_); }

 private:
  size_t nextTask();

  const SearchContext& context_;
  const PlacementRequest& request_;
  Sites& sites_;
  SpreadCount& placed_;
  std::vector<Claim> claims_;
  std::vector<bool> done_;  // by position in the request: has its claim; empty while all go in order
  size_t next_ = 0;         // no task before this position is without a claim
  uint64_t acceptable_ = 0;
};

}  // namespace tarcil
