// tarcil sim: a cluster that exists as numbers only, under one policy or several; or one in which
// things break.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/settings.h"
#include "cli/tarcild/commands.h"
#include "cli/tarcild/fault_simulation.h"
#include "cli/tarcild/simulation_report.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "formats/recording_file.h"
#include "formats/scenario_file.h"
#include "sim/scenario_check.h"
#include "sim/simulation.h"

namespace tarcil {
namespace {

using sim::Progress;
using sim::Scenario;
using sim::Summary;

struct SimFlags {
  std::string scenario, replay;
  bool json = false;
  std::vector<std::string> policies, coRuns;
  std::string seeds, workload, durations, contention, ranking;
  bool noInterference = false, atMostOne = false;
  bool faults = false;
  uint64_t events = 50'000;
  uint32_t trace = 40;
  std::optional<uint32_t> seconds, masters;
  std::optional<uint32_t> servers, rus, jobs, tasks, agents, applications;
  std::optional<uint32_t> cap, floor, ratio, margin;
  std::optional<double> load, meanMs, rttMs, probeRatio, target, rarity, confidence, warmUp, error;
};

std::optional<Duration> fromMs(const char* flag, const std::optional<double>& ms, double least) {
  if (!ms) return std::nullopt;
  constexpr double kMaxMs = 1e12;
  if (!(*ms >= least && *ms <= kMaxMs)) {
    throw badInput(std::string(flag) + ": does not fit; write milliseconds from " + Json(least).dump());
  }
  return Duration(static_cast<int64_t>(*ms * 1e3));
}

void laySizes(const SimFlags& flags, Scenario& scenario) {
  if (flags.servers || flags.rus) {
    sim::PlatformSize alike;
    setIfGiven(alike.servers, flags.servers);
    setIfGiven(alike.units, flags.rus);
    scenario.platforms = {alike};
  }
  setIfGiven(scenario.jobs, flags.jobs);
  setIfGiven(scenario.tasks, flags.tasks);
  setIfGiven(scenario.load, flags.load);
  setIfGiven(scenario.mean, fromMs("--mean-ms", flags.meanMs, 0.001));
  setIfGiven(scenario.warmUp, flags.warmUp);
  if (!flags.durations.empty()) {
    scenario.durations = flags.durations == "exp-jobs"    ? sim::Durations::kExponentialJobs
                         : flags.durations == "exp-tasks" ? sim::Durations::kExponentialTasks
                                                          : sim::Durations::kConstant;
  }
}

void layPolicies(const SimFlags& flags, Scenario& scenario) {
  if (!flags.policies.empty()) scenario.policies.clear();
  for (const std::string& policy : flags.policies) {
    const auto named = sim::policyNamed(policy);
    const std::vector<std::string_view> all(std::begin(sim::kPolicyNames), std::end(sim::kPolicyNames));
    if (!named) {
      throw badInput("--policy: is " + shown(policy) + "; " + didYouMean(policy, all) + "write one of " +
                     joined(all));
    }
    scenario.policies.push_back(*named);
  }
  if (!flags.seeds.empty()) {
    auto seeds = parseSeeds(flags.seeds);
    if (!seeds) throw badInput("--seed: " + seeds.error().message);
    scenario.seeds = std::move(*seeds);
  }
  setIfGiven(scenario.agents, flags.agents);
  setIfGiven(scenario.roundTrip, fromMs("--rtt-ms", flags.rttMs, 0));
  setIfGiven(scenario.probeRatio, flags.probeRatio);
  QualitySettings& settings = scenario.settings;
  setIfGiven(settings.target, flags.target);
  setIfGiven(settings.rarity, flags.rarity);
  setIfGiven(settings.confidence, flags.confidence);
  setIfGiven(settings.cap, flags.cap);
  setIfGiven(settings.floor, flags.floor);
  setIfGiven(settings.ratio, flags.ratio);
  setIfGiven(settings.margin, flags.margin);
  if (!flags.contention.empty()) {
    settings.contention = valueNamed<ContentionModel>(kContentionModelNames, flags.contention);
  }
  if (!flags.ranking.empty()) settings.ranking = valueNamed<RankBy>(kRankByNames, flags.ranking);
  std::string text;
  for (const std::string& problem : problems(settings)) text += (text.empty() ? "" : "\n") + problem;
  if (!text.empty()) throw badInput(text);
}

// Of a recorded cluster; of the flags those count that say what should have been otherwise.
Scenario replayOf(const SimFlags& flags) {
  Scenario scenario;
  scenario.name = "replay of " + flags.replay;
  sim::lay(requireInput(readRecording(flags.replay)),
           flags.noInterference ? sim::ReplayTruth::kNone : sim::ReplayTruth::kProfiles, scenario);
  setIfGiven(scenario.load, flags.load);
  setIfGiven(scenario.warmUp, flags.warmUp);
  layPolicies(flags, scenario);
  if (const Status status = checkScenario(scenario); !status) throw badInput(status.error().message);
  return scenario;
}

Scenario scenarioOf(const SimFlags& flags) {
  if (!flags.replay.empty()) return replayOf(flags);
  ScenarioRequest request;
  if (!flags.scenario.empty()) request = requireInput(readScenario(flags.scenario));
  Scenario& scenario = request.scenario;
  if (!flags.workload.empty()) {
    if (const Status status = setWorkload(request, flags.workload); !status) {
      throw badInput("--workload: " + status.error().message);
    }
    // The whole trace, unless it is said otherwise.
    if (!request.traceFile.empty() && flags.scenario.empty()) scenario.jobs = 10'000'000;
  }
  laySizes(flags, scenario);
  layPolicies(flags, scenario);
  setIfGiven(scenario.applications, flags.applications);
  setIfGiven(scenario.classificationError, flags.error);
  if (!flags.coRuns.empty()) {
    request.coRunFiles = flags.coRuns;
    scenario.truth = sim::TruthKind::kMeasured;
  }
  if (flags.atMostOne) request.aboveOne = sim::AboveOne::kAsOne;
  if (flags.noInterference) scenario.truth = sim::TruthKind::kNone;
  return requireInput(loadScenario(request));
}

// Says every few seconds how far the runs are; silent where they are quicker.
class Watch {
 public:
  explicit Watch(size_t runs) : runs_(runs) {}

  void heard(const Progress& progress) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + kEvery;
    say(std::to_string(done_) + " of " + counted(runs_, "run") + " done; one that goes on has " +
        std::to_string(100 * progress.jobsDone / progress.jobs) + " % of its jobs, " +
        std::to_string(progress.events) + " events");
  }
  void ended() {
    const std::lock_guard lock(mutex_);
    ++done_;
  }

 private:
  static constexpr std::chrono::seconds kEvery{3};

  const size_t runs_;
  std::mutex mutex_;
  size_t done_ = 0;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kEvery;
};

// Every policy with every seed, in that order; as many at once as there are cores.
std::vector<Summary> runAll(const Scenario& scenario) {
  const size_t count = scenario.policies.size() * scenario.seeds.size();
  std::vector<Summary> runs(count);
  Watch watch(count);
  std::atomic<size_t> next = 0;
  const auto work = [&scenario, &runs, &watch, &next]() {
    for (size_t i = next++; i < runs.size(); i = next++) {
      runs[i] = sim::simulate(scenario, scenario.policies[i / scenario.seeds.size()],
                              scenario.seeds[i % scenario.seeds.size()],
                              [&watch](const Progress& progress) { watch.heard(progress); });
      watch.ended();
    }
  };
  std::vector<std::thread> threads;
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (size_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return runs;
}

int simulateAll(const SimFlags& flags) {
  const Scenario scenario = scenarioOf(flags);
  std::vector<Summary> runs = runAll(scenario);
  sim::compareWithIdealPolicy(runs);
  if (flags.json) {
    Json all = Json::array();
    for (const Summary& run : runs) all.push_back(jsonOf(scenario, run));
    if (scenario.replay) all.insert(all.begin(), jsonOfRecorded(scenario));
    printJson(all.size() == 1 ? all.front() : all);
  } else {
    print(textOf(scenario, runs));
  }
  int code = kExitDone;
  for (const Summary& run : runs) {
    const std::string which =
        std::string(sim::name(run.policy)) + ", seed " + std::to_string(run.seed) + ": ";
    if (run.unfinished > 0) say(which + counted(run.unfinished, "job") + " never ended");
    if (run.violations == 0) continue;
    say(which + counted(run.violations, "violation") + ": units had two owners, or a task was started twice");
    code = kExitFailed;
  }
  return code;
}

int injectFaults(const SimFlags& flags) {
  auto seeds = parseSeeds(flags.seeds.empty() ? "1..100" : flags.seeds);
  if (!seeds) throw badInput("--seeds: " + seeds.error().message);
  return simulateFaults({.seeds = std::move(*seeds),
                         .events = flags.events,
                         .trace = flags.trace,
                         .masters = flags.masters.value_or(0),
                         .seconds = flags.seconds,
                         .json = flags.json});
}

const Help kSimHelp = {
    "sim [OPTIONS] [SCENARIO]", summaryOf("sim"),
    "Runs jobs on servers that exist as numbers only, on a virtual clock, and shows the outcome: response "
    "times against the ideal (no delay, best resources), quality, utilisation, waits, conflicts. Master, "
    "agents and their queue are the real ones under the policies that agents decide by. The same seed gives "
    "the same result.\n\n"
    "SCENARIO is a YAML file (docs/simulator.md); flags override it. Without one: identical jobs on 400 "
    "servers of 16 units.\n\n"
    "Policies: quality; greedy, a centralised scheduler that judges every free slot; agent-batch, "
    "agent-per-task and agent-random, which agents decide by without profiles; late-binding "
    "(late-binding-aware, whose reservations carry profiles, late-binding-adaptive, with probes by load), "
    "batch, per-task, random and random-retry, with queues at the servers, as in Sparrow; centralised ones: "
    "greedy-least-loaded, which judges as greedy does and takes of good slots that on the least loaded "
    "server, least-loaded, most-allocated and least-allocated (Kubernetes), best-fit (Nomad), backfill "
    "(Slurm), and omniscient, which knows all but interference; ideal, an oracle that asks the simulated "
    "truth itself and has no delay; bound, which is no policy but a mean performance that no schedule can "
    "pass.\n\n"
    "With --replay the cluster and its jobs are those of a recording (`tarcil record --help`), and what "
    "really happened is shown beside what would have happened.\n\n"
    "With --faults it does something else: fault simulation, to find bugs of the master, the agents and the "
    "monitors. Their real logic runs jobs of all kinds on small random clusters in which processes die, "
    "disks fail and networks are cut all the time, and every promise of docs/protocol.md is checked as it "
    "runs. Each seed is a history of its own. It ends with the first broken promise, and prints the command "
    "that reproduces it.",
    "  tarcil sim bench/figures/large_scale.yaml\n"
    "  tarcil sim --policy quality,batch,random --load 0.8 --seeds 1..4\n"
    "  tarcil sim --policy batch --servers 10000 --rus-per-server 4 --jobs 5000 --tasks 100 \\\n"
    "             --load 0.8 --no-interference --json\n"
    "  tarcil sim --faults --seeds 1..1000 --seconds 60\n"
    "  tarcil sim --replay monday.rec.gz --policy quality,batch --target 0.9\n"
    "  tarcil sim --workload swf:NASA.swf.gz --servers 16 --rus-per-server 8\n"
    "  tarcil sim --corun pairs.csv triples.csv --servers 100 --rus-per-server 4 --load 0.6\n",
    "  0  done\n"
    "  1  a run broke a promise: units had two owners, or what --faults found\n"
    "  2  bad input; nothing was run\n"};

void addWorkloadFlags(CLI::App& command, SimFlags& flags) {
  command.add_option("--servers", flags.servers, "Servers, all alike; default 400.")
      ->check(wholeNumber(1, 100'000))
      ->type_name("N");
  command.add_option("--rus-per-server", flags.rus, "Units of each; default 16.")
      ->check(wholeNumber(1, 4'096))
      ->type_name("N");
  command
      .add_option("--workload", flags.workload,
                  "alike (the default), mixed, heavy-tailed, or a trace: swf:FILE, openb:FILE, swim:FILE; "
                  "also packed by gzip.")
      ->type_name("KIND[:FILE]");
  command.add_option("--jobs", flags.jobs, "Jobs; default 1000, of a trace all.")
      ->check(wholeNumber(1, 10'000'000))
      ->type_name("N");
  command.add_option("--tasks", flags.tasks, "Tasks of each; default 10.")
      ->check(wholeNumber(1, kMaxTasks))
      ->type_name("N");
  command
      .add_option("--load", flags.load,
                  "Load: the fraction of all units that the jobs would hold at full speed, above 0; scales "
                  "their arrivals. Default 0.5 for identical jobs, else as the workload has it.")
      ->type_name("X");
  command.add_option("--mean-ms", flags.meanMs, "Mean duration of a task; default 100.")->type_name("MS");
  command
      .add_option("--durations", flags.durations,
                  "exp-jobs (one exponential duration a job; the default), exp-tasks (each task its own) or "
                  "constant.")
      ->check(oneOf({"exp-jobs", "exp-tasks", "constant"}))
      ->type_name("KIND");
  command
      .add_option("--warm-up", flags.warmUp,
                  "Warm-up: the fraction of the jobs, from the first, that are run and not counted; default "
                  "0.1.")
      ->type_name("X");
}

void addTruthFlags(CLI::App& command, SimFlags& flags) {
  command
      .add_option(
          "--corun", flags.coRuns,
          "Take the speed of programs beside one another from measurements: a CSV of pairs and one of "
          "triples (docs/simulator.md). Not part of tarcil.")
      ->expected(1, 2)
      ->type_name("FILE...");
  command.add_flag(
      "--at-most-one", flags.atMostOne,
      "With --corun: who was measured to run faster beside others than alone runs as fast as alone.");
  command.add_flag("--no-interference", flags.noInterference,
                   "Tasks run at full speed, whatever runs beside them: only queueing counts.");
  command.add_option("--applications", flags.applications, "Kinds of jobs; default 60.")
      ->check(wholeNumber(1, 10'000))
      ->type_name("N");
  command
      .add_option("--classification-error", flags.error,
                  "Mean relative error of the profiles' entries, 0 to 1; default 0.")
      ->type_name("X");
}

void addPolicyFlags(CLI::App& command, SimFlags& flags) {
  command.add_option("--policy", flags.policies, "Policies to compare, with commas; default quality.")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  command
      .add_option("--seeds,--seed", flags.seeds,
                  "Seeds, such as 7 or 1,2 or 1..8; each is a run of its own. Default 1.")
      ->type_name("LIST");
  command.add_option("--agents", flags.agents, "Agents of quality and agent-...; default 10.")
      ->check(wholeNumber(1, 1'000))
      ->type_name("N");
  command.add_option("--rtt-ms", flags.rttMs, "Round trip of a message; default 1.")->type_name("MS");
  command
      .add_option("--probe-ratio", flags.probeRatio,
                  "Servers that batch and per-task probe for each task; default 2.")
      ->type_name("X");
  command.add_option("--target", flags.target, "As in `tarcil tune`; so are the next eight.")->type_name("X");
  command.add_option("--rarity", flags.rarity, "Share of the free slots that has to be acceptable.")
      ->type_name("P");
  command.add_option("--confidence", flags.confidence, "Probability with which one of them is found.")
      ->type_name("P");
  command.add_option("--cap", flags.cap, "Most draws per task.")
      ->check(wholeNumber(1, 10'000))
      ->type_name("N");
  command.add_option("--floor", flags.floor, "Fewest draws per job.")
      ->check(wholeNumber(1, 100'000))
      ->type_name("N");
  command.add_option("--ratio", flags.ratio, "Fixed number of draws per task.")
      ->check(wholeNumber(1, 100'000))
      ->type_name("N");
  command.add_option("--margin", flags.margin, "Pressure added when a slot is judged.")
      ->check(wholeNumber(0, kMaxPressure))
      ->type_name("N");
  command.add_option("--contention", flags.contention, "How neighbours combine.")
      ->check(oneOf({kContentionModelNames.begin(), kContentionModelNames.end()}))
      ->type_name("MODEL");
  command.add_option("--ranking", flags.ranking, "By what slots are ranked.")
      ->check(oneOf({kRankByNames.begin(), kRankByNames.end()}))
      ->type_name("BY");
}

void addFaultFlags(CLI::App& command, SimFlags& flags) {
  command
      .add_flag("--faults", flags.faults,
                "Simulate faults of master, agents and monitors; of the other flags only --seeds and --json "
                "apply. Seeds: default 1..100.")
      ->excludes("SCENARIO");
  command.add_option("--events", flags.events, "With --faults: how long a history is; default 50000.")
      ->check(wholeNumber(1, 1'000'000'000))
      ->needs("--faults")
      ->type_name("N");
  command
      .add_option(
          "--masters", flags.masters,
          "With --faults: every history has so many masters on an etcd; default: three in ten have two or "
          "three.")
      ->check(wholeNumber(2, 9))
      ->needs("--faults")
      ->type_name("N");
  command
      .add_option("--seconds", flags.seconds,
                  "With --faults: begin no history after this many seconds; default: no limit.")
      ->check(wholeNumber(1, 10'000'000))
      ->needs("--faults")
      ->type_name("N");
  command
      .add_option("--trace", flags.trace,
                  "With --faults: how many events to show before a broken promise; default 40.")
      ->check(wholeNumber(0, 10'000'000))
      ->needs("--faults")
      ->type_name("N");
}

}  // namespace

void addSim(CLI::App& app) {
  addCommand(app, "sim", kSimHelp, [](CLI::App& command) {
    auto flags = std::make_shared<SimFlags>();
    command.add_option("SCENARIO", flags->scenario, "Scenario file.")->type_name("FILE");
    command
        .add_option(
            "--replay", flags->replay,
            "A recording in place of SCENARIO and workload, a file or a folder of `record --last`. Its "
            "settings hold unless flags say otherwise; "
            "tasks run beside one another as their profiles say, or with --no-interference as they did.")
        ->type_name("FILE");
    addWorkloadFlags(command, *flags);
    addTruthFlags(command, *flags);
    addPolicyFlags(command, *flags);
    addFaultFlags(command, *flags);
    for (const char* other :
         {"SCENARIO", "--servers", "--rus-per-server", "--workload", "--jobs", "--tasks", "--mean-ms",
          "--durations", "--corun", "--applications", "--classification-error", "--faults"}) {
      command.get_option("--replay")->excludes(other);
    }
    addJsonFlag(command, flags->json);
    onRun(command, [flags]() { return flags->faults ? injectFaults(*flags) : simulateAll(*flags); });
  });
}

}  // namespace tarcil
