#include "cli/cluster_summary.h"

#include "cli/job_choice.h"
#include "cli/job_listing.h"
#include "cli/output/render.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// Jobs that are looked at, at most: an operator sees everybody's.
constexpr size_t kMaxJobs = 10'000;
constexpr auto kLately = std::chrono::hours(24);

Counts countAgents(Cluster& cluster) {
  Counts counts;
  cluster.askByName(
      [](Session& session, const char* after) {
        auto request = session.user.agentsRequest();
        request.setAfter(after);
        return request.send();
      },
      [&counts](const auto& answer) {
        for (auto agent : answer.getAgents()) ++counts[agent.getAttached() ? "attached" : "away"];
      });
  return counts;
}

uint32_t waitingJobs(Cluster& cluster) {
  return cluster
      .ask([](Session& session) {
        auto request = session.user.queueRequest();
        request.setLimit(1);
        return request.send();
      })
      .getWaiting();
}

Counts countJobs(Cluster& cluster, const JobFilter& filter) {
  Counts counts;
  JobListing listing(cluster, filter, kMaxJobs, std::nullopt);
  for (size_t left = kMaxJobs; left > 0; --left) {
    const auto entry = listing.next();
    if (!entry) break;
    ++counts[std::string(name(fromWire(entry->job.getState())))];
  }
  return counts;
}

}  // namespace

std::string countsText(const Counts& counts, const std::string& none) {
  std::string text;
  for (const auto& [word, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + word;
  return text.empty() ? none : text;
}

ClusterSummary fetchSummary(Cluster& cluster) {
  ClusterSummary summary{.servers = fetchServers(cluster)};
  for (const ServerDetails& server : summary.servers.servers) {
    ++summary.states[stateOf(server)];
    if (!server.status.up) continue;
    summary.units += server.facts.rus;
    if (!server.status.cordoned) summary.freeUnits += server.status.free.size();
  }
  summary.agents = countAgents(cluster);
  summary.waiting = waitingJobs(cluster);
  return summary;
}

Json jsonOf(const ClusterSummary& summary) {
  const std::string& warning = summary.servers.warning;
  return {{"servers", summary.states},       {"units", summary.units},
          {"free_units", summary.freeUnits}, {"agents", summary.agents},
          {"waiting", summary.waiting},      {"warning", warning.empty() ? Json() : Json(warning)}};
}

Fields fieldsOf(const ClusterSummary& summary) {
  const std::string units = std::to_string(summary.freeUnits) + " of " + std::to_string(summary.units) +
                            " free where servers take tasks";
  return {{"Servers", countsText(summary.states, "none")},
          {"Units", units},
          {"Agents", countsText(summary.agents, "none")},
          {"Queue", summary.waiting == 0 ? "empty" : counted(summary.waiting, "job") + " of all users"}};
}

ClusterStatus fetchStatus(Cluster& cluster, WallTime now) {
  return {.summary = fetchSummary(cluster),
          .unfinished = countJobs(cluster, {.states = {kUnfinished.begin(), kUnfinished.end()}}),
          .endedBadly = countJobs(
              cluster, {.states = {kEndedBadly.begin(), kEndedBadly.end()}, .since = now - kLately})};
}

Json jsonOf(const ClusterStatus& status) {
  Json json = jsonOf(status.summary);
  json["jobs"] = status.unfinished;
  json["ended_badly"] = status.endedBadly;
  return json;
}

}  // namespace tarcil
