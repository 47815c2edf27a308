// tarcil platform: how much of a reference pressure arrives on each type of hardware (docs/design.md).
#include <charconv>
#include <cmath>
#include <set>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/server_details.h"
#include "cli/output/table.h"
#include "cli/settings.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "formats/profile_file.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct PlatformFlags {
  ContextFlags cluster;
  bool json = false;
  std::string name;
  std::vector<std::string> settings;
};

Json jsonOf(const std::string& name, const Share& share) {
  return {{"name", name}, {"share", jsonByResource(share)}};
}

// The resources of which not everything arrives, or more: "memory_bandwidth=0.5"; "1 everywhere" otherwise.
std::string shareText(const Share& share) {
  std::string text;
  for (size_t i = 0; i < kResources; ++i) {
    if (share[i] == kShareUnit) continue;
    text.append(text.empty() ? "" : ", ").append(kResourceNames[i]);
    text.append("=" + Json(share[i] / double{kShareUnit}).dump());
  }
  return text.empty() ? "1 everywhere" : text;
}

// "RESOURCE=FACTOR" laid over the share. Gives the resource.
Resource lay(const std::string& setting, Share& share) {
  const size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  const auto resource = resourceNamed(name);
  if (!resource) {
    const std::vector<std::string_view> names(kResourceNames.begin(), kResourceNames.end());
    throw badInput(shown(setting) + ": " + shown(name) + " is no resource; " + didYouMean(name, names) +
                   "write one of " + joined(names));
  }
  const std::string text = equals == std::string::npos ? "" : setting.substr(equals + 1);
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() || !(factor >= 0 && factor <= kMaxShare)) {
    throw badInput(shown(setting) + ": " + shown(text) + " is no share; write " + name +
                   "=NUMBER with a number from 0 to " + fixed(kMaxShare, 0) + ", such as " + name + "=0.5");
  }
  share[static_cast<size_t>(*resource)] = static_cast<uint16_t>(std::lround(factor * kShareUnit));
  return *resource;
}

// Everything that can be wrong, before anything is sent.
void check(const PlatformFlags& flags) {
  if (const Status good = checkName("NAME", flags.name); !good) throw badInput(good.error().message);
  Share unused = fullShare();
  std::set<Resource> named;
  for (const std::string& setting : flags.settings) {
    if (named.insert(lay(setting, unused)).second) continue;
    throw badInput(shown(setting) + ": its resource is named twice; write it once");
  }
}

int list(const PlatformFlags& flags) {
  Cluster cluster(flags.cluster);
  Json json = Json::array();
  Table table({"Name", "Share"});
  Platforms platforms = fetchPlatforms(cluster);
  if (platforms.empty())
    say("no shares are set: all pressure arrives everywhere; see `tarcil platform set --help`");
  for (const ServerDetails& server : fetchServers(cluster).servers)
    platforms.try_emplace(server.facts.platform, fullShare());
  for (const auto& [name, share] : platforms) {
    json.push_back(jsonOf(name, share));
    table.add({name, shareText(share)});
  }
  if (flags.json) {
    printJson(json);
  } else {
    print(table.empty() ? "" : table.text());
  }
  return kExitDone;
}

int set(const PlatformFlags& flags) {
  check(flags);
  Cluster cluster(flags.cluster);
  const Platforms platforms = fetchPlatforms(cluster);
  const auto known = platforms.find(flags.name);
  Share share = known == platforms.end() ? fullShare() : known->second;
  for (const std::string& setting : flags.settings) lay(setting, share);
  cluster.ask([&flags, &share](Session& session) {
    auto request = session.user.setPlatformRequest();
    write(flags.name, share, request.initPlatform());
    return request.send();
  });
  if (flags.json) {
    printJson(jsonOf(flags.name, share));
  } else {
    print(aligned({{"Name", flags.name}, {"Share", shareText(share)}}));
  }
  return kExitDone;
}

void addPlatformList(CLI::App& platform) {
  addCommand(platform, "list",
             {"platform list [OPTIONS]", "List platforms and their shares.",
              "Every platform of a server, or for which shares were set, with the shares that are not 1.",
              "  tarcil platform list --json\n", ""},
             [](CLI::App& command) {
               auto flags = std::make_shared<PlatformFlags>();
               addJsonFlag(command, flags->json);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return list(*flags); });
             });
}

void addPlatformSet(CLI::App& platform) {
  addCommand(
      platform, "set",
      {"platform set [OPTIONS] NAME RESOURCE=SHARE...", "Set shares of a platform.",
       "Sets the share of each resource named; the others stay as they are. Takes effect with the next "
       "decision; needs a token with the role operate.\n\n"
       "Resources: core, l1i, l1d, l2, llc, memory_bandwidth, memory_capacity, tlb, disk_bandwidth, "
       "network_bandwidth.",
       "  tarcil platform set haswell-2.3 memory_bandwidth=0.5 llc=1\n", ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<PlatformFlags>();
        command.add_option("NAME", flags->name, "The platform's name, as servers register it.")->required();
        command.add_option("RESOURCE=SHARE", flags->settings, "Shares, 0 to 4.")->required();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return set(*flags); });
      });
}

}  // namespace

void addPlatform(CLI::App& app) {
  addGroup(
      app, "platform",
      {"platform COMMAND ...", "Show and set how platforms bear pressure.",
       "A platform is a type of hardware. Profiles are measured on a reference server; the share of a "
       "platform says, for each resource, how much of that pressure arrives there: 1 all of it (the "
       "default), 0.5 where the server has twice as much of the resource, 0 where the resource is private "
       "to a resource unit.",
       "  tarcil platform list\n"
       "  tarcil platform set haswell-2.3 memory_bandwidth=0.5 llc=1\n",
       ""},
      [](CLI::App& platform) {
        addPlatformList(platform);
        addPlatformSet(platform);
      });
}

}  // namespace tarcil
