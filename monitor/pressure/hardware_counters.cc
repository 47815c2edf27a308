#include "monitor/pressure/hardware_counters.h"

namespace tarcil {
namespace {

// On every core, or nothing: a counter that misses cores would be too low without anybody knowing. The last
// reason where none of the events is there.
Result<std::map<size_t, ScaledCount>> openFirst(PerfSource& source, const EventChoice& choice,
                                                const std::vector<uint32_t>& cores) {
  Error reason = notFound("no cores");
  for (const HardwareEvent& event : choice.events) {
    std::map<size_t, ScaledCount> opened;
    for (const uint32_t core : cores) {
      const auto number = source.open(event, core);
      if (!number) {
        reason = number.error();
        break;
      }
      opened.emplace(*number, ScaledCount());
    }
    if (!cores.empty() && opened.size() == cores.size()) return opened;
  }
  return reason;
}

}  // namespace

Result<HardwareCounters> HardwareCounters::open(std::unique_ptr<PerfSource> source,
                                                const std::vector<uint32_t>& cores) {
  HardwareCounters counters;
  bool works = false;
  std::string reason;
  for (const EventChoice& choice : hardwareEvents()) {
    const bool basic =
        choice.counter == &HardwareCounts::cycles || choice.counter == &HardwareCounts::instructions;
    auto opened = openFirst(*source, choice, cores);
    if (opened) {
      works |= basic;
      counters.counted_.push_back({choice.counter, std::move(*opened)});
    } else if (basic) {
      reason = opened.error().message;
      if (!works && choice.counter == &HardwareCounts::instructions) break;
    }
  }
  if (!works) return notFound("hardware counters cannot be read: " + reason);
  counters.source_ = std::move(source);
  return counters;
}

HardwareCounts HardwareCounters::read() {
  HardwareCounts counts;
  for (Counted& one : counted_) {
    std::optional<double>& sum = counts.*one.counter;
    for (auto& [number, scaled] : one.events) {
      if (const auto raw = source_->read(number)) scaled.take(*raw);
      if (scaled.known()) sum = sum.value_or(0) + scaled.total();
    }
  }
  return counts;
}

}  // namespace tarcil
