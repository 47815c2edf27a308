#include "cli/known_applications.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "formats/json.h"
#include "formats/yaml_reader.h"

namespace tarcil {
namespace {

using Measured = std::array<std::optional<uint8_t>, kResources>;

void readMeasured(const YamlValue& value, Measured& measured) {
  const auto mapping = value.mapping();
  if (!mapping) return;
  for (const auto& [key, entry] : mapping->all()) {
    if (const auto resource = resourceNamed(key)) {
      const auto pressure = entry.integer(0, kMaxPressure);
      if (pressure) measured[static_cast<size_t>(*resource)] = static_cast<uint8_t>(*pressure);
      continue;
    }
    const std::vector<std::string_view> names(kResourceNames.begin(), kResourceNames.end());
    entry.problem("unknown resource; " + didYouMean(key, names) + "write one of " + joined(names));
  }
}

PartialProfile applicationIn(const YamlValue& value) {
  PartialProfile profile;
  auto mapping = value.mapping();
  if (!mapping) return profile;
  if (auto name = mapping->take("application")) {
    assign(profile.application, name->title(kMaxNameCharacters));
  } else {
    value.problem("has no name; write application: NAME");
  }
  if (auto tolerated = mapping->take("tolerated")) readMeasured(*tolerated, profile.tolerated);
  if (auto caused = mapping->take("caused")) readMeasured(*caused, profile.caused);
  if (auto platforms = mapping->take("platforms")) {
    if (const auto speeds = platforms->mapping()) {
      for (const auto& [name, speed] : speeds->all()) {
        const auto number = speed.number({0, 1e18, NumberRange::Ends::kMaxOnly});
        if (number) profile.platforms[name] = *number;
      }
    }
  }
  mapping->refuseOthers();
  return profile;
}

Json byResource(const Measured& measured) {
  Json json = Json::object();
  for (size_t i = 0; i < kResources; ++i) {
    if (measured[i]) json[kResourceNames[i]] = *measured[i];
  }
  return json;
}

bool saysNothing(const PartialProfile& profile) {
  const auto isMissing = [](const auto& entry) { return !entry; };
  return std::ranges::all_of(profile.tolerated, isMissing) &&
         std::ranges::all_of(profile.caused, isMissing) && profile.platforms.empty();
}

}  // namespace

Result<std::vector<PartialProfile>> parseApplications(std::string_view text, const std::string& name) {
  auto root = parseYaml(text, name);
  if (!root) return root.error();
  Problems problems(name);
  std::vector<PartialProfile> applications;
  auto mapping = YamlValue(*root, "", problems).mapping();
  if (mapping) {
    const auto listed = mapping->take("applications");
    const auto list = listed ? listed->list() : std::nullopt;
    if (!listed) problems.add(root->place, "applications", "is missing; write a list of profiles");
    for (const YamlValue& entry : list.value_or(std::vector<YamlValue>())) {
      applications.push_back(applicationIn(entry));
    }
    mapping->refuseOthers();
  }
  if (!problems.none()) return problems.error();
  return applications;
}

std::string yamlOf(const std::vector<PartialProfile>& applications) {
  std::string text = "applications:\n";
  for (const PartialProfile& application : applications) {
    // JSON is YAML, too.
    text += "  - " +
            Json{{"application", application.application},
                 {"caused", byResource(application.caused)},
                 {"tolerated", byResource(application.tolerated)},
                 {"platforms", application.platforms}}
                .dump() +
            "\n";
  }
  return applications.empty() ? "applications: []\n" : text;
}

std::vector<PartialProfile> knownApplications(std::vector<StoredProfile> kept, const std::string& except) {
  std::ranges::stable_sort(kept, std::greater<>(), &StoredProfile::stored);
  std::vector<PartialProfile> ours;
  for (const StoredProfile& profile : kept) {
    if (ours.size() == kMaxKept) break;
    if (profile.profile.application == except) continue;
    PartialProfile measured = measuredOf(profile.profile);
    if (!saysNothing(measured)) ours.push_back(std::move(measured));
  }
  std::vector<PartialProfile> known =
      requireInput(parseApplications(shippedApplications(), "known applications"));
  std::erase_if(known, [&ours](const PartialProfile& shipped) {
    return std::ranges::find(ours, shipped.application, &PartialProfile::application) != ours.end();
  });
  known.insert(known.end(), ours.begin(), ours.end());
  return known;
}

Result<std::vector<PartialProfile>> readApplications(const std::string& path) {
  auto text = readTextFile(path, kMaxYamlBytes);
  if (!text) return text.error();
  return parseApplications(*text, path);
}

}  // namespace tarcil
