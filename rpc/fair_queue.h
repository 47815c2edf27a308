// Which user's turn it is: start-time fair queueing (P. Goyal, H. Vin, H. Cheng, SIGCOMM 1996) by what each
// has cost, which is known only afterwards.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/time.h"

namespace tarcil {

// Items of one user come in the order in which they were added; among users that have some, the one that has
// cost least comes next. One who comes, or returns after a while, starts level with the one whose turn it was
// last: idle time saves up nothing, and a short absence writes off nothing while others wait. Operations are
// O(log users).
template <typename Item>
class FairQueue final {
 public:
  void push(const std::string& user, Item item) {
    if (active_.empty()) startOver();
    Flow& flow = flows_[user];
    if (flow.items.empty()) {
      idle_.erase({flow.cost, user});
      flow.cost = std::max(flow.cost, level_);
      active_.emplace(flow.cost, user);
    }
    flow.items.push_back(std::move(item));
  }

  struct Next {
    std::string user;
    Item item;
  };
  std::optional<Next> pop() {
    if (active_.empty()) return std::nullopt;
    const auto [cost, user] = *active_.begin();
    level_ = cost;
    Flow& flow = flows_.at(user);
    Next next{user, std::move(flow.items.front())};
    flow.items.pop_front();
    if (flow.items.empty()) {
      active_.erase(active_.begin());
      idle_.emplace(cost, user);
    }
    forgetIdle(user);
    return next;
  }

  // What the item that was popped last of this user has cost.
  void charge(const std::string& user, Duration cost) {
    const auto found = flows_.find(user);
    if (found == flows_.end()) return;
    Flow& flow = found->second;
    auto& order = flow.items.empty() ? idle_ : active_;
    order.erase({flow.cost, user});
    flow.cost += cost;
    order.emplace(flow.cost, user);
  }

  size_t waiting(const std::string& user) const {
    const auto found = flows_.find(user);
    return found == flows_.end() ? 0 : found->second.items.size();
  }
  bool empty() const { return active_.empty(); }
  // Users that are known: those with items, and those who have cost more than the level.
  size_t users() const { return flows_.size(); }

 private:
  struct Flow {
    std::deque<Item> items;
    Duration cost{};
  };

  // Where nobody waits nobody is owed anything.
  void startOver() {
    flows_.clear();
    idle_.clear();
    level_ = {};
  }

  // Of those who would start level anyway; not of the one who is still to be charged.
  void forgetIdle(const std::string& but) {
    for (auto it = idle_.begin(); it != idle_.end() && it->first <= level_;) {
      if (it->second == but) {
        ++it;
        continue;
      }
      flows_.erase(it->second);
      it = idle_.erase(it);
    }
  }

  using Order = std::set<std::pair<Duration, std::string>>;  // the least first

  std::map<std::string, Flow> flows_;
  Order active_, idle_;  // users with items, and without
  Duration level_{};     // what the one whose turn it was last had cost
};

}  // namespace tarcil
