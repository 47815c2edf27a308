#include "cli/simulation_report.h"

#include <algorithm>
#include <cmath>

#include "cli/render.h"
#include "cli/table.h"
#include "cli/units.h"

namespace tarcil {
namespace {

using sim::Summary;

// Points of the curve of performances: at 0, 1, ... 100 % of the jobs.
constexpr size_t kPoints = 101;

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

// The mean over runs of one figure of theirs.
template <typename Figure>
double mean(const std::vector<const Summary*>& runs, const Figure& figure) {
  double sum = 0;
  for (const Summary* run : runs) sum += static_cast<double>(figure(*run));
  return sum / static_cast<double>(runs.size());
}

std::vector<std::string> rowOf(sim::PolicyName policy, const std::vector<const Summary*>& runs) {
  return {std::string(sim::name(policy)),
          milliseconds(mean(runs, [](const Summary& run) { return run.responseMs.mean; })),
          milliseconds(mean(runs, [](const Summary& run) { return run.responseMs.p50; })),
          milliseconds(mean(runs, [](const Summary& run) { return run.responseMs.p95; })),
          milliseconds(mean(runs, [](const Summary& run) { return run.responseMs.p99; })),
          percent(mean(runs, [](const Summary& run) { return run.performance.mean; })),
          percent(mean(runs, [](const Summary& run) { return run.performance.p5; })),
          percent(mean(runs, [](const Summary& run) { return run.performance.p1; })),
          percent(mean(runs, [](const Summary& run) { return run.atLeast95; })),
          percent(mean(runs, [](const Summary& run) { return run.quality.mean; })),
          milliseconds(mean(runs, [](const Summary& run) { return run.waitMs.mean; })),
          milliseconds(mean(runs, [](const Summary& run) { return run.waitMs.p95; })),
          percent(mean(runs, [](const Summary& run) { return run.utilisation; })),
          fixed(mean(runs, [](const Summary& run) { return run.conflicts; }), 0)};
}

std::string truthText(const sim::Scenario& scenario) {
  switch (scenario.truth) {
    case sim::TruthKind::kNone:
      return "none: tasks run at full speed";
    case sim::TruthKind::kParametric:
      return "parametric, " + std::to_string(scenario.applications) + " applications, neighbours by the " +
             (scenario.combining == sim::Combining::kSum ? "sum" : "mean") + ", profiles off by " +
             percent(scenario.classificationError) + " %";
    case sim::TruthKind::kMeasured:
      return "measured co-runs of " + counted(scenario.coRuns->programs.size(), "program") +
             ", profiles off by " + percent(scenario.classificationError) + " %";
  }
  return "";
}

}  // namespace

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
  Table table({"Policy", "Response", "p50", "p95", "p99", "Performance %", "p5", "p1", "Jobs >= 95 %",
               "Quality %", "Wait", "p95", "Used %", "Conflicts"});
  for (sim::PolicyName policy : scenario.policies) {
    std::vector<const Summary*> own;
    for (const Summary& run : runs) {
      if (run.policy == policy) own.push_back(&run);
    }
    table.add(rowOf(policy, own));
  }
  text +=
      "\n" + table.text() +
      "\nResponse: from a job's arrival to the end of its last task. Performance: ideal response / response;"
      "\np5 and p1: the worst 5 % and 1 % of the jobs lie below. Quality: how fast tasks ran, of alone on"
      "\ntheir best platform. Wait: of a job's tasks, from its arrival to their start.\n";
  return text;
}

}  // namespace tarcil
