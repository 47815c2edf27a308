// Question: how long does reading the master's metrics hold up its event loop, step by step, and how much is
// it in all, with very many servers and tasks?
//
//   metrics_survey [--servers N] [--tasks T] [--applications A]
#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <vector>

#include "bench/report.h"
#include "master/logic/master_logic.h"
#include "master/logic/outbox.h"
#include "master/server/survey_metrics.h"

namespace tarcil::bench {
namespace {

using namespace master;

constexpr int kRuns = 20;

struct Flags {
  uint32_t servers = 10'000, tasks = 100'000, applications = 50;
};

// Servers of sixteen units, on which jobs of one task run.
class Cluster {
 public:
  explicit Cluster(const Flags& flags) : logic_({}, {}, now_, rng_, actions_) {
    handle(AgentAttached{1, kAgent, "agent", 0, "unix:/nowhere"});
    MonitorAttached monitor{2, kMonitor, "monitor", {}, {}};
    for (uint32_t i = 0; i < flags.servers; ++i) {
      ServerFacts& facts = monitor.servers.emplace_back();
      facts.name = "server-" + std::to_string(i);
      facts.platform = "default";
      facts.rus = facts.cores = 16;
    }
    handle(monitor);
    for (uint32_t task = 0; task < flags.tasks; ++task) run(task, flags);
  }

  const MasterLogic& logic() const { return logic_; }

 private:
  static constexpr SessionId kAgent = 1, kMonitor = 2;

  void run(uint32_t number, const Flags& flags) {
    Commit commit;
    commit.answered = number;
    commit.sequence = number + 1;
    for (size_t byte = 0; byte < 4; ++byte) commit.job.bytes[byte] = static_cast<uint8_t>(number >> 8 * byte);
    NewJob& made = commit.newJob.emplace();
    made.record.id = commit.job;
    made.record.user = made.record.runAs = "user-" + std::to_string(number % 50);
    made.record.submitted = now_.wall;
    made.record.spec.name = "job";
    made.record.spec.command = {"true"};
    made.record.spec.profile.application = "application-" + std::to_string(number % flags.applications);
    made.record.spec.profile.caused.fill(static_cast<uint8_t>(number % 7));
    made.record.spec.profile.tolerated.fill(90);
    Claim& claim = commit.claims.emplace_back();
    claim.server = number % flags.servers;
    claim.rus = 1;
    claim.s = 1;
    handle(CommitArrived{3, kAgent, std::move(commit)});
    ReportsArrived started{4, kMonitor, {}};
    for (const Action& action : actions_) {
      const auto* answer = std::get_if<AnswerCommit>(&action);
      if (answer == nullptr) continue;
      if (answer->answer.grants.empty()) throw std::runtime_error("a commit was refused");
      const Grant& grant = answer->answer.grants.front();
      if (grant.verdict != Verdict::kGranted) throw std::runtime_error(std::string(name(grant.verdict)));
      TaskReport& report = started.reports.emplace_back();
      report.allocation = grant.allocation;
      report.end.started = now_.wall;
    }
    handle(std::move(started));
  }

  void handle(const Event& event) {
    actions_.clear();
    logic_.handle(event, now_, rng_, actions_);
    now_.steady += Duration(100);
    now_.wall += Duration(100);
  }

  Now now_{MonotonicTime(std::chrono::hours(1)), WallTime(std::chrono::hours(24 * 365 * 50))};
  Rng rng_{1};
  std::vector<Action> actions_;
  MasterLogic logic_;
};

// Processor time of this thread since it was made.
class Stopwatch {
 public:
  double ms() const { return (processorNs() - begin_) / 1e6; }

 private:
  const double begin_ = processorNs();
};

void run(const Flags& flags) {
  printConditions();
  const Cluster cluster(flags);
  std::cout << flags.servers << " servers, " << flags.tasks << " tasks of " << flags.applications
            << " applications; milliseconds of processor time\n";
  std::vector<double> steps, longest, series, texts, all;
  size_t bytes = 0;
  for (int i = 0; i < kRuns; ++i) {
    const Stopwatch whole;
    MasterMetrics metrics;
    NamedApplications named;
    ClusterSurvey survey(named);
    double most = 0;
    for (bool isComplete = false; !isComplete;) {
      const Stopwatch step;
      isComplete = cluster.logic().goOn(survey, SurveyMetrics::kSeenAtOnce);
      steps.push_back(step.ms());
      most = std::max(most, steps.back());
    }
    longest.push_back(most);
    const Stopwatch writing;
    metrics.show(survey, Duration(1));
    const std::string large = textOf(survey);
    series.push_back(writing.ms());
    const Stopwatch joining;
    const std::string text = metrics.set.text() + large;
    texts.push_back(joining.ms());
    all.push_back(whole.ms());
    bytes = text.size();
  }
  printSpread("a step of the survey", steps);
  printSpread("the longest of each survey", longest);
  printSpread("what it found as text, in one step", series);
  printSpread("the whole text, in one step", texts);
  printSpread("all of it", all);
  std::cout << bytes << " bytes\n";
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  CLI::App app("Time to read the metrics of a master.");
  tarcil::bench::Flags flags;
  app.add_option("--servers", flags.servers, "Servers of sixteen units.");
  app.add_option("--tasks", flags.tasks, "Tasks that run there.");
  app.add_option("--applications", flags.applications, "That they are of.");
  CLI11_PARSE(app, argc, argv);
  tarcil::bench::run(flags);
  return 0;
}
