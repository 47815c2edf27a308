// tarcil job explain: why a job's tasks are where they are, or why it waits.
#include <algorithm>
#include <map>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "cli/job_status.h"
#include "cli/output.h"
#include "cli/table.h"
#include "core/model/encoding.h"
#include "core/state/explain.h"
#include "core/state/vacancy.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// A server as explanations number it.
struct NamedServer {
  std::string name = "?";
  std::string platform = "?";
};

struct ExplainFlags {
  ContextFlags cluster;
  OutputFlags output;
  std::string id;
};

struct Explained {
  JobStatus job;
  std::vector<DecisionRecord> decisions;  // oldest first
  std::map<ServerId, NamedServer> servers;

  NamedServer server(ServerId id) const {
    const auto it = servers.find(id);
    return it == servers.end() ? NamedServer{} : it->second;
  }
};

Explained fetch(Cluster& cluster, const JobId& id) {
  Explained all{cluster.wait(fetchJob(cluster.client(), id)), {}, {}};
  auto answer = cluster.ask([&id](Session& session) {
    auto request = session.user.decisionsRequest();
    request.setId(bytesOf(id));
    return request.send();
  });
  for (auto decision : answer.getDecisions()) all.decisions.push_back(read(decision));
  for (auto server : answer.getServers()) {
    all.servers[server.getId()] = {server.getName(), server.getPlatform()};
  }
  std::sort(all.decisions.begin(), all.decisions.end(),
            [](const DecisionRecord& a, const DecisionRecord& b) { return a.number < b.number; });
  return all;
}

// For each task what placed it last; for one that waits, the last decision that left tasks without a place.
// Null where there is none.
std::vector<const DecisionRecord*> decisionsByTask(const Explained& all) {
  std::vector<const DecisionRecord*> byTask(all.job.tasks.size(), nullptr);
  const DecisionRecord* lastShort = nullptr;
  for (const DecisionRecord& decision : all.decisions) {
    if (decision.explanation.placed < decision.explanation.wanted) lastShort = &decision;
    for (TaskIndex task : decision.tasks) {
      if (task < byTask.size()) byTask[task] = &decision;
    }
  }
  for (const TaskRecord& task : all.job.tasks) {
    if (task.state == RunState::kQueued && task.index < byTask.size()) byTask[task.index] = lastShort;
  }
  return byTask;
}

std::vector<RuIndex> unitsOf(const Candidate& candidate) {
  return {candidate.rus.begin(), candidate.rus.begin() + candidate.rusCount};
}

// U_H of the candidate as it was judged, with the margin.
double uHOf(const Candidate& candidate, const Explanation& why, const Profile& profile) {
  Pressure felt = candidate.contention;
  for (uint8_t& pressure : felt)
    pressure = static_cast<uint8_t>(std::min(pressure + why.margin, kMaxPressure));
  return normalized(kEncodedMax - encode(felt, orderOf(demandOf(profile.tolerated))));
}

// --- JSON ---

Json jsonOfSlack(const Pressure& slack) {
  Json json = Json::object();
  for (size_t i = 0; i < slack.size(); ++i) {
    json[std::string(kResourceNames[i])] = slack[i] == Vacancy::kUnbounded ? Json() : Json(slack[i]);
  }
  return json;
}

Json jsonOf(const Candidate& candidate, const Explanation& why, const Explained& all) {
  const Profile& profile = all.job.record.spec.profile;
  const NamedServer server = all.server(candidate.server);
  return {{"server", server.name},
          {"rus", unitsOf(candidate)},
          {"contention", jsonByResource(candidate.contention)},
          {"u_h", uHOf(candidate, why, profile)},
          {"q", candidate.q},
          {"s", candidate.s},
          {"platform", server.platform},
          {"platform_factor", platformFactor(profile, server.platform)},
          {"slack", jsonOfSlack(candidate.slack)},
          {"after", name(candidate.after)}};
}

Json jsonOf(const std::array<uint32_t, kDropReasons>& dropped) {
  Json counts = Json::object();
  for (size_t reason = 0; reason < dropped.size(); ++reason) {
    if (dropped[reason] > 0) counts[dropName(reason)] = dropped[reason];
  }
  return counts;
}

Json jsonOf(const TaskRecord& task, const DecisionRecord* decision, const Explained& all) {
  Json entry = {{"task", task.index}};
  if (decision != nullptr) {
    const Explanation& why = decision->explanation;
    Json best = Json::array();
    for (const Candidate& candidate : why.best) best.push_back(jsonOf(candidate, why, all));
    entry.update({{"decision", decision->number},
                  {"p", shareAcceptable(why)},
                  {"ratio", ratio(why)},
                  {"drawn", why.drawn},
                  {"guarantee", guaranteeReached(why)},
                  {"dropped", jsonOf(why.dropped)},
                  {"best", std::move(best)},
                  {"seed", why.seed}});
  } else {
    entry.update({{"decision", nullptr},
                  {"p", nullptr},
                  {"ratio", nullptr},
                  {"drawn", nullptr},
                  {"guarantee", nullptr},
                  {"dropped", Json::object()},
                  {"best", Json::array()},
                  {"seed", nullptr}});
  }
  const bool isPlaced = task.allocation != 0 && task.state != RunState::kQueued;
  entry["chosen"] =
      isPlaced ? Json{{"server", task.server}, {"rus", task.rus}, {"q", task.q}, {"s", task.s}} : Json();
  return entry;
}

Json jsonOf(const Explained& all) {
  Json entries = Json::array();
  const auto byTask = decisionsByTask(all);
  for (size_t i = 0; i < byTask.size(); ++i) entries.push_back(jsonOf(all.job.tasks[i], byTask[i], all));
  const std::string& reason = all.job.progress.reason;
  return {{"id", toString(all.job.record.id)},
          {"state", name(all.job.progress.state)},
          {"reason", reason.empty() ? Json() : Json(reason)},
          {"decision", std::move(entries)}};
}

// --- Text ---

std::string percent(double value) {
  return fixed(100 * value, 1) + " %";
}

std::string droppedText(const Explanation& why) {
  std::string text;
  for (size_t reason = 0; reason < why.dropped.size(); ++reason) {
    if (why.dropped[reason] == 0) continue;
    text.append(text.empty() ? "" : ", ")
        .append(std::to_string(why.dropped[reason]) + " ")
        .append(dropName(reason));
  }
  return text;
}

// The resources that the job's profile makes demands on, the most critical first.
std::vector<size_t> demanded(const Profile& profile) {
  const Pressure demand = demandOf(profile.tolerated);
  std::vector<size_t> order;
  for (uint8_t i : orderOf(demand)) {
    if (demand[i] > 0) order.push_back(i);
  }
  return order;
}

std::string contentionText(const Candidate& candidate, const std::vector<size_t>& matters) {
  std::string text;
  for (size_t i : matters) {
    text.append(text.empty() ? "" : " ")
        .append(kResourceNames[i])
        .append("=" + std::to_string(candidate.contention[i]));
  }
  return text;
}

// Where the residents bear least: "llc 12".
std::string slackText(const Candidate& candidate) {
  const auto least = std::min_element(candidate.slack.begin(), candidate.slack.end());
  if (*least == Vacancy::kUnbounded) return "any";
  const auto index = static_cast<size_t>(least - candidate.slack.begin());
  return std::string(kResourceNames[index]) + " " + std::to_string(*least);
}

std::string textOf(const DecisionRecord& decision, const std::vector<size_t>& matters, const Explained& all) {
  const Explanation& why = decision.explanation;
  std::string text = "\nDecision " + std::to_string(decision.number) + "\n";
  text += aligned({{"Tasks placed", std::to_string(why.placed) + " of " + std::to_string(why.wanted) +
                                        (decision.tasks.empty() ? "" : ": " + ranges(decision.tasks))},
                   {"Slots drawn", std::to_string(why.drawn) + " (" + fixed(ratio(why), 1) + " per task)"},
                   {"Acceptable", percent(shareAcceptable(why)) + " of them (p)"},
                   {"Guarantee", percent(guaranteeReached(why))},
                   {"Turned down", droppedText(why)},
                   {"Seed", std::to_string(why.seed)}});
  if (why.best.empty()) return text;
  Table table({"Best", "Platform", "RUs", "Q", "S", "U_H", "Behind by", "Least slack", "Contention"});
  for (const Candidate& candidate : why.best) {
    const NamedServer server = all.server(candidate.server);
    table.add({server.name, server.platform, ranges(unitsOf(candidate)), fixed(candidate.q, 4),
               fixed(candidate.s, 4), fixed(uHOf(candidate, why, all.job.record.spec.profile), 4),
               candidate.after == TieBreak::kNone ? "" : name(candidate.after), slackText(candidate),
               contentionText(candidate, matters)});
  }
  return text + table.text();
}

std::string textOf(const Explained& all, const Style& style) {
  const JobStatus& job = all.job;
  std::string matters;
  const std::vector<size_t> order = demanded(job.record.spec.profile);
  for (size_t i : order) matters.append(matters.empty() ? "" : ", ").append(kResourceNames[i]);
  std::string text = textOf(job, style);
  text += "\n" + aligned({{"Sensitive to", order.empty() ? "nothing: any place will do" : matters}});
  for (const DecisionRecord& decision : all.decisions) text += textOf(decision, order, all);
  if (all.decisions.empty()) text += "No decision has been made yet.\n";
  return text;
}

int explain(const ExplainFlags& flags) {
  Cluster cluster(flags.cluster);
  const Explained all = fetch(cluster, cluster.job(flags.id));
  if (flags.output.json) {
    printJson(jsonOf(all));
  } else {
    print(textOf(all, styleFor(flags.output.verbose)));
  }
  return kExitDone;
}

}  // namespace

void addJobExplain(CLI::App& job) {
  CLI::App& command = addCommand(
      job, "explain",
      {"job explain [OPTIONS] ID", "Say why a job's tasks are where they are.",
       "For each decision: how many free slots were drawn, which share of them suited the job (p), with which"
       " probability so many draws find what is needed (guarantee), why others were turned down, and the best"
       " candidates with the contention that the job would feel there. Q says how tightly a slot fits, S how "
       "far"
       " it satisfies the job; both are in [0, 1]. The least slack is what the tasks already there can still"
       " bear.\n\n"
       "For a job that waits: why.",
       "  tarcil job explain 3f2a\n"
       "  tarcil job explain --json 3f2a\n",
       ""});
  auto flags = std::make_shared<ExplainFlags>();
  command.add_option("ID", flags->id, "The job's id, or the first 4 or more digits of it.")->required();
  addOutputFlags(command, flags->output);
  addClusterFlags(command, flags->cluster);
  onRun(command, [flags]() { return explain(*flags); });
}

}  // namespace tarcil
