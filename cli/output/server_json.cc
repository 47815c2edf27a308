#include "cli/output/server_json.h"

#include <algorithm>

#include "cli/output/render.h"
#include "cli/output/violation.h"

namespace tarcil {
namespace {

Json jsonOf(const ServerTask& task) {
  Json over = Json::array();
  for (size_t resource : task.over) over.push_back(kResourceNames[resource]);
  return {{"job", jsonJob(task.job)},
          {"number", jsonNumber(task.number)},
          {"task", task.task},
          {"rus", task.rus},
          {"extras", task.extras},
          {"caused", jsonByResource(task.caused)},
          {"charged", jsonByResource(task.charged)},
          {"measured", namesOf(task.measured)},
          {"tolerated", jsonByResource(task.tolerated)},
          {"over", std::move(over)},
          {"performance", task.performance ? Json{{"expected", task.performance->expected},
                                                  {"measured", task.performance->measured}}
                                           : Json()},
          {"throttled", task.throttle.isNone() ? Json()
                                               : Json{{"cpu", task.throttle.cpu},
                                                      {"disk", task.throttle.disk},
                                                      {"network", task.throttle.network},
                                                      {"cache_ways", task.throttle.cacheWays},
                                                      {"memory_bandwidth", task.throttle.memoryBandwidth}}}};
}

Json jsonOf(const Offence& offence) {
  const auto list = [&offence](const std::vector<const ServerTask*>& tasks) {
    Json json = Json::array();
    for (const ServerTask* task : tasks) {
      json.push_back(
          {{"job", jsonJob(task->job)}, {"task", task->task}, {"caused", task->charged[offence.resource]}});
    }
    return json;
  };
  return {{"resource", kResourceNames[offence.resource]},
          {"victims", list(offence.victims)},
          {"offenders", list(offence.offenders)}};
}

// What cannot be measured there is null: absent is not zero.
Json backgroundJson(const ServerDetails& server) {
  Json json = jsonByResource(server.status.background);
  for (const AbsentPressure& absent : server.absent) json[std::string(absent.resourceName())] = nullptr;
  return json;
}

Json absentJson(const std::vector<AbsentPressure>& absent) {
  Json json = Json::object();
  for (const AbsentPressure& one : absent) json[std::string(one.resourceName())] = one.reason;
  return json;
}

}  // namespace

std::vector<Offence> offencesOn(const ServerDetails& server) {
  std::vector<Offence> offences;
  for (size_t resource = 0; resource < kResources; ++resource) {
    Offence offence{resource, {}, {}};
    for (const ServerTask& task : server.tasks) {
      if (std::find(task.over.begin(), task.over.end(), resource) != task.over.end())
        offence.victims.push_back(&task);
      if (task.charged[resource] > 0) offence.offenders.push_back(&task);
    }
    if (offence.victims.empty()) continue;
    // What a task causes is interference for others only.
    if (offence.victims.size() == 1) std::erase(offence.offenders, offence.victims.front());
    std::stable_sort(offence.offenders.begin(), offence.offenders.end(),
                     [resource](const ServerTask* a, const ServerTask* b) {
                       return a->charged[resource] > b->charged[resource];
                     });
    offences.push_back(std::move(offence));
  }
  return offences;
}

Json jsonOf(const ServerDetails& server) {
  const ByteResources allocatable = byteSupplyOf(server.facts).allocatable;
  return {{"name", server.facts.name},
          {"platform", server.facts.platform},
          {"rack", server.facts.rack},
          {"attributes", server.facts.attributes},
          {"state", stateOf(server)},
          {"reason", server.reason.empty() ? Json() : Json(server.reason)},
          {"cordoned", server.status.cordoned},
          {"draining", server.draining},
          {"drain_deadline", jsonTime(server.drainAt)},
          {"quarantined_until", jsonTime(server.asideUntil)},
          {"refused_claims", server.refusedClaims},
          {"failed_launches", server.neverStarted},
          {"rus", server.facts.rus},
          {"free", server.status.free.size()},
          {"extras", jsonOfExtras(server.facts, server.status)},
          {"cores", server.facts.cores},
          {"memory_bytes", server.facts.memoryBytes},
          {"memory_allocatable_bytes", allocatable.memory},
          {"memory_allocated_bytes", server.status.allocated.memory},
          {"disk_allocatable_bytes", allocatable.disk},
          {"disk_allocated_bytes", server.status.allocated.disk},
          {"emulated", server.facts.emulated},
          {"address", server.facts.address},
          {"contention", jsonByResource(server.contention)},
          {"background", backgroundJson(server)},
          {"absent", absentJson(server.absent)},
          {"bucket", server.bucket ? Json(*server.bucket) : Json()},
          {"late_binding", server.pool},
          {"late_binding_caused", jsonByResource(server.poolCaused)},
          {"missing", server.facts.missing}};
}

Json jsonWithTasks(const ServerDetails& server) {
  Json json = jsonOf(server);
  json["tasks"] = Json::array();
  json["offences"] = Json::array();
  json["troubles"] = Json::array();
  for (const TaskViolation& violation : server.violations) json["troubles"].push_back(jsonOf(violation));
  for (const ServerTask& task : server.tasks) json["tasks"].push_back(jsonOf(task));
  for (const Offence& offence : offencesOn(server)) json["offences"].push_back(jsonOf(offence));
  return json;
}

}  // namespace tarcil
