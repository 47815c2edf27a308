#include "cli/tarcild/cluster_calibration.h"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "cli/foreground_job.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/server_details.h"
#include "cli/output/table.h"
#include "cli/profiler_task.h"
#include "cli/profiling_server.h"
#include "cli/settings.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "formats/calibration_file.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// Failure where a signal cancelled it; nothing, with a warning, where it fails otherwise.
std::optional<CalibratedServer> calibrateOn(Cluster& cluster, const ServerFacts& server, uint32_t seconds) {
  say("platform " + server.platform + ": calibrating " + server.name + ", with all of its " +
      counted(server.rus, "unit"));
  const JobSpec spec = profilerJob("calibration", server,
                                   {"calibrate", "--json", "--data=.", "--output=calibration.json",
                                    "--platform=" + server.platform, "--seconds=" + std::to_string(seconds)});
  std::string output, why = "nothing was measured on " + server.name;
  int code = kExitFailed;
  auto failure = kj::runCatchingExceptions(
      [&]() { code = ForegroundJob(cluster, spec, {.files = {}, .output = &output}).run(); });
  KJ_IF_MAYBE (exception, failure) {
    why = fromException(*exception).message;
  }
  if (code == kExitSignal + SIGINT || code == kExitSignal + SIGTERM) {
    throw Failure(code, "cancelled: no shares are set");
  }
  if (code == 0) {
    auto calibration = parseCalibration(output, "what the profiler on " + server.name + " said");
    if (calibration) return CalibratedServer{std::move(*calibration), server.memoryBytes};
    why = calibration.error().message;
  }
  sayWarning("platform " + server.platform + " is left out: " + why);
  return std::nullopt;
}

std::string referenceAmong(const std::set<std::string>& platforms, const std::string& asked) {
  if (platforms.contains(asked)) return asked;
  const std::string names = joined(platforms);
  if (!asked.empty()) {
    throw badInput("--reference: no server has the platform " + shown(asked) +
                   (platforms.empty() ? "" : "; write one of " + names));
  }
  if (platforms.size() == 1) return *platforms.begin();
  if (platforms.empty()) {
    throw Failure(kExitFailed, "no server has registered yet; start one with `tarcil serve monitor`");
  }
  throw badInput(
      "--reference: the cluster has several platforms; write the one that profiles are measured on: " +
      names);
}

}  // namespace

ClusterCalibration calibrateCluster(Cluster& cluster, const std::string& reference, uint32_t seconds) {
  const std::vector<ServerDetails> servers = fetchServers(cluster).servers;
  std::set<std::string> platforms;
  for (const ServerDetails& server : servers) platforms.insert(server.facts.platform);
  ClusterCalibration found{.reference = referenceAmong(platforms, reference), .platforms = {}};
  const auto chosen = serversOfOtherPlatforms(servers, "", found.reference, 1, platforms.size());
  for (const ServerDetails* server : chosen) platforms.erase(server->facts.platform);
  if (platforms.contains(found.reference)) {
    throw Failure(kExitFailed,
                  "no server of the platform " + found.reference +
                      " can do it: they are down, cordoned or emulated; see `tarcil server list`");
  }
  for (const std::string& platform : platforms) {
    sayWarning("platform " + platform + " is left out: its servers are down, cordoned or emulated");
  }
  std::optional<CalibratedServer> compared;
  for (const ServerDetails* server : chosen) {
    auto measured = calibrateOn(cluster, server->facts, seconds);
    if (!compared && !measured) {
      throw Failure(kExitFailed, "the reference could not be measured: no shares are set");
    }
    if (!compared) compared = measured;
    if (measured) {
      found.platforms.push_back({server->facts.platform, server->facts.name, sharesOf(*measured, *compared)});
    }
  }
  std::sort(found.platforms.begin() + 1, found.platforms.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

void setShares(Cluster& cluster, const ClusterCalibration& calibration) {
  const Platforms platforms = fetchPlatforms(cluster);
  for (const ClusterCalibration::Platform& each : calibration.platforms) {
    const auto known = platforms.find(each.name);
    Share share = known == platforms.end() ? fullShare() : known->second;
    for (size_t i = 0; i < kResources; ++i) {
      if (const auto& measured = each.shares[i].share) {
        share[i] = static_cast<uint16_t>(std::lround(*measured * kShareUnit));
      }
    }
    cluster.ask([&](Session& session) {
      auto request = session.user.setPlatformRequest();
      write(each.name, share, request.initPlatform());
      return request.send();
    });
  }
}

Json jsonOf(const ClusterCalibration& calibration) {
  Json platforms = Json::array();
  for (const ClusterCalibration::Platform& each : calibration.platforms) {
    Json shares = Json::object(), because = Json::object();
    for (size_t i = 0; i < kResources; ++i) {
      const std::string resource(kResourceNames[i]);
      shares[resource] = each.shares[i].share ? Json(*each.shares[i].share) : Json();
      because[resource] = each.shares[i].because;
    }
    platforms.push_back({{"name", each.name},
                         {"server", each.server},
                         {"share", std::move(shares)},
                         {"because", std::move(because)}});
  }
  return {{"reference", calibration.reference}, {"platforms", std::move(platforms)}};
}

std::string textOf(const ClusterCalibration& calibration) {
  Table table({"Platform", "Resource", "Share", "Because"});
  for (const ClusterCalibration::Platform& each : calibration.platforms) {
    for (size_t i = 0; i < kResources; ++i) {
      const MeasuredShare& share = each.shares[i];
      table.add({i == 0 ? each.name : "", std::string(kResourceNames[i]),
                 share.share ? fixed(*share.share, 2) : "as it is", share.because});
    }
  }
  return table.text();
}

}  // namespace tarcil
