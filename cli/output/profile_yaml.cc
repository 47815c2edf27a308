#include "cli/output/profile_yaml.h"

#include <functional>

#include "cli/output/render.h"
#include "formats/json.h"

namespace tarcil {
namespace {

using TextOfEntry = std::function<std::string(size_t index)>;

// "{llc: 60, tlb: 5}" of the entries of which there is something to say.
std::string mappingOf(const TextOfEntry& textOfEntry) {
  std::string text;
  for (size_t i = 0; i < kResources; ++i) {
    const std::string entry = textOfEntry(i);
    if (entry.empty()) continue;
    text += (text.empty() ? "" : ", ") + std::string(kResourceNames[i]) + ": " + entry;
  }
  return "{" + text + "}";
}

// What a reader takes for granted is left out.
bool isSaid(uint8_t value, Origin origin, uint8_t otherwise) {
  return origin != Origin::kAssumed || value != otherwise;
}

bool isCausedSaid(const Profile& profile, size_t i) {
  return isSaid(profile.caused[i], profile.origins.caused[i].origin, 0);
}

bool isToleratedSaid(const Profile& profile, size_t i) {
  return isSaid(profile.tolerated[i], profile.origins.tolerated[i].origin,
                toleratedFromCaused(profile.caused)[i]);
}

std::string originUnlessStated(const EntryOrigin& entry) {
  return entry == EntryOrigin() ? "" : textOf(entry);
}

std::string platformOrigins(const ProfileOrigins& origins) {
  std::string text;
  for (const auto& [name, entry] : origins.platforms) {
    text += (text.empty() ? "" : ", ") + Json(name).dump() + ": " + textOfPlatform(entry);
  }
  return text.empty() ? "" : "  platforms: {" + text + "}\n";
}

}  // namespace

std::string textOf(const EntryOrigin& entry) {
  return std::string(nameOf(entry.origin)) + (entry.error == 0 ? "" : " +-" + std::to_string(entry.error));
}

std::string textOfPlatform(const EntryOrigin& entry) {
  return std::string(nameOf(entry.origin)) + (entry.error == 0 ? "" : " +-" + fixed(entry.error / 100.0, 2));
}

std::string originsYaml(const Profile& profile) {
  const ProfileOrigins& origins = profile.origins;
  const std::string caused = mappingOf(
      [&](size_t i) { return isCausedSaid(profile, i) ? originUnlessStated(origins.caused[i]) : ""; });
  const std::string tolerated = mappingOf(
      [&](size_t i) { return isToleratedSaid(profile, i) ? originUnlessStated(origins.tolerated[i]) : ""; });
  const std::string platforms = platformOrigins(origins);
  if (caused == "{}" && tolerated == "{}" && platforms.empty()) return "";
  return "origins:\n  caused: " + caused + "\n  tolerated: " + tolerated + "\n" + platforms;
}

std::string yamlOf(const Profile& profile) {
  std::string text;
  if (!profile.application.empty()) text += "application: " + Json(profile.application).dump() + "\n";
  text += "caused: " + mappingOf([&profile](size_t i) {
            return isCausedSaid(profile, i) ? std::to_string(profile.caused[i]) : "";
          }) +
          "\n";
  text += "tolerated: " + mappingOf([&profile](size_t i) {
            return isToleratedSaid(profile, i) ? std::to_string(profile.tolerated[i]) : "";
          }) +
          "\n";
  if (!profile.platforms.empty()) text += "platforms: " + Json(profile.platforms).dump() + "\n";
  return text + originsYaml(profile);
}

}  // namespace tarcil
