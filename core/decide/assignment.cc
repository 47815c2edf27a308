#include "core/decide/assignment.h"

#include <algorithm>

namespace tarcil {

Assignment::Assignment(const SearchContext& context, const PlacementRequest& request, Sites& sites,
                       SpreadCount& placed)
    : context_(context), request_(request), sites_(sites), placed_(placed), free_(request.tasks.size()) {
  claims_.reserve(missing());
  const Placement& placement = context.spec.placement;
  const bool goInOrder = placement.preferOfTask.empty() && placement.requireOfTask.empty();
  if (!goInOrder) done_.assign(request.tasks.size(), false);
}

void Assignment::clear() {
  claims_.clear();
  done_.assign(done_.size(), false);
  free_ = request_.tasks.size();
  unmet_ = 0;
  next_ = 0;
  acceptable_ = 0;
}

size_t Assignment::nextTask() {
  while (next_ < done_.size() && done_[next_]) ++next_;
  return next_++;
}

void Assignment::assign(Site& site, size_t task, bool looksOn) {
  const uint32_t rus = context_.spec.rusPerTask;
  const PlacementRequest::Task& placed = request_.tasks[task];
  Claim& claim = claims_.emplace_back();
  claim.task = placed.index;
  claim.attempt = placed.attempt;
  claim.server = site.server;
  claim.rus = rus;
  claim.preferred.resize(rus);
  context_.state.lowestFree(site.server, claim.preferred, site.picked * rus);
  claim.versionSeen = context_.state.version(site.server);
  const Sites::Quality quality = sites_.qualityOf(site, site.picked);
  claim.q = quality.q;
  claim.s = quality.s;
  claim.floor = std::min(context_.target, claim.s);
  if (done_.empty()) {
    --free_;
  } else if (!done_[task]) {
    done_[task] = true;
    --free_;
  }
  placed_.add(site.server);
  if (site.next.standing == Standing::kAcceptable) ++acceptable_;
  sites_.pick(site, looksOn);
}

// Each site is taken at most once before it is ranked again.
template <typename IsEnough, typename Take>
void Assignment::takeBest(std::vector<uint32_t>& sites, const IsEnough& isEnough, const Take& take) {
  const auto later = [this](uint32_t a, uint32_t b) {
    return ranksBefore(sites_[b].next, sites_[a].next, context_.ranking);
  };
  std::vector<uint32_t>& heap = sites;
  std::erase_if(heap, [this](uint32_t number) {
    const Site& site = sites_[number];
    return site.picked == site.found || !sites_.mayTake(site.next);
  });
  std::make_heap(heap.begin(), heap.end(), later);
  while (!isEnough() && !heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Site& site = sites_[heap.back()];
    if (!placed_.isFull(site.server)) {
      take(site, site.picked + 1U < site.found);
      if (site.picked < site.found && sites_.mayTake(site.next)) {
        std::push_heap(heap.begin(), heap.end(), later);
        continue;
      }
    }
    heap.pop_back();
  }
}

void Assignment::assignBest(std::vector<uint32_t>& sites) {
  takeBest(
      sites, [this] { return isComplete(); },
      [this](Site& site, bool looksOn) { assignNext(site, looksOn); });
}

void Assignment::assignOnly(std::span<const size_t> tasks, std::vector<uint32_t>& sites) {
  auto next = tasks.begin();
  const auto skipAssigned = [&] {
    while (next != tasks.end() && done_[*next]) ++next;
  };
  skipAssigned();
  takeBest(
      sites, [&] { return left() == 0 || next == tasks.end(); },
      [&](Site& site, bool looksOn) {
        assign(site, *next, looksOn);
        skipAssigned();
      });
  for (size_t task : tasks) {
    if (done_[task]) continue;
    done_[task] = true;
    --free_;
    const TaskIndex index = request_.tasks[task].index;
    firstUnmet_ = unmet_ == 0 ? index : std::min(firstUnmet_, index);
    ++unmet_;
  }
}

}  // namespace tarcil
