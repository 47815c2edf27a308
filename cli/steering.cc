#include "cli/steering.h"

#include <functional>

#include "cli/late_agents.h"
#include "cli/output/job_status.h"
#include "core/base/failure.h"
#include "core/base/units.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

void steerOne(Cluster& cluster, const FoundJob& job, wire::JobChange change, int priority,
              const std::string& shown) {
  auto asked = steerJob(cluster.client(), job.id, change, static_cast<uint8_t>(priority));
  if (cluster.wait(foundOrNothing(asked.then([]() { return true; })))) return;
  LateAgents agents(cluster);
  if (!agents.find(job.id)) throw agents.unknown(job.id);
  throw Failure(kExitFailed,
                "job " + shown +
                    " is bound late: it can be neither held, run again nor given another priority; "
                    "`tarcil job cancel` ends it");
}

// Why the cluster refuses a change of this job, where it may take the next one; nothing where it was made.
std::optional<std::string> refusalOf(const std::function<void()>& change) {
  try {
    change();
    return std::nullopt;
  } catch (const kj::Exception& exception) {
    const Error error = fromException(exception);
    if (error.code != ErrorCode::kConflict) throw;
    return error.message;
  }
}

// Why one of many is left as it is; nothing where it is not.
std::optional<std::string> reasonToLeave(const JobProgress& progress, wire::JobChange change, bool isNamed) {
  if (change == wire::JobChange::RERUN) return std::nullopt;
  if (isFinal(progress.state)) return "it is over";
  if (change != wire::JobChange::RELEASE || isNamed) return std::nullopt;
  if (!progress.held) return "it is not held";
  if (progress.heldForJobs) return "it starts after others; name it to have it start all the same";
  if (progress.heldUntil != kNever) return "it starts at its time; name it to have it start all the same";
  return std::nullopt;
}

}  // namespace

Steered steer(Cluster& cluster, const FoundJob& job, wire::JobChange change, int priority, bool isNamed,
              const Style& style) {
  const auto counts = cluster.wait(foundOrNothing(fetchCounts(cluster.client(), job.id)));
  Steered done{.entry = {{"id", toString(job.id)}, {"number", jsonNumber(job.number)}, {"changed", false}}};
  if (counts) done.left = reasonToLeave(counts->progress, change, isNamed);
  if (done.left) {
    if (isFinal(counts->progress.state)) done.over = counts->progress.state;
    done.entry["state"] = name(counts->progress.state);
    done.entry["reason"] = *done.left;
    return done;
  }
  done.refusal =
      refusalOf([&]() { steerOne(cluster, job, change, priority, style.job(job.number, job.id)); });
  if (done.refusal) {
    done.entry["reason"] = *done.refusal;
    return done;
  }
  done.entry["changed"] = true;
  if (change == wire::JobChange::PRIORITY) {
    done.entry["priority"] = priority;
  } else if (change != wire::JobChange::RERUN) {
    done.entry["held"] = change == wire::JobChange::HOLD;
  }
  return done;
}

RunState cancelJob(Cluster& cluster, const JobId& id) {
  auto asked = cluster.client().ask([&id](Session& session) {
    auto request = session.user.cancelRequest();
    request.setId(bytesOf(id));
    return request.send();
  });
  const auto before =
      cluster.wait(foundOrNothing(asked.then([](auto&& answer) { return fromWire(answer.getState()); })));
  if (before) return *before;
  LateAgents agents(cluster);
  if (const auto late = agents.cancel(id)) return *late;
  throw agents.unknown(id);
}

Json jsonOfCancelled(const FoundJob& job, RunState before) {
  return {{"id", toString(job.id)},
          {"number", jsonNumber(job.number)},
          {"cancelled", !isFinal(before)},
          {"state", name(before)}};
}

void steerServers(Cluster& cluster, const std::vector<std::string>& names, wire::ServerChange change,
                  Duration deadline) {
  cluster.ask([&names, change, deadline](Session& session) {
    auto request = session.user.steerServersRequest();
    auto to = request.initNames(static_cast<uint32_t>(names.size()));
    for (uint32_t i = 0; i < to.size(); ++i) to.set(i, names[i].c_str());
    request.setChange(change);
    request.setDeadline(static_cast<uint64_t>(deadline.count()));
    return request.send();
  });
}

Json jsonOfSteered(const std::vector<std::string>& names, const std::string& state) {
  Json json = Json::array();
  for (const std::string& name : names) json.push_back({{"name", name}, {"state", state}});
  return json;
}

Result<Duration> parseDeadline(const std::string& text) {
  return text.empty() ? Duration{} : parseDuration(text);
}

}  // namespace tarcil
