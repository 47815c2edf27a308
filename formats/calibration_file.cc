#include "formats/calibration_file.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/yaml_tree.h"

namespace tarcil {
namespace {

constexpr int kFormat = 1;

// Digits beyond these are noise.
double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

Json jsonOf(const std::vector<DialPoint>& points) {
  Json json = Json::array();
  for (const DialPoint& point : points) {
    json.push_back({{"intensity", point.intensity}, {"value", rounded(point.value)}});
  }
  return json;
}

std::vector<DialPoint> pointsIn(const Json& json) {
  std::vector<DialPoint> points;
  for (const Json& point : json) points.push_back({point.at("intensity"), point.at("value")});
  return points;
}

template <typename T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <typename T>
std::optional<T> unlessNull(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

Calibration calibrationIn(const Json& json) {
  Calibration calibration;
  if (json.at("format") != kFormat) throw std::runtime_error("it has another format");
  calibration.platform = json.at("platform");
  calibration.processor = json.at("processor");
  calibration.cores = json.at("cores");
  calibration.hasSiblings = json.at("siblings");
  calibration.llcBytesSaid = json.at("llc_bytes_said");
  calibration.llcBytes = json.at("llc_bytes");
  for (size_t i = 0; i < kResources; ++i) {
    const std::string name(kResourceNames[i]);
    const Json& from = json.at("resources").at(name);
    calibration.resources[i] = {
        unlessNull<std::string>(from.at("absent")), from.at("peak"), pointsIn(from.at("reached")),
        // Of an older program: at the intensity itself.
        pointsIn(from.value("settings", Json::array())), unlessNull<std::string>(from.at("not_measurable")),
        pointsIn(from.at("lost"))};
    for (size_t j = 0; j < kResources; ++j) {
      const Json& cell = json.at("cross_talk").at(name).at(std::string(kResourceNames[j]));
      calibration.crossTalk[i][j] = unlessNull<double>(cell);
    }
  }
  return calibration;
}

}  // namespace

std::string calibrationPath(const std::string& dataFolder, const std::string& platform) {
  return dataFolder + "/calibration/" + platform + ".json";
}

Json jsonOf(const Calibration& calibration) {
  Json resources = Json::object(), crossTalk = Json::object();
  for (size_t i = 0; i < kResources; ++i) {
    const ResourceCalibration& from = calibration.resources[i];
    const std::string name(kResourceNames[i]);
    const auto error = worstError(from);
    resources[name] = {{"absent", orNull(from.absent)},
                       {"peak", from.peak},
                       {"reached", jsonOf(from.reached)},
                       {"settings", jsonOf(from.settings)},
                       {"worst_error", error ? Json(rounded(*error)) : Json()},
                       {"within_5_points", error ? Json(*error <= kMaxDialError) : Json()},
                       {"not_measurable", orNull(from.notContended)},
                       {"lost", jsonOf(from.lost)}};
    for (size_t j = 0; j < kResources; ++j) {
      const auto& cell = calibration.crossTalk[i][j];
      crossTalk[name][std::string(kResourceNames[j])] = cell ? Json(rounded(*cell)) : Json();
    }
  }
  return {{"format", kFormat},
          {"platform", calibration.platform},
          {"processor", calibration.processor},
          {"cores", calibration.cores},
          {"siblings", calibration.hasSiblings},
          {"llc_bytes_said", calibration.llcBytesSaid},
          {"llc_bytes", calibration.llcBytes},
          {"resources", std::move(resources)},
          {"cross_talk", std::move(crossTalk)}};
}

Result<Calibration> parseCalibration(const std::string& text, const std::string& name) {
  try {
    return calibrationIn(Json::parse(text));
  } catch (const std::exception& error) {
    return invalid(name + ": is no calibration (" + error.what() +
                   "); make it with `tarcil profile calibrate`");
  }
}

Result<Calibration> readCalibration(const std::string& path) {
  if (!std::filesystem::exists(path)) return notFound(path + ": there is no such file");
  auto text = readTextFile(path, kMaxYamlBytes);
  if (!text) return text.error();
  return parseCalibration(*text, path);
}

Status writeCalibration(const std::string& path, const Calibration& calibration) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string next = path + ".new";
  std::ofstream out(next, std::ios::binary | std::ios::trunc);
  out << jsonOf(calibration).dump(2) << '\n';
  out.close();
  if (!out || std::rename(next.c_str(), path.c_str()) != 0) {
    return invalid(path + ": cannot be written: " + std::strerror(errno));
  }
  return {};
}

}  // namespace tarcil
