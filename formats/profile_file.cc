#include "formats/profile_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "core/base/text.h"

namespace tarcil {
namespace {

// Calls `read` for each resource that the mapping names.
void readResources(const YamlValue& value, const std::function<void(size_t index, const YamlValue&)>& read) {
  auto mapping = value.mapping();
  if (!mapping) return;
  for (const auto& [key, entry] : mapping->all()) {
    if (auto resource = resourceNamed(key)) {
      read(static_cast<size_t>(*resource), entry);
      continue;
    }
    const std::vector<std::string_view> names(kResourceNames.begin(), kResourceNames.end());
    entry.problem("unknown resource; " + didYouMean(key, names) + "write one of " + joined(names));
  }
}

using OriginsRow = std::array<EntryOrigin, kResources>;

// Overwrites the resources that the mapping names, as stated by whoever wrote it.
void readStated(const YamlValue& value, Pressure& pressure, OriginsRow& origins) {
  readResources(value, [&](size_t index, const YamlValue& entry) {
    assign(pressure[index], entry.integer(0, kMaxPressure));
    origins[index] = {Origin::kStated};
  });
}

// How far an entry may be off, in the files' unit and in that of EntryOrigin.
struct ErrorUnit {
  double most;
  double each;  // of EntryOrigin's
  const char* remedy;
};
constexpr ErrorUnit kPressureUnit = {kMaxPressure, 1, "+-N behind it where it may be off by N points"};
constexpr ErrorUnit kPlatformUnit = {
    0.99, 0.01, "+-X behind it where it may be off by X, as 0.05, of the best performance"};

// Nothing where the text is no number, or one out of range.
std::optional<uint8_t> errorIn(std::string_view text, const ErrorUnit& unit) {
  double error = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, error, std::chars_format::fixed);
  if (failure != std::errc() || stopped != end || !(error >= 0 && error <= unit.most)) return std::nullopt;
  return static_cast<uint8_t>(std::lround(error / unit.each));
}

// As textOf(EntryOrigin) and textOfPlatform(EntryOrigin) write it.
std::optional<EntryOrigin> originIn(const YamlValue& value, const ErrorUnit& unit) {
  constexpr std::string_view kError = " +-";
  const std::optional<std::string> text = value.text();
  if (!text) return std::nullopt;
  const size_t end = std::min(text->find(kError), text->size());
  const auto name = std::ranges::find(kOriginNames, std::string_view(*text).substr(0, end));
  std::optional<uint8_t> error = 0;
  if (end < text->size()) error = errorIn(std::string_view(*text).substr(end + kError.size()), unit);
  if (name != kOriginNames.end() && error) {
    return EntryOrigin{static_cast<Origin>(name - kOriginNames.begin()), *error};
  }
  const std::vector<std::string_view> names(kOriginNames.begin(), kOriginNames.end());
  value.refuse("write one of " + joined(names) + ", with " + unit.remedy);
  return std::nullopt;
}

void readPlatformOrigins(const YamlValue& value, Profile& profile) {
  auto mapping = value.mapping();
  if (!mapping) return;
  for (const auto& [name, entry] : mapping->all()) {
    if (!profile.platforms.contains(name)) {
      entry.problem(
          "the profile says nothing of this platform; write it under platforms too, or leave it out");
      continue;
    }
    if (const auto origin = originIn(entry, kPlatformUnit)) profile.origins.setPlatform(name, *origin);
  }
}

// Requires: the profile's platforms were read.
void readOrigins(const YamlValue& value, Profile& profile) {
  auto mapping = value.mapping();
  if (!mapping) return;
  const auto readRow = [](const YamlValue& row, OriginsRow& to) {
    readResources(row, [&to](size_t index, const YamlValue& entry) {
      assign(to[index], originIn(entry, kPressureUnit));
    });
  };
  if (auto caused = mapping->take("caused")) readRow(*caused, profile.origins.caused);
  if (auto tolerated = mapping->take("tolerated")) readRow(*tolerated, profile.origins.tolerated);
  if (auto platforms = mapping->take("platforms")) readPlatformOrigins(*platforms, profile);
  mapping->refuseOthers();
}

void readPlatforms(const YamlValue& value, std::map<std::string, double>& platforms) {
  auto mapping = value.mapping();
  if (!mapping) return;
  for (const auto& [name, entry] : mapping->all()) {
    if (name.empty() || characters(name) > kMaxNameCharacters) {
      entry.problem("the name of a platform has 1 to " + std::to_string(kMaxNameCharacters) +
                    " characters; shorten or write it");
    }
    assign(platforms[name], entry.number({0, 1, NumberRange::Ends::kMaxOnly}));
  }
}

Pressure pressureIn(const YamlValue& value) {
  Pressure pressure{};
  readResources(value, [&pressure](size_t index, const YamlValue& entry) {
    assign(pressure[index], entry.integer(0, kMaxPressure));
  });
  return pressure;
}

// Parses the text, then reads its root; the problems of either come back as one error.
template <typename T>
Result<T> parseWith(std::string_view text, const std::string& name, T (*read)(const YamlValue&)) {
  auto root = parseYaml(text, name);
  if (!root) return root.error();
  Problems problems(name);
  T value = read(YamlValue(*root, "", problems));
  if (!problems.none()) return problems.error();
  return value;
}

}  // namespace

Profile profileIn(const YamlValue& value) {
  Profile profile;
  auto mapping = value.mapping();
  if (!mapping) return profile;
  if (auto application = mapping->take("application")) {
    assign(profile.application, application->title(kMaxNameCharacters));
  }
  auto caused = mapping->take("caused");
  auto tolerated = mapping->take("tolerated");
  auto platforms = mapping->take("platforms");
  auto origins = mapping->take("origins");
  profile.origins = ProfileOrigins::all(Origin::kAssumed);
  if (caused) readStated(*caused, profile.caused, profile.origins.caused);
  profile.tolerated = toleratedFromCaused(profile.caused);
  if (tolerated) readStated(*tolerated, profile.tolerated, profile.origins.tolerated);
  if (platforms) readPlatforms(*platforms, profile.platforms);
  if (origins) readOrigins(*origins, profile);
  mapping->refuseOthers();
  if (!caused && !tolerated && !platforms) {
    value.problem("the profile says nothing; give caused, tolerated or platforms");
  }
  return profile;
}

Share shareIn(const YamlValue& value) {
  Share share = fullShare();
  readResources(value, [&share](size_t index, const YamlValue& entry) {
    auto factor = entry.number({0, kMaxShare});
    if (factor) share[index] = static_cast<uint16_t>(std::lround(*factor * kShareUnit));
  });
  return share;
}

Result<Profile> parseProfile(std::string_view text, const std::string& name) {
  return parseWith(text, name, &profileIn);
}

Result<Pressure> parsePressure(std::string_view text, const std::string& name) {
  return parseWith(text, name, &pressureIn);
}

Result<Share> parseShare(std::string_view text, const std::string& name) {
  return parseWith(text, name, &shareIn);
}

Result<Profile> readProfile(const std::string& path) {
  auto text = readTextFile(path, kMaxYamlBytes);
  if (!text) return text.error();
  return parseProfile(*text, path);
}

}  // namespace tarcil
