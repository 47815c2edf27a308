#include "monitor/container/core_choice.h"

#include <algorithm>
#include <initializer_list>
#include <map>

namespace tarcil {
namespace {

using Units = std::vector<const CoreUnit*>;

// All of a node that a task may have.
struct NodeUnits {
  Units own;
  Units free;
};

bool hasAnyOf(const CoreUnit& unit, const std::set<uint32_t>& threads) {
  return std::any_of(unit.threads.begin(), unit.threads.end(),
                     [&threads](uint32_t thread) { return threads.contains(thread); });
}

std::vector<NodeUnits> unitsByNode(const std::vector<CoreUnit>& units, const std::set<uint32_t>& taken,
                                   const std::set<uint32_t>& own) {
  std::map<uint32_t, NodeUnits> nodes;
  for (const CoreUnit& unit : units) {
    if (hasAnyOf(unit, taken)) continue;
    NodeUnits& node = nodes[unit.node];
    (hasAnyOf(unit, own) ? node.own : node.free).push_back(&unit);
  }
  std::vector<NodeUnits> result;
  for (auto& [number, node] : nodes) result.push_back(std::move(node));
  return result;
}

// Which node goes first to a task that wants so many units: one where it is already; then one that is enough
// by itself, the tightest before others; then the one that has most.
bool goesBefore(const NodeUnits& a, const NodeUnits& b, size_t count) {
  if (a.own.size() != b.own.size()) return a.own.size() > b.own.size();
  const bool aEnough = a.free.size() >= count, bEnough = b.free.size() >= count;
  if (aEnough != bEnough) return aEnough;
  return aEnough ? a.free.size() < b.free.size() : a.free.size() > b.free.size();
}

// Empty where fewer are free.
Units chooseUnits(const std::vector<CoreUnit>& units, const std::set<uint32_t>& taken,
                  const std::set<uint32_t>& own, size_t count) {
  std::vector<NodeUnits> nodes = unitsByNode(units, taken, own);
  std::stable_sort(nodes.begin(), nodes.end(),
                   [count](const NodeUnits& a, const NodeUnits& b) { return goesBefore(a, b, count); });
  Units chosen;
  for (const auto part : {&NodeUnits::own, &NodeUnits::free}) {
    for (const NodeUnits& node : nodes) {
      for (const CoreUnit* unit : node.*part) {
        if (chosen.size() < count) chosen.push_back(unit);
      }
    }
  }
  if (chosen.size() < count) chosen.clear();
  return chosen;
}

std::vector<uint32_t> threadsOf(const Units& units) {
  std::set<uint32_t> threads;
  for (const CoreUnit* unit : units) threads.insert(unit->threads.begin(), unit->threads.end());
  return {threads.begin(), threads.end()};
}

}  // namespace

std::vector<uint32_t> chooseCores(const std::vector<CoreUnit>& units, const std::set<uint32_t>& taken,
                                  const std::set<uint32_t>& own, const std::vector<RuIndex>& rus) {
  const Units chosen = chooseUnits(units, taken, own, rus.size());
  return chosen.empty() ? fixedCores(units, rus) : threadsOf(chosen);
}

std::vector<uint32_t> fixedCores(const std::vector<CoreUnit>& units, const std::vector<RuIndex>& rus) {
  if (units.empty()) return {};
  Units chosen;
  for (const RuIndex ru : rus) chosen.push_back(&units[ru % units.size()]);
  return threadsOf(chosen);
}

}  // namespace tarcil
