#include "cli/foreseen.h"

#include <algorithm>

#include "cli/after.h"
#include "cli/output/render.h"
#include "cli/submission.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// Candidates in a plan's JSON, over the entries of all tasks: each entry holds its share of the best ones,
// and at least the very best.
constexpr size_t kCandidatesInJson = 5'000;

AfterOutlook fetchOutlook(Cluster& cluster, const JobSpec& spec) {
  if (spec.after.empty() && spec.secrets.empty()) return {};
  JobSpec asked;
  asked.tasks = spec.tasks;
  asked.after = spec.after;
  asked.secrets = spec.secrets;
  asked.profile.application = spec.profile.application;
  auto answer = cluster.ask([&asked](Session& session) {
    auto request = session.user.foreseeAfterRequest();
    write(asked, request.initSpec());
    return request.send();
  });
  return {answer.getCancelled(), convert::text(answer.getReason())};
}

JobPlan fetchPlan(Cluster& cluster, const JobSpec& spec, uint64_t seed) {
  auto answer = cluster.ask([&spec, seed](Session& session) {
    auto request = session.agent.planRequest();
    write(spec, request.initSpec());
    request.setSeed(seed);
    return request.send();
  });
  return read(answer.getPlan());
}

Json jsonOf(const PressureSum& slack) {
  Json json = Json::object();
  for (size_t i = 0; i < slack.size(); ++i) {
    json[std::string(kResourceNames[i])] = slack[i] == kNoResident ? Json() : Json(slack[i]);
  }
  return json;
}

Json jsonOf(const AffectedTask& neighbour) {
  return {{"job", jsonJob(neighbour.job)},
          {"number", jsonNumber(neighbour.number)},
          {"task", neighbour.task},
          {"server", neighbour.server},
          {"s_before", neighbour.impact.satisfactionBefore},
          {"s_after", neighbour.impact.satisfactionAfter},
          {"slack_before", jsonOf(neighbour.impact.before)},
          {"slack_after", jsonOf(neighbour.impact.after)}};
}

}  // namespace

Foreseen foresee(Cluster& cluster, const std::string& file, JobFile job, uint64_t seed) {
  addStoredProfile(cluster, file, job);
  findAfter(cluster, file, job);
  Foreseen all{.spec = std::move(job.spec), .plan = {}, .servers = {}, .neighbours = {}, .outlook = {}};
  all.outlook = fetchOutlook(cluster, all.spec);
  all.plan = fetchPlan(cluster, all.spec, seed);
  for (const ServerName& server : all.plan.servers) all.servers[server.id] = server;
  all.neighbours = neighboursOf(cluster, all.plan, all.spec.profile);
  return all;
}

Json jsonOf(const Foreseen& all) {
  const JobPlan& plan = all.plan;
  const size_t candidates =
      std::clamp<size_t>(kCandidatesInJson / all.spec.tasks, 1, JobPlan::kMaxCandidates);
  const Json decision = jsonOf(plan.explanation, all.spec.profile, all.servers, candidates);
  Json entries = Json::array();
  for (TaskIndex i = 0; i < all.spec.tasks; ++i) {
    Json entry = {{"task", i}};
    entry.update(decision);
    entry["chosen"] = nullptr;
    entries.push_back(std::move(entry));
  }
  for (const Claim& claim : plan.claims) {
    entries.at(claim.task)["chosen"] =
        jsonOfChosen(serverIn(all.servers, claim.server).name, claim.preferred, claim.q, claim.s);
  }
  Json neighbours = Json::array();
  for (const AffectedTask& neighbour : all.neighbours) neighbours.push_back(jsonOf(neighbour));
  return {{"decision", std::move(entries)},
          {"hold", all.spec.hold},
          {"start_after", jsonTime(all.spec.startAfter)},
          {"after", all.spec.after.size()},
          {"after_reason", all.outlook.reason.empty() ? Json() : Json(all.outlook.reason)},
          {"cancelled", all.outlook.isCancelled},
          {"placed", plan.claims.size()},
          {"profile_assumed", all.spec.profile.isAssumed},
          {"reason", plan.waitReason.empty() ? Json() : Json(plan.waitReason)},
          {"units", {{"usable", plan.usableUnits}, {"free", plan.freeUnits}}},
          {"neighbours", std::move(neighbours)}};
}

}  // namespace tarcil
