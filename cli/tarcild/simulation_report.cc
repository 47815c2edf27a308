#include "cli/tarcild/simulation_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/units.h"
#include "sim/simulation.h"

namespace tarcil {
namespace {

using sim::Summary;

// Points of the curve of performances: at 0, 1, ... 100 % of the jobs.
constexpr size_t kPoints = 101;

constexpr const char* kRecorded = "recorded";

double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

Json jsonOf(const sim::Spread& spread) {
  return {{"mean", rounded(spread.mean)}, {"p5", rounded(spread.p5)},   {"p25", rounded(spread.p25)},
          {"p50", rounded(spread.p50)},   {"p75", rounded(spread.p75)}, {"p95", rounded(spread.p95)},
          {"p99", rounded(spread.p99)}};
}

Json curveOf(const std::vector<float>& ascending) {
  Json points = Json::array();
  if (ascending.empty()) return points;
  for (size_t i = 0; i < kPoints; ++i) {
    points.push_back(rounded(ascending[i * (ascending.size() - 1) / (kPoints - 1)]));
  }
  return points;
}

Json jsonOf(const sim::Low& low) {
  return {{"mean", rounded(low.mean)}, {"p5", rounded(low.p5)}, {"p1", rounded(low.p1)}};
}

Json jsonOf(const std::vector<sim::StreamSummary>& streams) {
  Json list = Json::array();
  for (const sim::StreamSummary& stream : streams) {
    list.push_back({{"name", stream.name},
                    {"jobs", stream.jobs},
                    {"response_ms", jsonOf(stream.responseMs)},
                    {"performance", rounded(stream.performance)}});
  }
  return list;
}

Json jsonOf(const std::vector<sim::Moment>& moments) {
  Json list = Json::array();
  for (const sim::Moment& moment : moments) {
    list.push_back({{"s", rounded(moment.seconds)},
                    {"held", moment.heldByStream},
                    {"held_by_quality", moment.byQuality}});
  }
  return list;
}

std::string milliseconds(double ms) {
  if (ms < 0.001) return "0";
  return formatDuration(Duration(static_cast<int64_t>(std::llround(ms * 1e3))));
}

std::string percent(double part) {
  return fixed(100 * part, 1);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// How far the values lie apart: their standard deviation as a sample. Requires: two at least.
double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// A column of the table: how its values are shown and where a run has its own.
struct Column {
  const char* header;
  std::string (*shown)(double);
  double (*figure)(const Summary&);
  bool isBesideIdeal = false;  // shown only where the policy ideal ran too
};

std::string whole(double value) {
  return fixed(value, 0);
}

// Not a number where that is not known.
sim::Low ofIdealPolicy(const Summary& run) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  return run.ofIdealPolicy.value_or(sim::Low{kUnknown, kUnknown, kUnknown});
}

constexpr Column kColumns[] = {
    {"Response", milliseconds, [](const Summary& run) { return run.responseMs.mean; }},
    {"p50", milliseconds, [](const Summary& run) { return run.responseMs.p50; }},
    {"p95", milliseconds, [](const Summary& run) { return run.responseMs.p95; }},
    {"p99", milliseconds, [](const Summary& run) { return run.responseMs.p99; }},
    {"Performance %", percent, [](const Summary& run) { return run.performance.mean; }},
    {"p5", percent, [](const Summary& run) { return run.performance.p5; }},
    {"p1", percent, [](const Summary& run) { return run.performance.p1; }},
    {"Of ideal %", percent, [](const Summary& run) { return ofIdealPolicy(run).mean; }, true},
    {"p5", percent, [](const Summary& run) { return ofIdealPolicy(run).p5; }, true},
    {"Jobs >= 95 %", percent, [](const Summary& run) { return run.atLeast95; }},
    {"Quality %", percent, [](const Summary& run) { return run.quality.mean; }},
    {"Wait", milliseconds, [](const Summary& run) { return run.waitMs.mean; }},
    {"p95", milliseconds, [](const Summary& run) { return run.waitMs.p95; }},
    {"Used %", percent, [](const Summary& run) { return run.utilisation; }},
    {"Conflicts", whole, [](const Summary& run) { return static_cast<double>(run.conflicts); }},
};

bool runsIdeal(const sim::Scenario& scenario) {
  return std::ranges::find(scenario.policies, sim::PolicyName::kIdeal) != scenario.policies.end();
}

// Those of a scenario's table.
std::vector<Column> columnsOf(const sim::Scenario& scenario) {
  std::vector<Column> columns;
  for (const Column& column : kColumns) {
    if (runsIdeal(scenario) || !column.isBesideIdeal) columns.push_back(column);
  }
  return columns;
}

Table emptyTable(const char* first, const std::vector<Column>& columns) {
  std::vector<std::string> header = {first};
  for (const Column& column : columns) header.emplace_back(column.header);
  return Table(header);
}

std::vector<std::string> rowOf(const std::string& label, const std::vector<Column>& columns,
                               const std::vector<Summary>& runs,
                               double (*statistic)(const std::vector<double>&)) {
  std::vector<std::string> cells = {label};
  for (const Column& column : columns) {
    std::vector<double> values;
    for (const Summary& run : runs) values.push_back(column.figure(run));
    const double value = statistic(values);
    cells.push_back(std::isnan(value) ? "" : column.shown(value));
  }
  return cells;
}

// What a replay leaves out.
std::string replayText(const sim::Replay& replay) {
  std::string text =
      "Recorded: what really happened, its quality as the same truth tells it from who ran beside whom.\n";
  if (replay.uncounted > 0) {
    text += counted(replay.uncounted, "job") +
            " began before the recording or ended after it: replayed as far as seen, and not counted.\n";
  }
  if (replay.neverRan > 0) {
    text += counted(replay.neverRan, "job") + " of which nothing ran: left out.\n";
  }
  if (replay.simplified > 0) {
    text +=
        counted(replay.simplified, "job") +
        " asked for more than units, profile and priority (gangs, constraints, extras ...): replayed without"
        " it.\n";
  }
  return text;
}

std::string profilesText(const sim::Scenario& scenario) {
  if (scenario.profiles == sim::ProfileSource::kTruth) {
    return ", profiles off by " + percent(scenario.classificationError) + " %";
  }
  return ", profiles of every second one inferred from " + counted(scenario.probes, "probe");
}

std::string truthText(const sim::Scenario& scenario) {
  switch (scenario.truth) {
    case sim::TruthKind::kNone:
      return "none: tasks run at full speed";
    case sim::TruthKind::kParametric:
      return "parametric, " + std::to_string(scenario.applications) + " applications, neighbours by the " +
             std::string(sim::kCombiningNames[static_cast<size_t>(scenario.combining)]) +
             profilesText(scenario);
    case sim::TruthKind::kProfiles:
      return "as the recorded profiles say";
    case sim::TruthKind::kMeasured:
      return "measured co-runs of " + counted(scenario.coRuns->programs.size(), "program") +
             profilesText(scenario);
  }
  return "";
}

}  // namespace

Json jsonOfRecorded(const sim::Scenario& scenario) {
  Json json = jsonOf(scenario, sim::recordedSummary(scenario));
  json["policy"] = kRecorded;
  // Nobody counted these.
  for (const char* unknown :
       {"seed", "decision_us", "conflicts", "violations", "events", "classification_error"}) {
    json.erase(unknown);
  }
  return json;
}

Json jsonOf(const sim::Scenario& scenario, const Summary& run) {
  return {{"scenario", scenario.name},
          {"policy", sim::name(run.policy)},
          {"servers", run.servers},
          {"rus", run.rus},
          {"jobs", run.jobs},
          {"unfinished", run.unfinished},
          {"load", rounded(run.load)},
          {"seed", run.seed},
          {"classification_error", scenario.classificationError},
          {"utilisation", rounded(run.utilisation)},
          {"response_ms", jsonOf(run.responseMs)},
          {"ideal_ms", jsonOf(run.idealMs)},
          {"delay_ms", jsonOf(run.delayMs)},
          {"performance",
           {{"mean", rounded(run.performance.mean)},
            {"p5", rounded(run.performance.p5)},
            {"p1", rounded(run.performance.p1)},
            {"at_least_95", rounded(run.atLeast95)}}},
          {"of_ideal_policy", run.ofIdealPolicy ? jsonOf(*run.ofIdealPolicy) : Json()},
          {"performance_curve", curveOf(run.performances)},
          {"at_once", rounded(run.atOnce)},
          {"quality", jsonOf(run.quality)},
          {"quality_curve", curveOf(run.qualities)},
          {"resident_quality", jsonOf(run.residentQuality)},
          {"wait_ms", jsonOf(run.waitMs)},
          {"decision_us", jsonOf(run.decisionUs)},
          {"streams", jsonOf(run.streams)},
          {"moments", jsonOf(run.moments)},
          {"conflicts", run.conflicts},
          {"violations", run.violations},
          {"events", run.events},
          {"simulated_s", rounded(run.simulatedSeconds)}};
}

std::string textOf(const sim::Scenario& scenario, const std::vector<Summary>& runs) {
  const Summary& first = runs.front();
  std::string text =
      aligned({{"Scenario", scenario.name},
               {"Cluster", counted(first.servers, "server") + ", " + counted(first.rus, "unit")},
               {"Jobs", std::to_string(first.jobs) + " counted, load " + fixed(first.load, 2) +
                            ", ideal response " + milliseconds(first.idealMs.mean) + " on average"},
               {"Truth", truthText(scenario)},
               {"Runs", counted(scenario.seeds.size(), "seed") + " for each policy"}});
  const std::vector<Column> columns = columnsOf(scenario);
  Table table = emptyTable("Policy", columns), spread = emptyTable("+-", columns);
  if (scenario.replay) {
    std::vector<std::string> cells = rowOf(kRecorded, columns, {sim::recordedSummary(scenario)}, mean);
    cells.back().clear();  // nobody counted its conflicts
    table.add(std::move(cells));
  }
  for (sim::PolicyName policy : scenario.policies) {
    std::vector<Summary> own;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(own),
                 [policy](const Summary& run) { return run.policy == policy; });
    table.add(rowOf(std::string(sim::name(policy)), columns, own, mean));
    if (own.size() > 1) spread.add(rowOf(std::string(sim::name(policy)), columns, own, deviation));
  }
  if (!spread.empty()) text += "\n" + table.text() + "\nStandard deviation over the seeds:\n" + spread.text();
  if (spread.empty()) text += "\n" + table.text();
  text +=
      "\nResponse: from a job's arrival to the end of its last task. Performance: ideal response / response;"
      "\np5 and p1: the worst 5 % and 1 % of the jobs lie below. Quality: how fast tasks ran, of alone on"
      "\ntheir best platform. Wait: of a job's tasks, from its arrival to their start.\n";
  if (runsIdeal(scenario)) text += "Of ideal: response under the policy ideal / response, job by job.\n";
  if (scenario.replay) text += replayText(*scenario.replay);
  return text;
}

}  // namespace tarcil
