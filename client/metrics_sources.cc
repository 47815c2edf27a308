#include "client/metrics_sources.h"

#include <filesystem>
#include <fstream>

#include "formats/json.h"
#include "formats/yaml_tree.h"
#include "rpc/address.h"

namespace tarcil {
namespace {

constexpr const char* kSourcesFile = "/run/metrics.json";
constexpr size_t kMaxBytes = 1u << 20;

Error malformedSources(const std::string& path) {
  return invalid(path + R"(: is not [{"role": text, "name": text, "address": address}, ...];)" +
                 " start the cluster again with `tarcil up`, or give --address");
}

std::string textIn(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Result<std::vector<MetricsSource>> readMetricsSources(const std::string& folder) {
  const std::string path = folder + kSourcesFile;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return Error{ErrorCode::kUnavailable,
                 "no cluster found: " + path +
                     " does not exist; start a cluster here with `tarcil up`, or give --address or --data"};
  }
  auto text = readTextFile(path, kMaxBytes);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_array()) return malformedSources(path);
  std::vector<MetricsSource> sources;
  for (const Json& entry : json) {
    if (!entry.is_object()) return malformedSources(path);
    MetricsSource source{textIn(entry, "role"), textIn(entry, "name"), textIn(entry, "address")};
    if (source.name.empty() || !checkAddress(source.address, AddressUse::kConnect))
      return malformedSources(path);
    sources.push_back(std::move(source));
  }
  return sources;
}

Status writeMetricsSources(const std::string& folder, const std::vector<MetricsSource>& sources) {
  const std::string path = folder + kSourcesFile;
  Json json = Json::array();
  for (const MetricsSource& source : sources) {
    json.push_back({{"role", source.role}, {"name", source.name}, {"address", source.address}});
  }
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  out.close();
  if (!out) return invalid(path + ": cannot be written");
  return {};
}

}  // namespace tarcil
