#include "formats/placement_field.h"

#include <charconv>
#include <string>
#include <utility>

#include "core/model/constraint.h"
#include "formats/profile_file.h"
#include "formats/text.h"

namespace tarcil {
namespace {

constexpr size_t kMaxConstraints = 100;
constexpr size_t kMaxPreferred = 1'000;

class PlacementReader {
 public:
  PlacementReader(uint32_t tasks, Policy policy) : tasks_(tasks), policy_(policy) {}

  Placement read(YamlMapping mapping) {
    readSpread(mapping);
    if (auto pack = mapping.take("pack")) readPack(*pack);
    if (auto constraints = mapping.take("constraints")) readConstraints(*constraints);
    if (auto prefer = mapping.take("prefer")) readPreferences(*prefer);
    mapping.refuseOthers();
    return std::move(placement_);
  }

 private:
  void readSpread(YamlMapping& mapping) {
    auto spread = mapping.take("spread");
    auto choice = spread ? spread->oneOf({"none", "server", "rack"}) : std::nullopt;
    if (choice == "server") placement_.spread = Spread::kServer;
    if (choice == "rack") placement_.spread = Spread::kRack;
    auto atMost = mapping.take("at_most");
    if (!atMost) return;
    assign(placement_.atMost, atMost->integer(1, kMaxTasks));
    if (!spread || choice == "none") {
      atMost->problem(
          "counts tasks for each server or rack; add spread: server or spread: rack, or leave it out");
    }
  }

  void readPack(const YamlValue& pack) {
    auto choice = pack.oneOf({"none", "server", "rack"});
    if (choice == "server") placement_.pack = Pack::kServer;
    if (choice == "rack") placement_.pack = Pack::kRack;
    if (placement_.pack == Pack::kNone) return;
    const bool contradicts = (placement_.pack == Pack::kServer && placement_.spread == Spread::kServer) ||
                             (placement_.pack == Pack::kRack && placement_.spread == Spread::kRack);
    if (contradicts) pack.problem("contradicts spread: " + *choice + "; leave one of them out");
    if (policy_ != Policy::kQuality && policy_ != Policy::kGreedy) {
      pack.problem("needs policy quality or greedy, the others do not look at it; leave one of them out");
    }
  }

  void readConstraints(const YamlValue& constraints) {
    for (const YamlValue& item : boundedList(constraints, kMaxConstraints)) {
      auto text = item.text();
      if (!text) continue;
      auto constraint = parseConstraint(*text);
      if (constraint) {
        placement_.constraints.push_back(std::move(*constraint));
      } else {
        item.problem("in " + shown(*text) + ", " + constraint.error().message);
      }
    }
  }

  // For all tasks alike, or by task.
  void readPreferences(const YamlValue& prefer) {
    if (!prefer.isMapping()) {
      placement_.prefer = servers(prefer);
      return;
    }
    auto byTask = prefer.mapping();
    for (const auto& [key, value] : byTask->all()) {
      uint32_t task = 0;
      std::from_chars(key.data(), key.data() + key.size(), task);
      if (std::to_string(task) != key || task >= tasks_) {
        value.problem("is for no task of this job; write an index from 0 to " + std::to_string(tasks_ - 1));
      } else {
        placement_.preferOfTask[task] = servers(value);
      }
    }
  }

  static std::vector<std::string> servers(const YamlValue& list) {
    std::vector<std::string> names;
    for (const YamlValue& item : boundedList(list, kMaxPreferred)) {
      if (auto name = item.title(kMaxNameCharacters)) names.push_back(std::move(*name));
    }
    return names;
  }

  static std::vector<YamlValue> boundedList(const YamlValue& value, size_t most) {
    auto items = value.list();
    if (!items) return {};
    if (items->size() <= most) return std::move(*items);
    value.problem("has " + std::to_string(items->size()) + " entries; write at most " + std::to_string(most));
    return {};
  }

  const uint32_t tasks_;
  const Policy policy_;
  Placement placement_;
};

}  // namespace

Placement placementIn(const YamlValue& value, uint32_t tasks, Policy policy) {
  auto mapping = value.mapping();
  return mapping ? PlacementReader(tasks, policy).read(std::move(*mapping)) : Placement{};
}

}  // namespace tarcil
