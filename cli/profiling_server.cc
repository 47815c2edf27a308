#include "cli/profiling_server.h"

#include <algorithm>
#include <tuple>

#include "cli/render.h"
#include "cli/text.h"
#include "core/model/constraint.h"

namespace tarcil {
namespace {

// Why no command that gets so many cores can be profiled there; empty where it can.
std::string whyNotOn(const ServerDetails& server, uint32_t cores) {
  const ServerFacts& facts = server.facts;
  if (facts.emulated) return "is emulated: its tasks are timers, and nothing can be measured there";
  if (std::min(facts.rus, facts.cores) <= cores) {
    return "has " + counted(std::min(facts.rus, facts.cores), "core") + ", and a command that gets " +
           std::to_string(cores) + " takes one more to press from";
  }
  if (!server.status.up) return "is down";
  if (server.status.cordoned || server.draining) {
    return "takes no new tasks" + (server.reason.empty() ? "" : ": " + server.reason);
  }
  return "";
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
    const bool isInUse = server.status.free.size() < server.facts.rus;
    return std::tuple(!whyNotOn(server, cores).empty(), isInUse, server.facts.rus, server.facts.name);
  };
  const ServerDetails& best = *std::ranges::min_element(servers, {}, rank);
  const std::string why = whyNotOn(best, cores);
  if (why.empty()) return &best;
  return notFound("no server can do it: " + best.facts.name + " " + why +
                  (servers.size() > 1 ? "; the others cannot either" : ""));
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
