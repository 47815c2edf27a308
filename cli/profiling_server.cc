#include "cli/profiling_server.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/output/render.h"
#include "core/base/text.h"
#include "core/model/constraint.h"

namespace tarcil {
namespace {

// As many as a task can have to itself.
uint32_t coresOf(const ServerFacts& facts) {
  return std::min(facts.rus, facts.cores);
}

// Why no command can be measured there, however small; empty where it can.
std::string whyNoneOn(const ServerDetails& server) {
  if (server.facts.emulated) return "is emulated: its tasks are timers, and nothing can be measured there";
  if (!server.status.up) return "is down";
  if (server.status.cordoned || server.draining) {
    return "takes no new tasks" + (server.reason.empty() ? "" : ": " + server.reason);
  }
  return "";
}

// Why no command that gets so many cores can be profiled there; empty where it can.
std::string whyNotOn(const ServerDetails& server, uint32_t cores) {
  const ServerFacts& facts = server.facts;
  if (!facts.emulated && coresOf(facts) <= cores) {
    return "has " + counted(coresOf(facts), "core") + ", and a command that gets " + std::to_string(cores) +
           " takes one more to press from";
  }
  return whyNoneOn(server);
}

// The less the better: servers that are free, then small ones.
auto rankOf(const ServerDetails& server) {
  const bool isInUse = server.status.free.size() < server.facts.rus;
  return std::tuple(isInUse, server.facts.rus, server.facts.name);
}

Result<const ServerDetails*> named(const std::vector<ServerDetails>& servers, const std::string& name,
                                   uint32_t cores) {
  const auto found = std::ranges::find(servers, name, [](const auto& server) { return server.facts.name; });
  if (found == servers.end()) {
    return notFound("--server: there is no server " + shown(name) +
                    "; `tarcil server list` shows those there are");
  }
  const std::string why = whyNotOn(*found, cores);
  if (!why.empty()) return invalid("--server: " + name + " " + why + "; name another one");
  return &*found;
}

}  // namespace

Result<const ServerDetails*> serverToProfileOn(const std::vector<ServerDetails>& servers,
                                               const std::string& name, uint32_t cores) {
  if (!name.empty()) return named(servers, name, cores);
  if (servers.empty()) return notFound("no server has registered yet; start one with `tarcil serve monitor`");
  const auto rank = [cores](const ServerDetails& server) {
    return std::tuple(!whyNotOn(server, cores).empty(), rankOf(server));
  };
  const ServerDetails& best = *std::ranges::min_element(servers, {}, rank);
  const std::string why = whyNotOn(best, cores);
  if (why.empty()) return &best;
  return notFound("no server can do it: " + best.facts.name + " " + why +
                  (servers.size() > 1 ? "; the others cannot either" : ""));
}

std::vector<const ServerDetails*> serversOfOtherPlatforms(const std::vector<ServerDetails>& servers,
                                                          const std::string& platform,
                                                          const std::string& reference, uint32_t cores,
                                                          size_t count) {
  struct Candidates {
    size_t count = 0;
    const ServerDetails* best = nullptr;
  };
  std::map<std::string, Candidates> platforms;
  for (const ServerDetails& server : servers) {
    const bool can = whyNoneOn(server).empty() && coresOf(server.facts) >= cores;
    if (!can || server.facts.platform == platform) continue;
    Candidates& candidates = platforms[server.facts.platform];
    ++candidates.count;
    if (candidates.best == nullptr || rankOf(server) < rankOf(*candidates.best)) candidates.best = &server;
  }
  std::vector<const ServerDetails*> chosen;
  for (const auto& [name, candidates] : platforms) chosen.push_back(candidates.best);
  std::ranges::stable_sort(chosen, {}, [&](const ServerDetails* server) {
    const std::string& name = server->facts.platform;
    return std::tuple(name != reference, -static_cast<ptrdiff_t>(platforms.at(name).count));
  });
  chosen.resize(std::min(chosen.size(), count));
  return chosen;
}

Result<LikeServers> serversToProfileOn(const std::vector<ServerDetails>& servers, uint32_t cores) {
  const auto best = serverToProfileOn(servers, "", cores);
  if (!best) return best.error();
  LikeServers alike{.rus = (*best)->facts.rus, .names = {(*best)->facts.name}};
  for (const ServerDetails& server : servers) {
    if (alike.names.size() == kMaxConstraintValues) break;
    const bool isLike = &server != *best && server.facts.rus == alike.rus && whyNotOn(server, cores).empty();
    if (isLike) alike.names.push_back(server.facts.name);
  }
  return alike;
}

}  // namespace tarcil
