#include "cli/tarcild/profile_platforms.h"

#include <algorithm>
#include <cmath>

#include "cli/output/profile_yaml.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "formats/profile_file.h"

namespace tarcil {
namespace {

// Never 0: a profile has none.
double factorOf(const CompletedPlatform& platform) {
  return std::max(std::round(platform.performance * 1000), 1.0) / 1000;
}

const PlatformRun* runOn(const std::string& platform, std::span<const PlatformRun> runs) {
  const auto found = std::ranges::find(runs, platform, &PlatformRun::platform);
  return found == runs.end() ? nullptr : &*found;
}

std::string becauseOf(const CompletedPlatform& platform, const PlatformRun* run, const std::string& unit) {
  if (run == nullptr) return textOfPlatform(originOf(platform));
  return "measured on " + run->server + ": " + fixed(run->performance, 4) + " " + unit;
}

Json entryOf(const std::string& name, const CompletedPlatform& platform, const PlatformRun* run) {
  const bool isInferred = platform.origin == Origin::kInferred;
  Json entry = {{"platform", name},
                {"value", factorOf(platform)},
                {"origin", nameOf(platform.origin)},
                {"expected_error", isInferred ? Json(platform.expectedError) : Json()}};
  if (run != nullptr) {
    entry["server"] = run->server;
    entry["performance"] = run->performance;
  }
  return entry;
}

// The file with its origins written anew: they come last.
std::string withPlatforms(const std::string& yaml,
                          const std::map<std::string, CompletedPlatform>& platforms) {
  Profile profile = requireInput(parseProfile(yaml, "the profile"));
  std::string text = yaml.substr(0, std::min(yaml.find("\norigins:\n"), yaml.size() - 1) + 1);
  text += "platforms:\n";
  for (const auto& [name, platform] : platforms) {
    const EntryOrigin origin = originOf(platform);
    profile.platforms[name] = factorOf(platform);
    profile.origins.setPlatform(name, origin);
    text += "  " + Json(name).dump() + ": " + Json(factorOf(platform)).dump() + "  # " +
            textOfPlatform(origin) + "\n";
  }
  return text + originsYaml(profile);
}

}  // namespace

PlatformSpeeds speedsOf(std::span<const PlatformRun> runs) {
  PlatformSpeeds speeds;
  for (const PlatformRun& run : runs) speeds[run.platform] = run.performance;
  return speeds;
}

std::vector<PlatformSpeeds> speedsOn(const std::set<std::string>& platforms,
                                     std::span<const PartialProfile> known) {
  std::vector<PlatformSpeeds> all;
  for (const PartialProfile& application : known) {
    PlatformSpeeds speeds = application.platforms;
    std::erase_if(speeds, [&platforms](const auto& speed) { return !platforms.contains(speed.first); });
    all.push_back(std::move(speeds));
  }
  return all;
}

void addPlatforms(ProfileForms& forms, std::span<const PlatformRun> runs,
                  const std::map<std::string, CompletedPlatform>& platforms) {
  const std::string unit = forms.json["performance"]["unit"];
  Json factors = Json::object(), entries = Json::array();
  Table table({"Platform", "Performance", "Because"});
  for (const auto& [name, platform] : platforms) {
    const PlatformRun* const run = runOn(name, runs);
    factors[name] = factorOf(platform);
    entries.push_back(entryOf(name, platform, run));
    table.add({name, fixed(factorOf(platform), 3), becauseOf(platform, run, unit)});
  }
  forms.json["platforms"] = std::move(factors);
  forms.json["platform_entries"] = std::move(entries);
  if (platforms.size() < 2) return;
  forms.text += "\n" + table.text();
  forms.yaml = withPlatforms(forms.yaml, platforms);
}

}  // namespace tarcil
