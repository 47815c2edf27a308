#include "profiler/profile_command.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>

#include "classifier/kernels/press.h"

namespace tarcil {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds kMinBudget{10};
constexpr double kProbesExpected = 2;  // of each resource: one where it bears all, three where it does not
constexpr std::chrono::milliseconds kKernelWindow{150};
// A run beside a kernel is ended when it has taken so many times as long as alone, and a second.
constexpr double kSlowestRun = 5;
// The least time for which a run is watched that need not end; longer where it takes longer to begin.
constexpr Seconds kMinWatched{0.5};
// Memory that was not filled further than this says nothing of how a command bears full memory.
constexpr int kMinMemoryFilled = 50;

std::string inSeconds(Seconds time) {
  char text[32];
  std::snprintf(text, sizeof text, time.count() < 0.1 ? "%.4f s" : "%.2f s", time.count());
  return text;
}

// That of the best quarter of runs, of fewer than four the best: other programs only ever make a run slower,
// and what a kernel does to it, it does to every run.
double typical(std::vector<double> performances) {
  const auto quarter = performances.begin() + static_cast<ptrdiff_t>(performances.size() / 4);
  std::nth_element(performances.begin(), quarter, performances.end(), std::greater<>());
  return *quarter;
}

// How the command ended, for people.
std::string endOf(const CommandOutcome& run) {
  std::string text = run.signal != 0 ? "was ended by signal " + std::to_string(run.signal)
                                     : "failed with exit code " + std::to_string(run.exitCode);
  std::string words = run.lastWords;
  while (!words.empty() && words.back() == '\n') words.pop_back();
  if (!words.empty()) text += "; the last it said: " + words.substr(words.rfind('\n') + 1);
  return text;
}

// Runs of the command, one after the other, for about so long.
struct Series {
  std::vector<double> performances;
  std::vector<double> walls;
  std::optional<CommandOutcome> failed;  // the first that did not succeed; runs after it were not made
  CommandOutcome last;
};

class Profiler final {
 public:
  Profiler(const Machine& machine, const Calibration& calibration, const ProfileOptions& options,
           const Progress& progress)
      : machine_(machine),
        calibration_(calibration),
        options_(options),
        progress_(progress),
        seats_(seatsFor(machine, options.rus)),
        start_(Clock::now()) {
    if (calibration.llcBytes > 0) machine_.llcBytes = calibration.llcBytes;
  }

  Result<Findings> profile();
  Result<AloneRun> alone();

 private:
  // A run that is ended tells as much as one that ends.
  bool needNotEnd() const {
    return options_.measure == Measure::kMetric || options_.measure == Measure::kCounted;
  }
  std::optional<double> performanceOf(const CommandOutcome& run) const;
  Result<Series> run(Seconds slice, Seconds runAtMost) const;
  Result<Series> runFirst();
  Status requireCores() const;
  Status runAlone();
  Status spendBudget();
  Error stillRuns() const;
  Error saysNothing(const CommandOutcome& run) const;
  ResourceFinding press(Resource resource, size_t resourcesLeft, Status& status);
  Status probe(Press& kernel, int intensity, Seconds slice, ToleranceSearch& search,
               ResourceFinding& finding);
  Result<double> performanceBeside(Seconds slice, int intensity, Resource resource) const;
  Seconds left() const { return budget_ - Seconds(Clock::now() - budgetStart_); }

  Machine machine_;
  const Calibration& calibration_;
  const ProfileOptions options_;
  const Progress& progress_;
  const Seats seats_;
  const Clock::time_point start_;
  Seconds watched_ = kMinWatched;
  Clock::time_point budgetStart_;
  Seconds budget_{};
  Findings findings_;
  CommandOutcome alone_;
  // What the present kernel would reach if nobody else had its cores.
  double possible_ = 0;
};

// nullopt: the run tells nothing of it. Requires: the run was good.
std::optional<double> Profiler::performanceOf(const CommandOutcome& run) const {
  switch (options_.measure) {
    case Measure::kMetric:
      return run.metric;
    case Measure::kCounted:
      return run.countedPerSecond;
    case Measure::kProcessorTime:
      if (run.cpuSeconds > 0) return 1 / run.cpuSeconds;
      [[fallthrough]];
    case Measure::kRuns:
      return 1 / run.wall.count();
  }
  __builtin_unreachable();
}

Result<Series> Profiler::run(Seconds slice, Seconds runAtMost) const {
  Series series;
  const auto start = Clock::now();
  do {
    const Seconds left = slice - Seconds(Clock::now() - start);
    // What need not end is watched for as long as there is time.
    const Seconds atMost = needNotEnd() ? std::min(runAtMost, std::max(left, watched_)) : runAtMost;
    CommandPlan plan{options_.command, seats_.command, atMost, options_.metric};
    if (options_.measure == Measure::kCounted) plan.counted = options_.counted;
    auto run = runCommand(plan);
    if (!run) return run.error();
    series.last = *run;
    const bool isGood = run->succeeded() || (needNotEnd() && run->wasCut);
    const auto performance = isGood ? performanceOf(*run) : std::nullopt;
    if (!performance) {
      series.failed = *run;
      return series;
    }
    series.walls.push_back(run->wall.count());
    series.performances.push_back(*performance);
  } while (Seconds(Clock::now() - start) < slice);
  return series;
}

Error Profiler::stillRuns() const {
  return invalid(
      "the command still ran after " + inSeconds(options_.runAtMost) +
      " and was ended; give it less to do, allow it more with --run-limit, or, where it never ends,"
      " name what it reports with --metric");
}

Error Profiler::saysNothing(const CommandOutcome& run) const {
  if (options_.measure == Measure::kCounted) {
    return invalid("nothing could be counted of the command within " + inSeconds(run.wall) +
                   ": others count too much on this processor; measure by run time, or by what the command"
                   " reports with --metric");
  }
  return invalid("the command wrote no line \"" + options_.metric + " NUMBER\" to stdout within " +
                 inSeconds(run.wall) + "; name what it reports with --metric, or leave that away");
}

// Until it says something of its performance, where it need not end: services take their time to begin.
Result<Series> Profiler::runFirst() {
  auto first = run({}, options_.runAtMost);
  const auto saysNothingYet = [&]() {
    return first && first->failed && first->failed->wasCut && needNotEnd() && watched_ < options_.runAtMost;
  };
  while (saysNothingYet()) {
    watched_ = std::min(watched_ * 2, options_.runAtMost);
    first = run({}, options_.runAtMost);
    // Under pressure it takes longer still.
    if (!saysNothingYet()) watched_ = std::min(watched_ * 2, options_.runAtMost);
  }
  return first;
}

Status Profiler::runAlone() {
  // The first one also fetches files from disks, which later ones need not.
  auto first = runFirst();
  if (!first) return first.error();
  auto runs = std::move(first);
  if (!runs->failed && runs->last.wall < Seconds(1)) runs = run(Seconds(0.7), options_.runAtMost);
  if (!runs) return runs.error();
  if (runs->failed) {
    const CommandOutcome& run = *runs->failed;
    if (needNotEnd() && (run.wasCut || run.succeeded())) return saysNothing(run);
    if (run.wasCut) return stillRuns();
    return invalid(
        "the command " + endOf(run) +
        " (alone, with nothing pressing on it); only commands that succeed"
        " can be profiled: where its exit code says something else, wrap it: sh -c 'COMMAND || true'");
  }
  alone_ = runs->last;
  AloneRun& alone = findings_.alone;
  alone.performance = typical(runs->performances);
  alone.wall = Seconds(*std::min_element(runs->walls.begin(), runs->walls.end()));
  alone.runs = static_cast<uint32_t>(runs->walls.size());
  for (double performance : runs->performances) {
    alone.spread += std::abs(performance / alone.performance - 1) / alone.runs;
  }
  alone.leftProcesses = alone_.leftProcesses;
  alone.outputBytes = alone_.outputBytes;
  progress_("alone: " + inSeconds(alone.wall) + " a run, of " + std::to_string(alone.runs));
  return {};
}

// 0 where the command failed under the pressure or was too slow to wait for.
Result<double> Profiler::performanceBeside(Seconds slice, int intensity, Resource resource) const {
  const Seconds slowest = findings_.alone.wall * kSlowestRun + Seconds(1);
  auto beside = run(slice, needNotEnd() ? options_.runAtMost : std::min(options_.runAtMost * 2, slowest));
  if (!beside) return beside.error();
  if (beside->failed) {
    const bool wasSlow = beside->failed->wasCut;
    progress_(std::string(kResourceNames[static_cast<size_t>(resource)]) + " at " +
              std::to_string(intensity) + ": the command " +
              (wasSlow ? "is not done in " + inSeconds(beside->failed->wall) : endOf(*beside->failed)));
    if (beside->performances.empty()) return 0.0;
  }
  return typical(beside->performances);
}

// One intensity: alone once more where that is short, since machines drift; then beside the kernel.
Status Profiler::probe(Press& kernel, int intensity, Seconds slice, ToleranceSearch& search,
                       ResourceFinding& finding) {
  double alone = findings_.alone.performance;
  if (findings_.alone.wall < slice / 2) {
    auto again = run(slice / 2, options_.runAtMost);
    if (!again) return again.error();
    if (!again->performances.empty()) alone = typical(again->performances);
    slice /= 2;
  }
  if (Status status = kernel.set(settingFor(calibration_[finding.resource], intensity)); !status)
    return status;
  const Pace kernelAlone = paceOver(finding.resource, kernel, kKernelWindow);
  const int reached = static_cast<int>(
      std::lround(pressureReached(calibration_, finding.resource, intensity, kernelAlone.rate)));
  const Press::Done before = kernel.done();
  const auto since = Clock::now();
  const auto beside = performanceBeside(slice, intensity, finding.resource);
  const Pace kernelBeside = paceBetween(finding.resource, before, kernel.done(), Clock::now() - since);
  Status off = kernel.set(0);
  if (!beside) return beside.error();
  if (!off) return off;
  const double relative = *beside / alone;
  search.saw(intensity, reached, relative);
  ++finding.probes;
  const double threads =
      isWaitedFor(finding.resource) ? 1 : static_cast<double>(pressingCores(finding.resource, seats_).size());
  if (intensity == kMaxPressure) {
    possible_ = pressureReached(calibration_, finding.resource, intensity, kernelAlone.speed * threads);
  }
  if (intensity == kMaxPressure && kernelAlone.speed > 0) {
    finding.kernelLost = 1 - kernelBeside.speed / kernelAlone.speed;
  }
  char text[160];
  std::snprintf(text, sizeof text, "%s at %d: performance %.3f",
                kResourceNames[static_cast<size_t>(finding.resource)].data(), reached, relative);
  progress_(text);
  return {};
}

ResourceFinding Profiler::press(Resource resource, size_t resourcesLeft, Status& status) {
  ResourceFinding finding{.resource = resource,
                          .skipped = calibration_[resource].absent,
                          .tolerance = {},
                          .kernelLost = {},
                          .causedByKernel = {}};
  if (!finding.skipped) finding.skipped = whyNotContended(resource, seats_);
  if (finding.skipped) return finding;
  const auto fillWithin = std::chrono::seconds(std::clamp<long>(std::lround(budget_.count() / 3), 2, 60));
  PressPlan plan;
  plan.kernel.resource = resource;
  plan.kernel.machine = machine_;
  plan.kernel.scratch = options_.scratch;
  plan.kernel.fillWithin = fillWithin;
  plan.cores = pressingCores(resource, seats_);
  if (calibration_[resource].peak > 0) plan.peak = calibration_[resource].peak;
  auto kernel = Press::start(plan);
  if (!kernel) {
    finding.skipped = kernel.error().message;
    return finding;
  }
  ToleranceSearch search(options_.search);
  double probesLeft = kProbesExpected;
  while (const auto intensity = search.next()) {
    // At least one probe, whatever is left: the budget was seen to allow for it.
    if (finding.probes > 0 && left() < findings_.alone.wall) break;
    const Seconds slice =
        std::max(left(), Seconds{}) /
        (static_cast<double>(resourcesLeft - 1) * kProbesExpected + std::max(probesLeft--, 1.0));
    if (const Status probed = probe(*kernel, *intensity, slice * 0.9, search, finding); !probed) {
      finding.skipped = probed.error().message;
      if (probed.error().code == ErrorCode::kNotFound) status = probed;
      return finding;
    }
  }
  finding.tolerance = search.result();
  const int strongest = finding.tolerance->strongest;
  if (wasHeldBack(*finding.tolerance, possible_)) {
    finding.skipped = "other programs had the cores to press from: " + std::to_string(strongest) + " of " +
                      std::to_string(std::lround(possible_)) + " was reached";
    finding.tolerance.reset();
  } else if (resource == Resource::kMemoryCapacity && finding.tolerance->bearsAll() &&
             strongest < kMinMemoryFilled) {
    finding.skipped = "memory could be filled to " + std::to_string(strongest) + " of 99 alone";
    finding.tolerance.reset();
  }
  if (finding.kernelLost)
    finding.causedByKernel = pressureThatTakes(calibration_[resource], *finding.kernelLost);
  return finding;
}

Status Profiler::spendBudget() {
  const Seconds run = findings_.alone.wall;
  const auto resources = static_cast<double>(options_.resources.size());
  budget_ = options_.budget.value_or(std::max(kMinBudget, run * 1.3 * (kProbesExpected + 1) * resources));
  budgetStart_ = Clock::now();
  if (run > budget_ && !needNotEnd()) {
    return Error{ErrorCode::kExhausted, "--seconds: one run takes " + inSeconds(run) + ", so " +
                                            inSeconds(budget_) + " are too short for one" +
                                            " beside a kernel; write at least " +
                                            std::to_string(std::lround(std::ceil(run.count() * 1.5)))};
  }
  for (size_t i = 0; i < options_.resources.size(); ++i) {
    ResourceFinding finding{.resource = options_.resources[i],
                            .skipped = {},
                            .tolerance = {},
                            .kernelLost = {},
                            .causedByKernel = {}};
    Status status;
    if (i > 0 && left() < run) {
      finding.skipped = "the time was up";
    } else {
      finding = press(options_.resources[i], options_.resources.size() - i, status);
    }
    if (!status) return status;
    findings_.resources.push_back(std::move(finding));
  }
  return {};
}

Status Profiler::requireCores() const {
  if (seats_.command.size() >= options_.rus) return {};
  return invalid("the command is to have " + std::to_string(options_.rus) + " cores, and the machine has " +
                 std::to_string(seats_.command.size()) + "; choose fewer with --rus");
}

Result<AloneRun> Profiler::alone() {
  if (const Status cores = requireCores(); !cores) return cores.error();
  if (const Status alone = runAlone(); !alone) return alone.error();
  return findings_.alone;
}

Result<Findings> Profiler::profile() {
  if (const Status cores = requireCores(); !cores) return cores.error();
  if (seats_.neighbours.empty() && seats_.siblings.empty()) {
    return invalid("no core is left for neighbours to press from: the command has all " +
                   std::to_string(seats_.command.size()) + "; choose fewer with --rus, or a larger machine");
  }
  if (const Status alone = runAlone(); !alone) return alone.error();
  if (const Status spent = spendBudget(); !spent) return spent.error();
  findings_.caused = causedByUse(alone_, machine_, calibration_);
  for (const ResourceFinding& finding : findings_.resources) {
    const auto i = static_cast<size_t>(finding.resource);
    if (finding.tolerance) findings_.tolerated[i] = static_cast<uint8_t>(finding.tolerance->tolerated);
    if (finding.causedByKernel && !findings_.caused[i]) {
      findings_.caused[i] = static_cast<uint8_t>(*finding.causedByKernel);
    }
  }
  findings_.took = Clock::now() - start_;
  return findings_;
}

}  // namespace

Result<Findings> profileCommand(const Machine& machine, const Calibration& calibration,
                                const ProfileOptions& options, const Progress& progress) {
  return Profiler(machine, calibration, options, progress).profile();
}

Result<AloneRun> performanceAlone(const Machine& machine, const ProfileOptions& options,
                                  const Progress& progress) {
  return Profiler(machine, Calibration(), options, progress).alone();
}

std::array<std::optional<uint8_t>, kResources> causedByUse(const CommandOutcome& run, const Machine& machine,
                                                           const Calibration& calibration) {
  std::array<std::optional<uint8_t>, kResources> caused{};
  const auto note = [&caused](Resource resource, double used, double of) {
    const long pressure = std::lround(kMaxPressure * used / of);
    caused[static_cast<size_t>(resource)] = static_cast<uint8_t>(std::clamp<long>(pressure, 0, kMaxPressure));
  };
  // What it waited for a core that another program had is no time in which it could have used one.
  const double wall = std::max(run.wall.count() - run.waitedSeconds,
                               run.cpuSeconds / static_cast<double>(machine.cores.size()));
  if (wall <= 0) return caused;
  note(Resource::kCore, run.cpuSeconds, wall * static_cast<double>(machine.cores.size()));
  if (machine.memoryBytes > 0) {
    note(Resource::kMemoryCapacity, static_cast<double>(run.memoryBytes),
         static_cast<double>(machine.memoryBytes));
  }
  const double disk = calibration[Resource::kDiskBandwidth].peak;
  if (disk > 0 || run.diskBytes == 0) {
    note(Resource::kDiskBandwidth, static_cast<double>(run.diskBytes), std::max(disk, 1.0) * wall);
  }
  return caused;
}

}  // namespace tarcil
