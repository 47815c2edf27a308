#include "monitor/logic/emulated_truth.h"

#include <charconv>
#include <string_view>

#include "monitor/logic/overload.h"

namespace tarcil {
namespace {

// A task that finds a fifth too little of one resource takes about half as long again.
constexpr double kSteepness = 2;
constexpr double kBend = 0.5;

constexpr const char* kCaused = "TARCIL_EMULATE_CAUSED";
constexpr const char* kTolerated = "TARCIL_EMULATE_TOLERATED";
constexpr const char* kUsableCores = "TARCIL_EMULATE_CORES";

Error wrongVariable(const std::string& name, const std::string& value, const std::string& remedy) {
  return invalid(name + ": is '" + value + "'; write " + remedy);
}

// "llc=60,memory_bandwidth=84" over `pressure`.
Status parsePressures(const std::string& name, const std::string& text, Pressure& pressure) {
  const Error wrong =
      wrongVariable(name, text, "resources with pressures from 0 to 99, such as llc=60,core=20");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) return wrong;
    const auto resource = resourceNamed(item.substr(0, equals));
    const std::string_view digits = item.substr(equals + 1);
    unsigned value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (!resource || problem != std::errc() || end != digits.data() + digits.size() || value > kMaxPressure) {
      return wrong;
    }
    pressure[static_cast<size_t>(*resource)] = static_cast<uint8_t>(value);
  }
  return {};
}

}  // namespace

TrueNature natureOf(const Pressure& caused, const Pressure& tolerated) {
  TrueNature nature;
  for (size_t i = 0; i < kResources; ++i) {
    nature.pressure[i] = static_cast<double>(caused[i]) / kMaxPressure;
    nature.need[i] = static_cast<double>(kMaxPressure - tolerated[i]) / kMaxPressure;
  }
  return nature;
}

Result<TrueNature> natureOf(const LaunchSpec& spec) {
  Pressure caused = spec.caused, tolerated = spec.tolerated;
  double cores = 0;
  if (const auto found = spec.env.find(kCaused); found != spec.env.end()) {
    caused = {};
    if (auto parsed = parsePressures(kCaused, found->second, caused); !parsed) return parsed.error();
  }
  if (const auto found = spec.env.find(kTolerated); found != spec.env.end()) {
    tolerated.fill(kMaxPressure);
    if (auto parsed = parsePressures(kTolerated, found->second, tolerated); !parsed) return parsed.error();
  }
  if (const auto found = spec.env.find(kUsableCores); found != spec.env.end()) {
    const std::string& text = found->second;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), cores);
    const bool whole = problem == std::errc() && end == text.data() + text.size();
    if (!whole || !(cores > 0 && cores <= kMaxRusPerTask)) {
      return wrongVariable(kUsableCores, text, "a number above 0 and up to 4096");
    }
  }
  TrueNature nature = natureOf(caused, tolerated);
  nature.cores = cores;
  return nature;
}

double speedOf(const TrueNature& task, const std::array<double, kResources>& interference, const Share& share,
               size_t units) {
  double lost = 0;
  for (size_t i = 0; i < kResources; ++i) {
    if (share[i] == 0) continue;  // private to a unit: nobody shares it
    lost += timeLost(interference[i], task.need[i], static_cast<double>(kShareUnit) / share[i], kSteepness,
                     kBend);
  }
  const double part = task.cores > 0 ? std::min(1.0, static_cast<double>(units) / task.cores) : 1;
  return part / (1 + lost);
}

}  // namespace tarcil
