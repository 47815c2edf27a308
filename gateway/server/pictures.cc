#include "gateway/server/pictures.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/job_listing.h"
#include "cli/output/job_status.h"
#include "cli/output/render.h"
#include "cli/output/server_details.h"
#include "cli/settings.h"
#include "cli/stored_profiles.h"
#include "core/model/performance.h"
#include "core/model/residents.h"
#include "core/model/sharing.h"
#include "gateway/logic/contention.h"
#include "gateway/logic/interference.h"
#include "schema/convert.h"

namespace tarcil::gateway {
namespace {

constexpr size_t kMaxRunningJobs = 500;
constexpr size_t kMaxDisturbedServers = 100;

// --- Servers by resources ---

ServerPressures pressuresOf(const ServerDetails& server, const Platforms& platforms) {
  const auto share = platforms.find(server.facts.platform);
  ServerPressures pressures{
      .name = server.facts.name,
      .platform = server.facts.platform,
      .rack = server.facts.rack,
      .bucket = server.bucket ? std::to_string(*server.bucket) : "",
      .state = stateOf(server),
      .units = server.facts.rus,
      .freeUnits = static_cast<uint32_t>(server.status.free.size()),
      .slack = slackOf(server.status.bound, server.status.sum,
                       share == platforms.end() ? fullShare() : share->second, server.status.background),
      .contention = server.contention};
  for (const AbsentPressure& absent : server.absent)
    pressures.absent.set(static_cast<size_t>(absent.resource));
  return pressures;
}

RowsBy rowsByOf(const std::string& by) {
  if (by == "platform") return RowsBy::kPlatform;
  if (by == "bucket") return RowsBy::kBucket;
  return by == "rack" ? RowsBy::kRack : RowsBy::kServer;
}

Json jsonOf(const ContentionRow& row) {
  Json slack = Json::object(), at = Json::object(), notMeasured = Json::object();
  for (size_t i = 0; i < kResources; ++i) {
    const std::string resource(kResourceNames[i]);
    slack[resource] = row.slack[i] ? Json(*row.slack[i]) : Json();
    at[resource] = row.at[i].empty() ? Json() : Json(row.at[i]);
    if (row.notMeasured[i] > 0) notMeasured[resource] = row.notMeasured[i];
  }
  return {{"name", row.name},
          {"platform", row.platform.empty() ? Json() : Json(row.platform)},
          {"rack", row.rack.empty() ? Json() : Json(row.rack)},
          {"bucket", row.bucket.empty() ? Json() : Json(row.bucket)},
          {"servers", row.servers},
          {"states", row.states},
          {"units", row.units},
          {"free_units", row.freeUnits},
          {"slack", std::move(slack)},
          {"at", std::move(at)},
          {"contention", jsonByResource(row.contention)},
          {"not_measured", std::move(notMeasured)}};
}

// --- Jobs that run ---

struct RunningJob {
  std::string application;  // empty for a job of none
  Profile profile;
  uint32_t tasks = 0;
  uint32_t rusPerTask = 1;
};

std::map<JobId, RunningJob> runningJobs(Cluster& cluster) {
  std::vector<JobId> ids;
  std::map<JobId, uint32_t> active;
  JobListing listing(cluster, {.states = {RunState::kRunning}}, kMaxRunningJobs, std::nullopt);
  while (ids.size() < kMaxRunningJobs) {
    const auto entry = listing.next();
    if (!entry) break;
    if (entry->isLate) continue;
    ids.push_back(readJobId(entry->job.getId()));
    active[ids.back()] = entry->job.getActive();
  }
  auto promises = kj::heapArrayBuilder<kj::Promise<std::optional<JobRecord>>>(ids.size());
  for (const JobId& id : ids) promises.add(foundOrNothing(fetchRecord(cluster.client(), id)));
  std::map<JobId, RunningJob> jobs;
  for (const auto& job : cluster.wait(kj::joinPromises(promises.finish()))) {
    if (!job) continue;
    const Profile& profile = job->spec.profile;
    jobs[job->id] = {profile.application, profile, active[job->id], job->spec.rusPerTask};
  }
  return jobs;
}

// --- Applications by applications ---

struct Disturbed {
  std::vector<Observation> observations;
  std::map<std::string, uint32_t> violations{};  // by application
};

// Which of the jobs fall short, and beside whom.
Disturbed lookAt(Cluster& cluster, const std::vector<ServerDetails>& servers,
                 const std::map<JobId, RunningJob>& jobs) {
  Disturbed disturbed;
  std::vector<std::string> names;
  for (const ServerDetails& server : servers) {
    if (!server.violations.empty() && names.size() < kMaxDisturbedServers) names.push_back(server.facts.name);
  }
  auto promises = kj::heapArrayBuilder<kj::Promise<std::optional<ServerDetails>>>(names.size());
  for (const std::string& name : names) promises.add(foundOrNothing(fetchServer(cluster.client(), name)));
  for (const auto& server : cluster.wait(kj::joinPromises(promises.finish()))) {
    if (!server) continue;
    std::map<AllocationId, JobId> holders;
    for (const ServerTask& task : server->tasks) holders[task.allocation] = task.job;
    for (const TaskViolation& violation : server->violations) {
      const auto job = jobs.find(violation.job);
      if (job == jobs.end() || job->second.application.empty()) continue;
      ++disturbed.violations[job->second.application];
      if (violation.violation.causes.empty()) continue;
      const Cause& cause = violation.violation.causes.front();
      const auto holder = holders.find(cause.neighbour);
      const auto beside = holder == holders.end() ? jobs.end() : jobs.find(holder->second);
      if (cause.kind != Cause::Kind::kNeighbour || beside == jobs.end()) continue;
      disturbed.observations.push_back(
          {job->second.application, beside->second.application, partOfExpected(violation.violation)});
    }
  }
  return disturbed;
}

Json jsonOf(const Application& application) {
  return {{"name", application.profile.application},
          {"tasks", application.tasks},
          {"violations", application.violations},
          {"source", application.isStored ? "stored" : "running"}};
}

Json jsonOf(const Pair& pair, const std::vector<Application>& applications) {
  const auto name = [&applications](size_t place) { return applications[place].profile.application; };
  return {{"application", name(pair.application)},
          {"beside", name(pair.beside)},
          {"s", pair.predicted.satisfaction},
          {"slack", pair.predicted.slack},
          {"resource", kResourceNames[pair.predicted.resource]},
          {"observed", pair.performance
                           ? Json{{"violations", pair.violations}, {"performance", *pair.performance}}
                           : Json()}};
}

}  // namespace

Json contentionPicture(Cluster& cluster, const Arguments& arguments) {
  const Platforms platforms = fetchPlatforms(cluster);
  std::vector<ServerPressures> servers;
  for (const ServerDetails& server : fetchServers(cluster).servers) {
    if (arguments.has("platform") && server.facts.platform != arguments.text("platform")) continue;
    if (arguments.has("rack") && server.facts.rack != arguments.text("rack")) continue;
    ServerPressures pressures = pressuresOf(server, platforms);
    if (arguments.has("bucket") && pressures.bucket != arguments.text("bucket")) continue;
    servers.push_back(std::move(pressures));
  }
  const auto limit = static_cast<size_t>(arguments.whole("limit"));
  Json rows = Json::array(), next;
  for (const ContentionRow& row : contentionRows(servers, rowsByOf(arguments.text("by")))) {
    if (arguments.has("after") && row.name <= arguments.text("after")) continue;
    if (rows.size() == limit) {
      next = rows.back().at("name");
      break;
    }
    rows.push_back(jsonOf(row));
  }
  return {{"by", arguments.text("by")},
          {"resources", kResourceNames},
          {"next", std::move(next)},
          {"rows", std::move(rows)}};
}

Json interferencePicture(Cluster& cluster, const Arguments& arguments) {
  const std::map<JobId, RunningJob> jobs = runningJobs(cluster);
  const Disturbed disturbed = lookAt(cluster, fetchServers(cluster).servers, jobs);
  std::map<std::string, Application> known;
  for (const auto& [id, job] : jobs) {
    if (job.application.empty()) continue;
    Application& application = known[job.application];
    application.profile = job.profile;
    application.tasks += job.tasks;
  }
  for (const StoredProfile& stored : keptProfiles(cluster).stored) {
    Application& application = known[stored.profile.application];
    application.profile = stored.profile;
    application.isStored = true;
  }
  std::vector<Application> applications;
  for (auto& [name, application] : known) {
    if (const auto count = disturbed.violations.find(name); count != disturbed.violations.end())
      application.violations = count->second;
    applications.push_back(std::move(application));
  }
  std::ranges::stable_sort(applications, std::ranges::greater{}, &Application::tasks);
  if (const auto limit = static_cast<size_t>(arguments.whole("limit")); applications.size() > limit)
    applications.resize(limit);
  Json list = Json::array(), pairs = Json::array();
  for (const Application& application : applications) list.push_back(jsonOf(application));
  const QualitySettings settings = fetchSettings(cluster);
  for (const Pair& pair :
       pairsOf(applications, disturbed.observations, {settings.model, settings.contention}))
    pairs.push_back(jsonOf(pair, applications));
  return {{"applications", std::move(list)}, {"pairs", std::move(pairs)}};
}

Json sharingPicture(Cluster& cluster) {
  std::vector<uint32_t> units;
  std::set<std::pair<JobId, TaskIndex>> degraded;
  for (const ServerDetails& server : fetchServers(cluster).servers) {
    units.push_back(server.facts.rus);
    for (const TaskViolation& violation : server.violations) degraded.insert({violation.job, violation.task});
  }
  const std::map<JobId, RunningJob> jobs = runningJobs(cluster);
  std::erase_if(degraded, [&jobs](const auto& task) { return !jobs.contains(task.first); });
  std::vector<RunningTasks> running;
  uint64_t tasks = 0;
  for (const auto& [id, job] : jobs) {
    running.push_back({job.tasks, job.rusPerTask});
    tasks += job.tasks;
  }
  return {{"tasks", tasks},
          {"degraded", degraded.size()},
          {"units_used", unitsUsed(running)},
          {"units_alone", unitsAlone(running, std::max<uint32_t>(1, usualUnits(std::move(units))))}};
}

}  // namespace tarcil::gateway
