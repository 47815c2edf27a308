#include "latebinding/fair_flows.h"

#include <algorithm>
#include <limits>

namespace tarcil::late {
namespace {

// What is used least where nobody is active.
constexpr double kNobody = std::numeric_limits<double>::infinity();

}  // namespace

void FairFlows::charge(MonotonicTime now) {
  const auto passed = static_cast<double>((now - charged_).count());
  if (passed <= 0) return;
  for (Flow& flow : flows_) {
    if (flow.leases > 0) flow.used += passed * flow.leases / flow.shares;
  }
  charged_ = now;
}

double FairFlows::leastUsed(uint8_t priority) const {
  double least = kNobody;
  for (const Flow& flow : flows_) {
    if (flow.inUse && flow.priority == priority && flow.isActive()) least = std::min(least, flow.used);
  }
  return least;
}

// An idle flow is kept only while it has used more than it would be given on its return.
void FairFlows::dropIdle() {
  for (Flow& flow : flows_) {
    if (!flow.inUse || flow.isActive()) continue;
    const double least = leastUsed(flow.priority);
    flow.inUse = least < flow.used && least != kNobody;
  }
}

FlowIndex FairFlows::flowOf(UserNumber user, uint16_t shares, uint8_t priority, MonotonicTime now) {
  charge(now);
  const auto find = [&] {
    return std::find_if(flows_.begin(), flows_.end(), [&](const Flow& flow) {
      return flow.inUse && flow.user == user && flow.priority == priority;
    });
  };
  auto found = find();
  if (found == flows_.end() || !found->isActive()) {
    dropIdle();
    found = find();
  }
  if (found == flows_.end()) {
    const double least = leastUsed(priority);
    found = std::find_if(flows_.begin(), flows_.end(), [](const Flow& flow) { return !flow.inUse; });
    if (found == flows_.end()) found = flows_.insert(flows_.end(), Flow{});
    *found = Flow{.user = user, .priority = priority, .inUse = true};
    if (least != kNobody) found->used = least;
  }
  found->shares = shares;
  return static_cast<FlowIndex>(found - flows_.begin());
}

void FairFlows::hold(FlowIndex index, MonotonicTime now) {
  charge(now);
  ++flows_[index].leases;
}

void FairFlows::release(FlowIndex index, MonotonicTime now) {
  charge(now);
  --flows_[index].leases;
}

void FairFlows::search(MonotonicTime now) {
  charge(now);
  ++searches_;
}

std::optional<FlowIndex> FairFlows::next() {
  std::optional<FlowIndex> best;
  for (FlowIndex i = 0; i < flows_.size(); ++i) {
    const Flow& flow = flows_[i];
    if (!flow.inUse || flow.queue.head == kNoRow || flow.visited == searches_) continue;
    if (best && (flow.priority < flows_[*best].priority ||
                 (flow.priority == flows_[*best].priority && flow.used >= flows_[*best].used))) {
      continue;
    }
    best = i;
  }
  if (best) flows_[*best].visited = searches_;
  return best;
}

}  // namespace tarcil::late
