#include "cli/output/render.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "cli/user_clock.h"
#include "core/base/units.h"
#include "core/state/caller.h"

namespace tarcil {
namespace {

constexpr size_t kShortId = 8;

template <typename Values, typename Convert>
Json byResource(const Values& values, Convert convert) {
  Json json = Json::object();
  for (size_t i = 0; i < kResources; ++i) json[std::string(kResourceNames[i])] = convert(values[i]);
  return json;
}

template <typename Number>
std::string rangesOf(const std::vector<Number>& numbers) {
  std::string text;
  for (size_t first = 0; first < numbers.size();) {
    size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text.append(text.empty() ? "" : ",").append(std::to_string(numbers[first]));
    if (last > first) text.append("-").append(std::to_string(numbers[last]));
    first = last + 1;
  }
  return text;
}

uint32_t freeOf(const ServerStatus& status, const std::string& kind) {
  const auto found = status.freeExtras.find(kind);
  return found == status.freeExtras.end() ? 0 : found->second.size();
}

}  // namespace

Json jsonTime(WallTime time) {
  if (time == kNever) return nullptr;
  return formatTime(time);
}

Json jsonByResource(const Pressure& pressure) {
  return byResource(pressure, [](uint8_t value) { return int{value}; });
}

Json jsonByResource(const PressureSum& sum) {
  return byResource(sum, [](int32_t value) { return value; });
}

Json jsonByResource(const Share& share) {
  return byResource(share, [](uint16_t value) { return value / double{kShareUnit}; });
}

Json namesOf(const ResourceSet& resources) {
  Json json = Json::array();
  for (size_t i = 0; i < kResources; ++i) {
    if (resources[i]) json.push_back(kResourceNames[i]);
  }
  return json;
}

Json jsonOfExtras(const ServerFacts& facts, const ServerStatus& status) {
  Json json = Json::object();
  for (const auto& [kind, total] : facts.extras)
    json[kind] = {{"total", total}, {"free", freeOf(status, kind)}};
  return json;
}

Json jsonNumber(JobNumber number) {
  return number > 0 ? Json(number) : Json();
}

Json jsonJob(const JobId& id) {
  return id == JobId{} ? Json() : Json(toString(id));
}

std::string Style::job(JobNumber number, const JobId& id) const {
  const std::string digits = verbose ? toString(id) : toString(id).substr(0, kShortId);
  if (number == 0) return "id:" + digits;
  return std::to_string(number) + (verbose ? " (id:" + digits + ")" : "");
}

std::string Style::task(JobNumber number, const JobId& id, TaskIndex task) const {
  if (id == JobId{}) return kSomebodysTask;
  return number > 0 ? std::to_string(number) + "." + std::to_string(task)
                    : job(number, id) + "/" + std::to_string(task);
}

std::string Style::time(WallTime time) const {
  return time == kNever ? "" : shown(time);
}

std::string Style::start(WallTime time) const {
  return time == kNever ? "not known yet" : shown(time);
}

std::string Style::shown(WallTime time) const {
  if (!verbose) return formatRelative(time, clock.now);
  return formatLocalTime(time, clock.zone ? *clock.zone : TimeZone());
}

Style styleFor(bool verbose) {
  return {verbose, userClock()};
}

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string ranges(const std::vector<RuIndex>& numbers) {
  return rangesOf(numbers);
}

std::string ranges(const std::vector<TaskIndex>& numbers) {
  return rangesOf(numbers);
}

std::string pressureText(const Pressure& pressure) {
  PressureSum sum{};
  std::copy(pressure.begin(), pressure.end(), sum.begin());
  return pressureText(sum);
}

std::string pressureText(const PressureSum& sum) {
  std::array<size_t, kResources> order{};
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&sum](size_t a, size_t b) { return sum[a] > sum[b]; });
  std::string text;
  for (size_t i : order) {
    if (sum[i] == 0) break;
    text.append(text.empty() ? "" : ", ").append(kResourceNames[i]).append(" " + std::to_string(sum[i]));
  }
  return text;
}

std::string extrasText(const ExtraNumbers& extras) {
  std::string text;
  for (const auto& [kind, numbers] : extras)
    text.append(text.empty() ? "" : ", ").append(kind + " " + rangesOf(numbers));
  return text;
}

std::string extrasText(const ServerFacts& facts, const ServerStatus& status) {
  std::string text;
  for (const auto& [kind, total] : facts.extras) {
    text.append(text.empty() ? "" : ", ")
        .append(kind + " " + std::to_string(freeOf(status, kind)) + " of " + std::to_string(total));
  }
  return text;
}

std::string counted(uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace tarcil
