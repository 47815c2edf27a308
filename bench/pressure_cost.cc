// Question: how much processor time does measuring the pressures of a server take, with so many tasks on it,
// and how much watching the performance of each of them, while all is well and while one is degraded?
//
//   pressure_cost [--tasks N] [--measurements N] [--period-ms N] [--data DIR]
//
// Starts N tasks that sleep, each in its container with real cgroups, then measures once a period and counts
// the processor time of it. Needs root. The shim is expected beside this program's folder.
#include <kj/async-unix.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "bench/report.h"
#include "env/clock.h"
#include "monitor/container/container_executor.h"
#include "monitor/pressure/meter.h"

namespace tarcil::bench {
namespace {

double threadMilliseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

// Tasks that sleep until they are killed.
class Sleepers final : public ExecutorListener {
 public:
  Sleepers(const std::string& data, size_t tasks) : loop_(port_), scope_(loop_) {
    ContainerOptions options;
    options.dataDirectory = data;
    options.shim = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "tarcil-shim";
    options.tag = "bench-pressure";
    options.server = "bench";
    auto opened = ContainerExecutor::open(std::move(options), port_, systemClock(), *this);
    if (!opened) {
      std::fprintf(stderr, "pressure_cost: %s\n", opened.error().message.c_str());
      std::exit(1);
    }
    executor_ = kj::mv(*opened);
    for (size_t i = 0; i < tasks; ++i) launch();
    wait([this, tasks]() { return started_.size() == tasks; });
  }

  ~Sleepers() noexcept {
    for (const AllocationId task : started_) executor_->signal(task, SIGKILL);
    wait([this]() { return ended_ == started_.size(); });
  }

  CgroupDirectories counted() const { return executor_->counted(); }
  std::vector<RunningTask> running() const { return executor_->running(); }

 private:
  void launch() {
    LaunchSpec spec;
    spec.allocation = ++allocation_;
    spec.jobName = "bench";
    spec.rus = {0};
    spec.command = {"sleep", "100000"};
    spec.user = "nobody";
    executor_->record(spec);
    executor_->start(spec, {}, {});
  }
  void taskStarted(AllocationId allocation, WallTime) override {
    started_.insert(allocation);
    changed_->fulfill();
  }
  void taskEnded(AllocationId allocation, const TaskEnd&) override {
    ++ended_;
    executor_->forget(allocation);
    changed_->fulfill();
  }
  template <typename Condition>
  void wait(Condition holds) {
    while (!holds()) {
      auto next = kj::newPromiseAndFulfiller<void>();
      changed_ = kj::mv(next.fulfiller);
      next.promise.wait(scope_);
    }
  }

  kj::UnixEventPort port_;
  kj::EventLoop loop_;
  kj::WaitScope scope_;
  kj::Own<kj::PromiseFulfiller<void>> changed_ = kj::newPromiseAndFulfiller<void>().fulfiller;
  AllocationId allocation_ = static_cast<AllocationId>(systemClock().now().wall.time_since_epoch().count());
  std::set<AllocationId> started_;
  size_t ended_ = 0;
  kj::Own<ContainerExecutor> executor_;
};

struct Rhythm {
  size_t measurements;
  std::chrono::milliseconds period;
};

template <typename Measure>
void measureEach(const std::string& what, const Rhythm& rhythm, Measure measure) {
  measure();
  std::vector<double> costs;
  for (size_t i = 0; i < rhythm.measurements; ++i) {
    std::this_thread::sleep_for(rhythm.period);
    const double begin = threadMilliseconds();
    measure();
    costs.push_back(threadMilliseconds() - begin);
  }
  const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(costs.size());
  const auto period = rhythm.period;
  printSpread("CPU time of " + what + ", ms", costs);
  std::printf("at a period of %lld ms: %.3f %% of one core\n", static_cast<long long>(period.count()),
              100 * mean / static_cast<double>(period.count()));
}

// All tasks are held against what they did before, which is nothing; where one is degraded, against
// the impossible.
void watchAll(const Sleepers& sleepers, const std::string& what, double targetOfFirst, const Rhythm& rhythm) {
  CacheMonitor cache(SystemPaths{}.resctrl, "bench-");
  const std::vector<uint32_t> cores = {0};
  TaskMeter meter(rhythm.period, {}, {}, cores, sleepers.counted(), cache);
  measureEach(what, rhythm, [&]() {
    auto running = sleepers.running();
    for (RunningTask& task : running) task.goal = PerformanceGoal{.metric = Metric::kCpuTime};
    if (!running.empty()) running[0].goal->target = targetOfFirst;
    meter.measure(running, systemClock().now());
  });
}

void measureAll(const Sleepers& sleepers, size_t tasks, const Rhythm& rhythm) {
  const std::string on = " of " + std::to_string(tasks) + " tasks";
  PressureMeter pressure("bench", {}, {}, {}, sleepers.counted());
  measureEach("a measurement of the pressures," + on, rhythm,
              [&]() { pressure.measure(sleepers.running(), systemClock().now().steady); });
  watchAll(sleepers, "watching the performance" + on + ", all well", 0, rhythm);
  watchAll(sleepers, "watching the performance" + on + ", one degraded", 1000, rhythm);
}

int run(int argc, char** argv) {
  size_t tasks = 50, measurements = 30, periodMs = 1000;
  std::string data;
  CLI::App app("How much processor time measuring the pressures of a server takes.");
  app.add_option("--tasks", tasks, "Tasks that sleep. Default: 50");
  app.add_option("--measurements", measurements, "Default: 30")->check(CLI::PositiveNumber);
  app.add_option("--period-ms", periodMs, "Between two measurements. Default: 1000")
      ->check(CLI::PositiveNumber);
  app.add_option("--data", data, "Folder for the tasks. Default: a temporary one below /var/tmp");
  CLI11_PARSE(app, argc, argv);
  printConditions();
  const bool isTemporary = data.empty();
  if (isTemporary) {
    char name[] = "/var/tmp/tarcil-bench-XXXXXX";
    data = ::mkdtemp(name);
  }
  {
    const Sleepers sleepers(data, tasks);
    measureAll(sleepers, tasks, {measurements, std::chrono::milliseconds(periodMs)});
  }
  if (isTemporary) std::filesystem::remove_all(data);
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  return tarcil::bench::run(argc, argv);
}
