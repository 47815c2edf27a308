// Question: what does it cost to start a task in its container, against starting the bare program?
//
//   task_start [--tasks N] [--outstanding W] [--output-seconds S] [--data DIR]
//
// Prints: posix_spawn + wait of `true`; one task at a time through the ContainerExecutor: from start() to the
// executed command and to the reported end, idle in between and back to back; throughput of `true` with W
// tasks outstanding; of tasks of one core that write, for S seconds each (0: not), how much, and the
// processor time that this takes within their limits and beside them. Needs root. The shim is expected beside
// this program's folder.
#include <kj/async-unix.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "env/clock.h"
#include "monitor/container/container_executor.h"

namespace tarcil {
namespace {

using Steady = std::chrono::steady_clock;

double microseconds(Steady::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

void print(const char* what, std::vector<double> us) {
  std::sort(us.begin(), us.end());
  std::printf("%-44s p50 %8.0f us   p99 %8.0f us   (%zu)\n", what, us[us.size() / 2],
              us[us.size() * 99 / 100], us.size());
}

double cpuSeconds() {
  double total = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      total += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
  }
  return total;
}

void measureBare(size_t tasks) {
  std::vector<double> whole;
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  const double cpu = cpuSeconds();
  for (size_t i = 0; i < tasks; ++i) {
    const auto begin = Steady::now();
    pid_t pid = 0;
    if (::posix_spawn(&pid, program, nullptr, nullptr, arguments, nullptr) != 0) std::abort();
    ::waitpid(pid, nullptr, 0);
    whole.push_back(microseconds(Steady::now() - begin));
  }
  print("posix_spawn of true, to its end", std::move(whole));
  std::printf("posix_spawn of true: %.2f ms CPU\n", (cpuSeconds() - cpu) * 1e3 / static_cast<double>(tasks));
}

class Runner final : public ExecutorListener {
 public:
  Runner(ContainerOptions options, size_t outstanding)
      : data_(options.dataDirectory), outstanding_(outstanding), loop_(port_), scope_(loop_) {
    auto opened = ContainerExecutor::open(std::move(options), port_, systemClock(), *this);
    if (!opened) {
      std::fprintf(stderr, "task_start: %s\n", opened.error().message.c_str());
      std::exit(1);
    }
    executor_ = kj::mv(*opened);
    for (const auto& name : executor_->missing()) std::printf("missing here: %s\n", name.c_str());
  }

  void measureSingles(const char* when, size_t tasks, std::chrono::milliseconds pause) {
    std::vector<double> recorded, toStart, toEnd;
    for (size_t i = 0; i < tasks; ++i) {
      std::this_thread::sleep_for(pause);
      const auto begin = Steady::now();
      launch();
      recorded.push_back(microseconds(Steady::now() - begin));
      finish(1);
      toStart.push_back(microseconds(startedAt_ - begin));
      toEnd.push_back(microseconds(endedAt_ - begin));
    }
    print((std::string("task, ") + when + ": record + start()").c_str(), std::move(recorded));
    print((std::string("task, ") + when + ": to taskStarted").c_str(), std::move(toStart));
    print((std::string("task, ") + when + ": to taskEnded").c_str(), std::move(toEnd));
  }

  void measureThroughput(size_t tasks) {
    const auto begin = Steady::now();
    const double cpu = cpuSeconds();
    toLaunch_ = tasks;
    for (size_t i = 0; i < outstanding_ && toLaunch_ > 0; ++i) launchNext();
    finish(tasks);
    const double seconds = microseconds(Steady::now() - begin) / 1e6;
    std::printf("%zu outstanding: %.0f tasks/s, %.2f ms CPU of monitor, shim and command per task (%zu)\n",
                outstanding_, static_cast<double>(tasks) / seconds,
                (cpuSeconds() - cpu) * 1e3 / static_cast<double>(tasks), tasks);
  }

  void measureOutput(const char* what, std::vector<std::string> command, std::chrono::seconds time) {
    launch(std::move(command));
    const AllocationId allocation = allocation_;
    do {
      wait(kSettling);
    } while (!std::filesystem::exists(outputOf(allocation)));
    const auto begin = Steady::now();
    const Output before = output(allocation);
    wait(time);
    const Output after = output(allocation);
    const double seconds = microseconds(Steady::now() - begin) / 1e6;
    std::printf("%-44s %8.1f MB/s   %5.3f cores within the task's limits, %5.3f beside\n", what,
                static_cast<double>(after.bytes - before.bytes) / 1e6 / seconds,
                (after.within - before.within) / seconds, (after.beside - before.beside) / seconds);
    executor_->signal(allocation, SIGKILL);
    finish(1);
  }

 private:
  static constexpr std::chrono::seconds kSettling{1};

  // Of a task since its start: what it wrote, and seconds of processor time of its cgroup and of its shim.
  struct Output {
    uint64_t bytes = 0;
    double within = 0, beside = 0;
  };

  std::string outputOf(AllocationId allocation) const {
    return data_ + "/tasks/" + std::to_string(allocation) + "/stdout";
  }

  Output output(AllocationId allocation) {
    const CgroupDirectories in = executor_->counted();
    const std::string cgroup = "/" + std::to_string(allocation);
    std::string pid, name;
    double used = 0, supervisor = 0;
    std::ifstream(data_ + "/tasks/" + std::to_string(allocation) + "/lock") >> pid;
    std::ifstream("/proc/" + pid + "/schedstat") >> supervisor;
    if (in.unified.empty()) {
      std::ifstream(in.cpuacct + cgroup + "/cpuacct.usage") >> used;
    } else {
      std::ifstream(in.unified + cgroup + "/cpu.stat") >> name >> used;
      used *= 1e3;
    }
    return {std::filesystem::file_size(outputOf(allocation)), used / 1e9, supervisor / 1e9};
  }

  void wait(std::chrono::seconds time) {
    port_.getTimer().afterDelay(time.count() * kj::SECONDS).wait(scope_);
  }

  void taskStarted(AllocationId, WallTime) override { startedAt_ = Steady::now(); }
  void taskEnded(AllocationId allocation, const TaskEnd& end) override {
    endedAt_ = Steady::now();
    if (!end.succeeded() && end.signal != SIGKILL) {
      std::fprintf(stderr, "task_start: a task failed: %s\n", end.problem.c_str());
      std::exit(1);
    }
    executor_->forget(allocation);
    ++ended_;
    if (toLaunch_ > 0) launchNext();
    if (ended_ == expected_) done_->fulfill();
  }

  void launchNext() {
    --toLaunch_;
    launch();
  }

  void launch(std::vector<std::string> command = {"true"}) {
    LaunchSpec spec;
    spec.allocation = ++allocation_;
    spec.jobName = "bench";
    spec.rus = {static_cast<RuIndex>(allocation_ % 64)};
    spec.command = std::move(command);
    spec.user = "nobody";
    executor_->record(spec);
    executor_->start(spec, {}, {});
  }

  void finish(size_t tasks) {
    auto paf = kj::newPromiseAndFulfiller<void>();
    done_ = kj::mv(paf.fulfiller);
    expected_ = ended_ + tasks;
    paf.promise.wait(scope_);
  }

  const std::string data_;
  const size_t outstanding_;
  kj::UnixEventPort port_;
  kj::EventLoop loop_;
  kj::WaitScope scope_;
  kj::Own<kj::PromiseFulfiller<void>> done_;
  // Never used before, also with a data folder that was.
  AllocationId allocation_ = static_cast<AllocationId>(systemClock().now().wall.time_since_epoch().count());
  size_t ended_ = 0;
  size_t expected_ = 0;
  size_t toLaunch_ = 0;
  Steady::time_point startedAt_, endedAt_;
  kj::Own<ContainerExecutor> executor_;
};

// A task that writes so many bytes, waits a tenth of a second and writes on.
std::vector<std::string> writer(const std::string& bytes) {
  return {"sh", "-c", "while :; do head -c " + bytes + " /dev/zero; sleep 0.1; done"};
}

int run(int argc, char** argv) {
  size_t tasks = 2000;
  size_t outstanding = 64;
  std::chrono::seconds output{10};
  std::string data;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--tasks") == 0) tasks = std::stoul(argv[i + 1]);
    if (std::strcmp(argv[i], "--outstanding") == 0) outstanding = std::stoul(argv[i + 1]);
    if (std::strcmp(argv[i], "--output-seconds") == 0) output = std::chrono::seconds(std::stoul(argv[i + 1]));
    if (std::strcmp(argv[i], "--data") == 0) data = argv[i + 1];
  }
  utsname machine{};
  ::uname(&machine);
  std::printf("%s %s, %u cores\n", machine.sysname, machine.release, std::thread::hardware_concurrency());
#ifndef NDEBUG
  std::printf("warning: built with assertions; figures are not comparable\n");
#endif
  const bool temporary = data.empty();
  if (temporary) {
    char name[] = "/var/tmp/tarcil-bench-XXXXXX";
    data = ::mkdtemp(name);
  }
  ContainerOptions options;
  options.dataDirectory = data;
  options.shim = std::filesystem::canonical("/proc/self/exe").parent_path().parent_path() / "tarcil-shim";
  options.tag = "bench";
  options.server = "bench";
  for (uint32_t core = 0; core < std::thread::hardware_concurrency(); ++core)
    options.units.push_back({{core}});
  options.memoryPerRu = 64 << 20;
  {
    Runner runner(options, outstanding);
    measureBare(std::min<size_t>(tasks, 500));
    runner.measureSingles("idle between", std::min<size_t>(tasks, 30), std::chrono::milliseconds(100));
    runner.measureSingles("back to back", std::min<size_t>(tasks, 500), std::chrono::milliseconds(0));
    runner.measureThroughput(tasks);
    if (output.count() > 0) {
      runner.measureOutput("`yes`", {"yes"}, output);
      runner.measureOutput("5 MB ten times a second", writer("5000000"), output);
      runner.measureOutput("0.5 MB ten times a second", writer("500000"), output);
    }
  }
  if (temporary) std::filesystem::remove_all(data);
  return 0;
}

}  // namespace
}  // namespace tarcil

int main(int argc, char** argv) {
  return tarcil::run(argc, argv);
}
