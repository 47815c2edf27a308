#include "cli/tarcild/fault_simulation.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "sim/faults/fault_simulation.h"

namespace tarcil {
namespace {

using sim::FaultSimulationResult;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kReportInterval{10};

double secondsSince(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

sim::FaultSimulationOptions optionsOf(const FaultSimulationRun& wanted, uint64_t seed,
                                      sim::Log log = sim::Log::kNone) {
  return {.seed = seed, .events = wanted.events, .log = log, .mastersOnEtcd = wanted.masters};
}

// What all histories came to.
struct Total {
  uint64_t histories = 0, events = 0, jobs = 0, tasks = 0;
  Duration virtualTime{};
  std::array<uint64_t, sim::kFaults> faults{};
  std::optional<FaultSimulationResult> broken;  // of the lowest seed that broke a promise
  double seconds = 0;

  void add(FaultSimulationResult result) {
    ++histories;
    events += result.events;
    jobs += result.jobs;
    tasks += result.tasksStarted;
    virtualTime += result.virtualTime;
    for (size_t i = 0; i < faults.size(); ++i) faults[i] += result.faults[i];
    if (result.violations.empty()) return;
    if (!broken || result.seed < broken->seed) broken = std::move(result);
  }
  uint64_t allFaults() const {
    uint64_t all = 0;
    for (const uint64_t count : faults) all += count;
    return all;
  }
  uint64_t eventsPerSecond() const {
    return seconds > 0 ? static_cast<uint64_t>(static_cast<double>(events) / seconds) : 0;
  }
};

// The histories, spread over the cores.
class Simulators {
 public:
  explicit Simulators(const FaultSimulationRun& wanted) : wanted_(wanted) {}

  Total run() {
    std::vector<std::thread> threads;
    const size_t cores = std::max(1U, std::thread::hardware_concurrency());
    for (size_t i = 1; i < std::min(cores, wanted_.seeds.size()); ++i) {
      threads.emplace_back([this]() { work(); });
    }
    work();
    for (std::thread& thread : threads) thread.join();
    total_.seconds = secondsSince(begin_);
    return std::move(total_);
  }

 private:
  void work() {
    for (size_t i = next_++; i < wanted_.seeds.size() && !isOver(); i = next_++) {
      FaultSimulationResult result =
          sim::simulation(optionsOf(wanted_, wanted_.seeds[i]), [this](uint64_t events) { heard(events); });
      const std::lock_guard lock(mutex_);
      total_.add(std::move(result));
    }
  }

  bool isOver() {
    if (wanted_.seconds && secondsSince(begin_) >= *wanted_.seconds) return true;
    const std::lock_guard lock(mutex_);
    return total_.broken.has_value();
  }

  void heard(uint64_t events) {
    const std::lock_guard lock(mutex_);
    heard_ += events;
    if (SteadyClock::now() < report_) return;
    report_ = SteadyClock::now() + kReportInterval;
    say(std::to_string(total_.histories) + " of " + std::to_string(wanted_.seeds.size()) + " histories" +
        " done, " + std::to_string(heard_) + " events");
  }

  const FaultSimulationRun& wanted_;
  const SteadyClock::time_point begin_ = SteadyClock::now();
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;  // guards what follows
  Total total_;
  uint64_t heard_ = 0;
  SteadyClock::time_point report_ = begin_ + kReportInterval;
};

// The same history again, written down.
std::vector<std::string> lastEvents(const FaultSimulationRun& wanted, const FaultSimulationResult& broken) {
  FaultSimulationResult again = sim::simulation(optionsOf(wanted, broken.seed, sim::Log::kKept));
  if (again.violations != broken.violations) throw Failure(kExitFailed, "the same seed gave another history");
  std::vector<std::string>& log = again.log;
  if (log.size() > wanted.trace) log.erase(log.begin(), log.end() - wanted.trace);
  return std::move(log);
}

std::string replayCommand(const FaultSimulationRun& wanted, const FaultSimulationResult& broken) {
  return "tarcil sim --faults --seeds " + std::to_string(broken.seed) + " --events " +
         std::to_string(wanted.events) +
         (wanted.masters > 0 ? " --masters " + std::to_string(wanted.masters) : "");
}

void printForScripts(const FaultSimulationRun& wanted, const Total& total,
                     const std::vector<std::string>& last) {
  Json faults = Json::object();
  for (size_t i = 0; i < sim::kFaults; ++i) {
    faults[std::string(sim::name(static_cast<sim::Fault>(i)))] = total.faults[i];
  }
  Json json = {{"histories", total.histories},
               {"events", total.events},
               {"events_per_second", total.eventsPerSecond()},
               {"jobs", total.jobs},
               {"tasks_started", total.tasks},
               {"virtual_seconds", std::chrono::duration<double>(total.virtualTime).count()},
               {"faults", total.allFaults()},
               {"faults_by_kind", std::move(faults)},
               {"violation", nullptr}};
  if (total.broken) {
    json["violation"] = {{"seed", total.broken->seed},
                         {"events", total.broken->events},
                         {"promises", total.broken->violations},
                         {"last_events", last},
                         {"replay", replayCommand(wanted, *total.broken)}};
  }
  printJson(json);
}

void printForPeople(const FaultSimulationRun& wanted, const Total& total,
                    const std::vector<std::string>& last) {
  Table table({"Fault", "Times"});
  for (size_t i = 0; i < sim::kFaults; ++i) {
    table.add({std::string(sim::name(static_cast<sim::Fault>(i))), std::to_string(total.faults[i])});
  }
  print(table.text() + "\n" +
        aligned({{"Histories", std::to_string(total.histories)},
                 {"Events", std::to_string(total.events)},
                 {"Events/s", std::to_string(total.eventsPerSecond())},
                 {"Faults", std::to_string(total.allFaults())},
                 {"Jobs", std::to_string(total.jobs)},
                 {"Tasks started", std::to_string(total.tasks)},
                 {"Broken promises", total.broken ? "yes" : "none"}}));
  if (!total.broken) return;
  std::string text = "\nSeed " + std::to_string(total.broken->seed) + ", after " +
                     std::to_string(total.broken->events) + " events:\n";
  for (const std::string& promise : total.broken->violations) text += "  " + promise + "\n";
  text += "\nBefore that, with the time in us:\n";
  for (const std::string& line : last) text += "  " + line + "\n";
  print(text + "\nTo see it again: " + replayCommand(wanted, *total.broken) + "\n");
}

}  // namespace

int simulateFaults(const FaultSimulationRun& wanted) {
  const Total total = Simulators(wanted).run();
  std::vector<std::string> last;
  if (total.broken) last = lastEvents(wanted, *total.broken);
  if (wanted.json) {
    printForScripts(wanted, total, last);
  } else {
    printForPeople(wanted, total, last);
  }
  return total.broken ? kExitFailed : kExitDone;
}

}  // namespace tarcil
