#include "formats/servers_file.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/base/names.h"
#include "core/base/text.h"
#include "core/state/server_check.h"
#include "formats/extras_field.h"
#include "formats/profile_file.h"
#include "formats/yaml_reader.h"

namespace tarcil {
namespace {

constexpr std::string_view kNumber = "{n}";
constexpr std::string_view kRackNumber = "{rack}";
constexpr std::string_view kDefaultPlatform = "emulated";
constexpr uint64_t kMemoryPerRu = 4ull << 30;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string replaced(std::string text, std::string_view placeholder, uint32_t number) {
  const std::string digits = std::to_string(number);
  for (size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + digits.size())) {
    text.replace(at, placeholder.size(), digits);
  }
  return text;
}

// A plain name, apart from the placeholder. Names end up in paths, tables and constraints.
std::optional<std::string> plainName(const YamlValue& value, std::string_view placeholder) {
  auto text = value.text();
  if (!text) return std::nullopt;
  const bool isShort = text->size() <= kMaxNameCharacters;  // before work that grows with its square
  if (isShort && isPlainName(placeholder.empty() ? *text : replaced(*text, placeholder, kMaxEmulatedServers),
                             kMaxNameCharacters))
    return text;
  std::string remedy = "write letters, digits, dots, dashes or underscores";
  if (!placeholder.empty()) remedy.append(", and ").append(placeholder).append(" for a number");
  value.refuse(remedy);
  return std::nullopt;
}

// Servers that differ in name and rack only.
struct Group {
  EmulatedServer pattern;
  uint32_t count = 1;
  uint32_t serversPerRack = 0;  // 0: the rack has no number
};

class ServersReader {
 public:
  EmulatedServers read(YamlMapping root, const YamlValue& rootValue) {
    auto servers = root.take("servers");
    auto platforms = root.take("platforms");
    if (servers) {
      readGroups(*servers);
    } else {
      rootValue.problem("servers are missing; write for example servers: [{name: s1, rus: 8}]");
    }
    if (platforms) readPlatforms(*platforms);
    root.refuseOthers();
    return std::move(result_);
  }

 private:
  void readGroups(const YamlValue& servers) {
    auto groups = servers.list();
    if (!groups) return;
    if (groups->empty()) servers.problem("is an empty list; write at least one server");
    for (const YamlValue& value : *groups) {
      auto group = readGroup(value);
      if (!group) continue;
      serverCount_ += group->count;
      ruCount_ += uint64_t{group->count} * group->pattern.rus;
      if (serverCount_ > kMaxEmulatedServers) {
        return value.problem("the file has more than " + std::to_string(kMaxEmulatedServers) +
                             " servers; lower count");
      }
      if (ruCount_ > kMaxEmulatedRus) {
        return value.problem("the servers have more than " + std::to_string(kMaxEmulatedRus) +
                             " resource units in all; lower count or rus");
      }
      expand(value, *group);
    }
  }

  // Nothing where the group has no usable name or size.
  std::optional<Group> readGroup(const YamlValue& value) {
    auto mapping = value.mapping();
    if (!mapping) return std::nullopt;
    Group group;
    auto name = mapping->take("name");
    auto rus = mapping->take("rus");
    if (!name) value.problem("name is missing; write one for each server, or with {n} in it for a group");
    if (!rus) value.problem("rus is missing; write the number of resource units of each server");
    if (auto count = mapping->take("count")) assign(group.count, count->integer(1, kMaxEmulatedServers));
    if (name) readName(*name, group);
    if (rus) assign(group.pattern.rus, rus->integer(1, kMaxRusPerServer));
    group.pattern.platform = kDefaultPlatform;
    if (auto platform = mapping->take("platform")) assign(group.pattern.platform, plainName(*platform, ""));
    readRack(*mapping, group);
    group.pattern.memoryBytes = kMemoryPerRu * group.pattern.rus;
    if (auto memory = mapping->take("memory")) assign(group.pattern.memoryBytes, memory->positiveSize());
    if (auto disk = mapping->take("disk")) assign(group.pattern.diskBytes, disk->positiveSize());
    if (auto attributes = mapping->take("attributes")) readAttributes(*attributes, group.pattern.attributes);
    if (auto extras = mapping->take("extras")) group.pattern.extras = extrasIn(*extras);
    mapping->refuseOthers();
    if (group.pattern.name.empty() || group.pattern.rus == 0) return std::nullopt;
    return group;
  }

  static void readName(const YamlValue& value, Group& group) {
    auto name = plainName(value, kNumber);
    if (!name) return;
    if (group.count > 1 && !contains(*name, kNumber)) {
      return value.refuse("put {n} into the name of " + std::to_string(group.count) +
                          " servers, as in server-{n}");
    }
    group.pattern.name = std::move(*name);
  }

  static void readRack(YamlMapping& mapping, Group& group) {
    auto rack = mapping.take("rack");
    auto perRack = mapping.take("servers_per_rack");
    if (rack) assign(group.pattern.rack, plainName(*rack, kRackNumber));
    if (perRack) assign(group.serversPerRack, perRack->integer(1, kMaxEmulatedServers));
    const bool isNumbered = contains(group.pattern.rack, kRackNumber);
    if (isNumbered && !perRack) rack->refuse("add servers_per_rack, the number of servers in each rack");
    if (perRack && !isNumbered)
      perRack->problem("needs a rack with {rack} in its name, as in rack: r{rack}; add it");
  }

  static void readAttributes(const YamlValue& value, std::map<std::string, std::string>& attributes) {
    auto mapping = value.mapping();
    if (!mapping) return;
    for (const auto& [key, entry] : mapping->all()) {
      auto text = entry.title(kMaxNameCharacters);
      if (key == "platform" || key == "rack" || key == "server") {
        entry.problem("is an attribute that every server has; write it as a field of the server");
      } else if (!isPlainName(key, kMaxNameCharacters)) {
        entry.problem("an attribute's name has letters, digits, dots, dashes or underscores; rename it");
      } else if (text) {
        attributes[key] = std::move(*text);
      }
    }
    if (attributes.size() > kMaxOwnAttributes) {
      value.problem("has " + std::to_string(attributes.size()) + " attributes; write at most " +
                    std::to_string(kMaxOwnAttributes));
    }
  }

  void expand(const YamlValue& value, const Group& group) {
    for (uint32_t n = 1; n <= group.count; ++n) {
      EmulatedServer server = group.pattern;
      server.name = replaced(std::move(server.name), kNumber, n);
      if (group.serversPerRack > 0) {
        server.rack = replaced(std::move(server.rack), kRackNumber, (n - 1) / group.serversPerRack + 1);
      }
      if (!names_.insert(server.name).second) {
        return value.problem("a second server has the name " + shown(server.name) + "; choose another");
      }
      result_.servers.push_back(std::move(server));
    }
  }

  void readPlatforms(const YamlValue& value) {
    auto mapping = value.mapping();
    if (!mapping) return;
    std::set<std::string_view> used;
    for (const EmulatedServer& server : result_.servers) used.insert(server.platform);
    for (const auto& [name, shares] : mapping->all()) {
      if (!used.contains(name)) {
        const std::vector<std::string_view> names(used.begin(), used.end());
        shares.problem("no server has this platform; " + didYouMean(name, names) + "remove it");
      }
      result_.platforms[name] = shareIn(shares);
    }
  }

  EmulatedServers result_;
  std::set<std::string> names_;
  uint64_t serverCount_ = 0;
  uint64_t ruCount_ = 0;
};

}  // namespace

Result<EmulatedServers> parseServers(std::string_view text, const std::string& name) {
  auto root = parseYaml(text, name);
  if (!root) return root.error();
  Problems problems(name);
  const YamlValue rootValue(*root, "", problems);
  auto mapping = rootValue.mapping();
  if (!mapping) return problems.error();
  EmulatedServers servers = ServersReader().read(std::move(*mapping), rootValue);
  if (!problems.none()) return problems.error();
  return servers;
}

Result<EmulatedServers> readServersFile(const std::string& path) {
  auto text = readTextFile(path, kMaxYamlBytes);
  if (!text) return text.error();
  return parseServers(*text, path);
}

}  // namespace tarcil
