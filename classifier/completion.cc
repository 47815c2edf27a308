#include "classifier/completion.h"

#include <algorithm>
#include <cmath>

namespace tarcil {
namespace {

// Columns: what is tolerated of each resource, then what is caused.
constexpr size_t kColumns = size_t{2} * kResources;

Entries pressures(const PartialProfile& profile) {
  Entries row(kColumns);
  for (size_t i = 0; i < kResources; ++i) {
    row[i] = profile.tolerated[i];
    row[kResources + i] = profile.caused[i];
  }
  return row;
}

ApplicationMatrix pressuresOf(std::span<const PartialProfile> known) {
  ApplicationMatrix matrix(kColumns, {0, kMaxPressure});
  for (const PartialProfile& profile : known) matrix.add(pressures(profile));
  return matrix;
}

std::vector<PlatformSpeeds> speedsOf(std::span<const PartialProfile> known) {
  std::vector<PlatformSpeeds> speeds;
  for (const PartialProfile& profile : known) speeds.push_back(profile.platforms);
  return speeds;
}

uint8_t asPressure(double value) {
  return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, long{kMaxPressure}));
}

EntryOrigin originOf(const CompletedEntry& entry) {
  const bool isInferred = entry.origin == Origin::kInferred;
  return {entry.origin, isInferred ? asPressure(entry.expectedError) : uint8_t{0}};
}

}  // namespace

PartialProfile measuredOf(const Profile& profile) {
  PartialProfile measured;
  measured.application = profile.application;
  for (size_t i = 0; i < kResources; ++i) {
    if (profile.origins.tolerated[i].origin == Origin::kMeasured)
      measured.tolerated[i] = profile.tolerated[i];
    if (profile.origins.caused[i].origin == Origin::kMeasured) measured.caused[i] = profile.caused[i];
  }
  for (const auto& [platform, performance] : profile.platforms) {
    const bool isMeasured = profile.origins.ofPlatform(platform).origin == Origin::kMeasured;
    if (isMeasured) measured.platforms[platform] = performance;
  }
  return measured;
}

ProfileCompleter::ProfileCompleter(std::span<const PartialProfile> known, const CompleterOptions& options)
    : pressures_(pressuresOf(known), options), platforms_(speedsOf(known), options) {}

CompletedProfile ProfileCompleter::complete(const PartialProfile& measured) const {
  const std::vector<CompletedEntry> row = pressures_.complete(pressures(measured));
  CompletedProfile completed;
  completed.knownApplications = pressures_.applications();
  completed.profile.application = measured.application;
  for (size_t i = 0; i < kResources; ++i) {
    const CompletedEntry& tolerated = row[i];
    const CompletedEntry& caused = row[kResources + i];
    completed.caused[i] = {caused.origin, caused.expectedError};
    completed.profile.origins.caused[i] = originOf(caused);
    completed.profile.caused[i] = asPressure(caused.value);
    completed.tolerated[i] = {tolerated.origin, tolerated.expectedError};
    completed.profile.origins.tolerated[i] = originOf(tolerated);
    completed.profile.tolerated[i] = tolerated.origin == Origin::kAssumed
                                         ? static_cast<uint8_t>(kMaxPressure - completed.profile.caused[i])
                                         : asPressure(tolerated.value);
  }
  completed.platforms = platforms_.complete(measured.platforms);
  for (const auto& [name, platform] : completed.platforms) {
    completed.profile.platforms[name] = platform.performance;
    completed.profile.origins.setPlatform(name, originOf(platform));
  }
  return completed;
}

std::vector<Resource> ProfileCompleter::mostTelling(size_t count) const {
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < kResources; ++i) groups.push_back({i, kResources + i});
  std::vector<Resource> resources;
  for (size_t i : pressures_.mostTelling(groups, count)) resources.push_back(static_cast<Resource>(i));
  return resources;
}

}  // namespace tarcil
