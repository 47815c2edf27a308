#include "cli/output/server_details.h"

#include "schema/convert.h"
#include "schema/convert_performance.h"
#include "schema/convert_pressure.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

ServerTask readTask(wire::ServerDetails::Task::Reader from) {
  ServerTask task;
  task.job = readJobId(from.getJob());
  task.allocation = from.getAllocation();
  task.number = from.getJobNumber();
  task.task = from.getIndex();
  for (RuIndex ru : from.getRus()) task.rus.push_back(ru);
  task.extras = read(from.getExtras());
  task.caused = readPressure(from.getCaused());
  task.charged = from.hasCharged() ? readPressure(from.getCharged()) : task.caused;
  task.measured = readResources(from.getMeasured());
  task.tolerated = readPressure(from.getTolerated());
  for (size_t resource : from.getOver()) {
    if (resource < kResources) task.over.push_back(resource);
  }
  task.throttle = {from.getThrottledCpu(), from.getThrottledDisk(), from.getThrottledNetwork(),
                   from.getThrottledCacheWays(), from.getThrottledMemoryBandwidth()};
  if (from.hasPerformance()) task.performance = read(from.getPerformance());
  return task;
}

}  // namespace

ServerDetails readServerDetails(wire::ServerDetails::Reader from) {
  ServerDetails server;
  server.facts = read(from.getFacts());
  server.status = read(from.getStatus());
  server.contention = readPressure(from.getContention());
  server.reason = from.getReason().cStr();
  server.draining = from.getDraining();
  server.drainAt = wallTime(from.getDrainAt());
  server.asideUntil = wallTime(from.getAsideUntil());
  server.refusedClaims = from.getRefusedClaims();
  server.neverStarted = from.getNeverStarted();
  server.absent = read(from.getAbsent());
  for (const uint16_t ru : from.getPool()) server.pool.push_back(ru);
  if (from.getPoolCaused().size() > 0)
    server.poolCaused = convert::readArray<int32_t, kResources>(from.getPoolCaused(), "poolCaused");
  for (auto task : from.getTasks()) server.tasks.push_back(readTask(task));
  server.violations = read(from.getViolations());
  server.autoCordoned = from.getAutoCordoned();
  if (from.getBucket() >= 0) server.bucket = static_cast<uint32_t>(from.getBucket());
  return server;
}

std::string stateOf(const ServerDetails& server) {
  const bool isInUse = server.status.free.size() < server.facts.rus;
  if (!server.status.up) return "down";
  if (server.draining) return isInUse ? "draining" : "drained";
  if (server.status.quarantined) return "quarantined";
  if (server.autoCordoned) return "shielded";
  return server.status.cordoned ? "cordoned" : "up";
}

ServerList fetchServers(Cluster& cluster) {
  ServerList list;
  ServerId next = 0;
  do {
    auto answer = cluster.ask([next](Session& session) {
      auto request = session.user.serversRequest();
      request.setFirst(next);
      return request.send();
    });
    for (auto server : answer.getServers()) list.servers.push_back(readServerDetails(server));
    list.warning = answer.getWarning().cStr();
    next = answer.getNext();
  } while (next != 0);
  return list;
}

kj::Promise<ServerDetails> fetchServer(Client& client, const std::string& name) {
  return client
      .ask([name](Session& session) {
        auto request = session.user.serverRequest();
        request.setName(name.c_str());
        return request.send();
      })
      .then([](capnp::Response<wire::UserPort::ServerResults>&& answer) {
        return readServerDetails(answer.getServer());
      });
}

}  // namespace tarcil
