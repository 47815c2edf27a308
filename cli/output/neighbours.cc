#include "cli/output/neighbours.h"

#include <algorithm>
#include <map>

#include "cli/output/server_details.h"
#include "cli/settings.h"

namespace tarcil {
namespace {

// How many tasks the plan adds to each server that gets any.
std::map<ServerId, uint32_t> addedTasks(const JobPlan& plan) {
  std::map<ServerId, uint32_t> added;
  for (const Claim& claim : plan.claims) ++added[claim.server];
  return added;
}

std::vector<ServerDetails> fetchServers(Cluster& cluster, const std::vector<ServerName>& servers) {
  auto promises = kj::heapArrayBuilder<kj::Promise<ServerDetails>>(servers.size());
  for (const ServerName& server : servers) promises.add(fetchServer(cluster.client(), server.name));
  std::vector<ServerDetails> views;
  for (ServerDetails& view : cluster.wait(kj::joinPromises(promises.finish())))
    views.push_back(std::move(view));
  return views;
}

Neighbourhood neighbourhoodOf(const ServerDetails& server, const Platforms& platforms,
                              ContentionModel model) {
  Neighbourhood there{.tasks = {},
                      .background = server.status.background,
                      .model = model,
                      .rus = static_cast<int>(server.facts.rus)};
  if (const auto set = platforms.find(server.facts.platform); set != platforms.end())
    there.share = set->second;
  there.unlisted = server.poolCaused;
  for (const ServerTask& task : server.tasks) there.tasks.push_back({task.charged, task.tolerated});
  return there;
}

}  // namespace

std::vector<AffectedTask> neighboursOf(Cluster& cluster, const JobPlan& plan, const Profile& profile) {
  const std::map<ServerId, uint32_t> added = addedTasks(plan);
  std::vector<ServerName> claimed;
  std::copy_if(plan.servers.begin(), plan.servers.end(), std::back_inserter(claimed),
               [&added](const ServerName& server) { return added.contains(server.id); });
  std::vector<AffectedTask> all;
  if (claimed.empty()) return all;
  const ContentionModel model = fetchSettings(cluster).contention;
  const Platforms platforms = fetchPlatforms(cluster);
  const std::vector<ServerDetails> views = fetchServers(cluster, claimed);
  for (size_t i = 0; i < claimed.size(); ++i) {
    const Neighbourhood there = neighbourhoodOf(views[i], platforms, model);
    for (Impact& impact : impactOf(there, profile.caused, added.at(claimed[i].id))) {
      const ServerTask& task = views[i].tasks[impact.task];
      all.push_back({task.job, task.number, task.task, claimed[i].name, impact});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const AffectedTask& a, const AffectedTask& b) { return isWorse(a.impact, b.impact); });
  return all;
}

}  // namespace tarcil
