// The launch plan as tarcil-shim reads it, which is not built with sanitizers itself.
#include <cstring>
#include <memory>

#include "monitor/container/shim_plan.h"
#include "shim/plan_reader.h"
#include "tests/fuzz/edges.h"
#include "tests/fuzz/mutation.h"

namespace tarcil::fuzz {
namespace {

// In memory that ends where the plan does, so that a step beyond is noticed. Aligned as the shim's is.
struct Memory {
  explicit Memory(const Bytes& input)
      : words((input.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t)),
        bytes(std::make_unique<uint64_t[]>(words)),
        pointers(std::make_unique<char*[]>(pointersOf(input.size()))) {
    if (!input.empty()) std::memcpy(bytes.get(), input.data(), input.size());
  }
  char* data() const { return reinterpret_cast<char*>(bytes.get()); }

  size_t words;
  std::unique_ptr<uint64_t[]> bytes;
  std::unique_ptr<char*[]> pointers;
};

// Reads all that the shim would.
class Reading {
 public:
  Reading(const char* data, size_t size) : begin_(data), end_(data + size) {}

  void take(const char* text) {
    require(text >= begin_ && text < end_, "a text is not in the plan");
    require(std::memchr(text, '\0', static_cast<size_t>(end_ - text)) != nullptr, "a text does not end");
  }
  void take(char* const* texts, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) take(texts[i]);
  }
  void takeBytes(const void* bytes, size_t size) {
    const auto* at = static_cast<const char*>(bytes);
    require(at >= begin_ && size <= static_cast<size_t>(end_ - at), "an array is not in the plan");
  }

 private:
  const char* begin_;
  const char* end_;
};

void check(const Bytes& input) {
  const Memory memory(input);
  Plan plan{};
  if (!parsePlan(memory.data(), input.size(), memory.pointers.get(), plan)) return;
  Reading reading(memory.data(), input.size());
  const PlanHeader& header = *plan.header;
  reading.takeBytes(plan.filter, header.filter * kFilterInstruction);
  reading.takeBytes(plan.deviceFilter, header.deviceFilter * kFilterInstruction);
  reading.takeBytes(plan.groups, header.groups * sizeof(uint32_t));
  reading.takeBytes(plan.devices, header.devices * sizeof(PlanDevice));
  for (const char* text :
       {plan.taskDirectory, plan.workPoint, plan.workDirectory, plan.root, plan.searchPath, plan.birthCgroup,
        plan.oomFile, plan.peakFile, plan.cpuFile, plan.leaseFile, plan.program}) {
    reading.take(text);
  }
  require(header.arguments > 0, "there is no command");
  reading.take(plan.arguments, header.arguments);
  reading.take(plan.variables, header.variables);
  require(plan.arguments[header.arguments] == nullptr && plan.variables[header.variables] == nullptr,
          "arguments or variables do not end");
  reading.take(plan.directories, header.directories);
  for (uint32_t i = 0; i < header.settings; ++i) {
    reading.take(plan.settings[i].file);
    reading.take(plan.settings[i].value);
  }
  reading.take(plan.joins, header.joins);
  reading.take(plan.outputJoins, header.outputJoins);
  reading.take(plan.devicePaths, header.devices);
  reading.take(plan.shares, header.shares);
  reading.take(plan.hidden, header.hidden);
}

std::vector<Bytes> seeds() {
  LaunchSpec spec;
  spec.allocation = 5;
  spec.command = {"prog", "", "two words"};
  spec.env = {{"PATH", "/opt/bin"}, {"A", "x=y"}};
  TaskSetting setting;
  setting.taskDirectory = "/data/tasks/5";
  setting.filter = "8 bytes.and more";
  setting.deviceFilter = "8 bytes.";
  setting.devices = {{"/dev/sdb", {true, 8, 16}, 0600, 0, 6}};
  setting.shares = {"/home", "/srv"};
  setting.hidden = {"/secret"};
  setting.cores = {1, 70};
  setting.pinByAffinity = true;
  setting.cgroups = {{"/m/5", "/p/5"}, {{"/m/5/limit", "10"}}, {"/m/5/tasks", "/p/5/tasks"}, "", "/m/5/oom"};
  const SystemUser user{"alice", 1000, 100, {100, 27}, "/home/alice", "/bin/sh"};
  return {inputOf(*encodePlan(spec, user, {})), inputOf(*encodePlan(spec, user, setting))};
}

// One of the header's numbers is another, or the texts behind it are.
Bytes mutatedInput(const Bytes& input, Rng& rng) {
  if (input.size() < sizeof(PlanHeader) || rng.below(4) == 0) return mutated(input, rng);
  Bytes changed = input;
  if (rng.below(2) == 0) {
    const size_t at = sizeof(uint32_t) * (1 + rng.below(sizeof(PlanHeader) / sizeof(uint32_t) - 1));
    uint32_t number = 0;
    std::memcpy(&number, &changed[at], sizeof number);
    number = rng.below(2) == 0 ? number + static_cast<uint32_t>(rng.below(5)) - 2
                               : static_cast<uint32_t>(oneOf(kEdgeIntegers, rng));
    std::memcpy(&changed[at], &number, sizeof number);
    return changed;
  }
  const auto text =
      static_cast<ptrdiff_t>(sizeof(PlanHeader) + rng.below(changed.size() - sizeof(PlanHeader) + 1));
  if (rng.below(2) == 0) {
    changed.insert(changed.begin() + text, 1 + rng.below(20), static_cast<uint8_t>(rng.below(2) * 'x'));
  } else {
    changed.erase(changed.begin() + text,
                  changed.begin() + text +
                      static_cast<ptrdiff_t>(rng.below(changed.size() - static_cast<size_t>(text) + 1)));
  }
  return changed;
}

}  // namespace

const Target kShimPlan = {"shim_plan", check, seeds, mutatedInput};

}  // namespace tarcil::fuzz
