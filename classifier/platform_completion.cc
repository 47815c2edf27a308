#include "classifier/platform_completion.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace tarcil {
namespace {

constexpr ValueRange kLogRatios = {-4, 4};

// In order of the columns.
Entries logRatios(const PlatformSpeeds& speeds, double reference, const std::vector<std::string>& columns) {
  Entries row;
  for (const std::string& column : columns) {
    const auto it = speeds.find(column);
    row.push_back(it == speeds.end() ? std::nullopt : std::optional(std::log2(it->second / reference)));
  }
  return row;
}

std::string mostMeasured(std::span<const PlatformSpeeds> known) {
  std::map<std::string, size_t> counts;
  for (const PlatformSpeeds& speeds : known) {
    for (const auto& [platform, speed] : speeds) {
      assert(speed > 0 && std::isfinite(speed));
      ++counts[platform];
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::string() : most->first;
}

// Relative to the best of them.
void normalise(std::map<std::string, CompletedPlatform>& platforms) {
  double best = 0;
  for (const auto& [name, platform] : platforms) best = std::max(best, platform.performance);
  for (auto& [name, platform] : platforms) {
    platform.performance /= best;
    platform.expectedError /= best;
  }
}

}  // namespace

EntryOrigin originOf(const CompletedPlatform& platform) {
  const double hundredths = std::min(platform.expectedError * 100, 99.0);
  return {platform.origin, static_cast<uint8_t>(std::lround(hundredths))};
}

PlatformCompleter::PlatformCompleter(std::span<const PlatformSpeeds> known, const CompleterOptions& options)
    : reference_(mostMeasured(known)) {
  std::map<std::string, size_t> names;
  for (const PlatformSpeeds& speeds : known) {
    if (!speeds.contains(reference_)) continue;
    for (const auto& [platform, speed] : speeds) ++names[platform];
  }
  names.erase(reference_);
  for (const auto& [platform, count] : names) others_.push_back(platform);
  if (others_.empty()) return;
  ApplicationMatrix matrix(others_.size(), kLogRatios);
  for (const PlatformSpeeds& speeds : known) {
    const auto it = speeds.find(reference_);
    if (it != speeds.end()) matrix.add(logRatios(speeds, it->second, others_));
  }
  ratios_.emplace(std::move(matrix), options);
}

std::map<std::string, CompletedPlatform> PlatformCompleter::complete(const PlatformSpeeds& measured) const {
  std::map<std::string, CompletedPlatform> platforms;
  for (const auto& [platform, speed] : measured) {
    assert(speed > 0 && std::isfinite(speed));
    platforms[platform] = {Origin::kMeasured, speed, 0};
  }
  const auto it = measured.find(reference_);
  if (ratios_ && (measured.empty() || it != measured.end())) {
    const double reference = measured.empty() ? 1 : it->second;
    if (measured.empty()) platforms[reference_] = {Origin::kInferred, 1, 0};
    const std::vector<CompletedEntry> row = ratios_->complete(logRatios(measured, reference, others_));
    for (size_t c = 0; c < row.size(); ++c) {
      if (row[c].origin != Origin::kInferred) continue;
      const double speed = reference * std::exp2(row[c].value);
      platforms[others_[c]] = {Origin::kInferred, speed, speed * (std::exp2(row[c].expectedError) - 1)};
    }
  }
  normalise(platforms);
  return platforms;
}

}  // namespace tarcil
