#include "formats/performance_field.h"

#include <charconv>

namespace tarcil {
namespace {

using namespace std::chrono_literals;

constexpr double kMaxTarget = 1e18;
constexpr Duration kMinWindow = 100ms;
constexpr Duration kMaxWindow = 24h;

// "10%" or 0.1.
std::optional<double> deviationIn(const YamlValue& value) {
  const auto text = value.text();
  if (!text) return std::nullopt;
  std::string_view digits = *text;
  const bool isPercent = digits.ends_with('%');
  if (isPercent) digits.remove_suffix(1);
  double number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (isPercent) number /= 100;
  const bool isNumber = problem == std::errc() && end == digits.data() + digits.size();
  if (!isNumber || !(number > 0 && number < 1)) {
    value.refuse("write a share above 0% and below 100%, for example 10%");
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<PerformanceGoal> performanceIn(const YamlValue& value) {
  auto mapping = value.mapping();
  if (!mapping) return std::nullopt;
  PerformanceGoal goal;
  if (auto metric = mapping->take("metric")) {
    const auto choice = metric->oneOf({"instructions", "reported", "cpu"});
    if (choice == "instructions") goal.metric = Metric::kInstructions;
    if (choice == "cpu") goal.metric = Metric::kCpuTime;
  } else {
    value.problem("metric is missing; write metric: instructions, reported or cpu");
  }
  if (auto target = mapping->take("target")) {
    assign(goal.target, target->number({0, kMaxTarget, NumberRange::Ends::kMaxOnly}));
  }
  if (auto deviation = mapping->take("deviation")) assign(goal.deviation, deviationIn(*deviation));
  if (auto window = mapping->take("window")) {
    assign(goal.window, window->duration(kMinWindow, kMaxWindow));
  }
  mapping->refuseOthers();
  return goal;
}

}  // namespace tarcil
