// Question: do the measured pressures agree with loads of known intensity, and does a load that a task causes
// stay out of the background?
//
//   pressure_loads [--seconds N] [--folder DIR] [LOAD...]       LOAD: core, memory, disk, network, waiting
//
// For each load and intensity: measures the machine as it is, then with the load beside the tasks, then with
// the load inside a task's cgroups, each for N seconds, and prints the mean pressures. Expected is the
// difference that the intensity stands for: of the background beside the tasks, of the task's own pressure
// inside one, where the background's is 0. For disks there is no expectation, since nobody knows what the
// disk can do. `waiting`: what a task feels, by its cgroup's stalls: two processes that want the same core at
// the same time, and one that writes past the page cache, each for a share of the time, which is the expected
// share of waiting. Needs root; what other programs do meanwhile shows.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/report.h"
#include "env/clock.h"
#include "monitor/container/cgroup_tree.h"
#include "monitor/logic/pressure/formulas.h"
#include "monitor/logic/pressure/task_pressure.h"
#include "monitor/pressure/meter.h"
#include "monitor/pressure/task_reader.h"

namespace tarcil::bench {
namespace {

using namespace std::chrono_literals;

constexpr double kNetworkBytesPerSecond = 100e6;  // what loopback is said to do
constexpr auto kSlice = 20ms;                     // of a load that takes turns between work and rest

CgroupTree& tree() {
  static CgroupTree made({}, {"tarcil-bench-loads", "bench"});
  return made;
}

// To be closed by a load that has reached its intensity.
using ReadyFd = int;

// Runs `load` in a process of its own, in a task's cgroups or in none, as long as this object lives. Made, it
// is ready.
class Load {
 public:
  Load(bool inTask, const std::function<void(ReadyFd)>& load) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    const TaskCgroups cgroups = tree().forTask(1, {});
    if (inTask) {
      for (const auto& directory : cgroups.directories) ::mkdir(directory.c_str(), 0755);
    }
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(ends[1]);
      char nothing;
      [[maybe_unused]] const ssize_t got = ::read(ends[0], &nothing, 1);
      ::close(ends[0]);
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (inTask) {
      for (const auto& file : cgroups.joins) std::ofstream(file) << "0" << std::flush;
      if (!cgroups.birth.empty()) std::ofstream(cgroups.birth + "/cgroup.procs") << "0" << std::flush;
    }
    load(ends[1]);
    ::_exit(0);
  }
  ~Load() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    tree().remove(1);
  }

 private:
  pid_t pid_ = 0;
};

// Two processes that want the first core at the same time, for so much of each slice: until its end one of
// them waits.
[[noreturn]] void contend(double share, ReadyFd ready) {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  ::sched_setaffinity(0, sizeof first, &first);
  const auto begin = Steady::now();
  if (::fork() == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close(ready);
  for (auto next = begin;; next += kSlice) {
    const auto end = next + std::chrono::duration_cast<Steady::duration>(kSlice * share);
    while (Steady::now() < end) {
    }
    std::this_thread::sleep_until(next + kSlice);
  }
}

// Works so many milliseconds of each slice.
[[noreturn]] void spin(double share, ReadyFd ready) {
  ::close(ready);
  for (auto next = Steady::now();; next += kSlice) {
    const auto end = next + std::chrono::duration_cast<Steady::duration>(kSlice * share);
    while (Steady::now() < end) {
    }
    std::this_thread::sleep_until(next + kSlice);
  }
}

[[noreturn]] void hold(size_t bytes, ReadyFd ready) {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) ::_exit(1);
  ::close(ready);
  for (;;) ::pause();
}

// Writes so many bytes a second past the page cache.
[[noreturn]] void writeDisk(const std::string& folder, double bytesPerSecond, ReadyFd ready) {
  ::close(ready);
  constexpr size_t kPiece = 1 << 18;
  const std::string file = folder + "/pressure-load-" + std::to_string(::getpid());
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
  ::unlink(file.c_str());
  void* piece = ::aligned_alloc(4096, kPiece);
  std::memset(piece, 1, kPiece);
  const auto gap = std::chrono::duration_cast<Steady::duration>(
      std::chrono::duration<double>(static_cast<double>(kPiece) / bytesPerSecond));
  off_t at = 0;
  for (auto next = Steady::now();; next += gap) {
    if (::pwrite(fd, piece, kPiece, at) < 0) ::_exit(1);
    at = (at + static_cast<off_t>(kPiece)) % (64 << 20);
    std::this_thread::sleep_until(next);
  }
}

// Sends so many bytes a second to itself over loopback.
[[noreturn]] void sendBytes(double bytesPerSecond, ReadyFd ready) {
  ::close(ready);
  constexpr size_t kPacket = 32'000;
  const int receiver = ::socket(AF_INET, SOCK_DGRAM, 0), sender = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(receiver, reinterpret_cast<sockaddr*>(&address), size) != 0) ::_exit(1);
  ::getsockname(receiver, reinterpret_cast<sockaddr*>(&address), &size);
  std::vector<char> packet(kPacket, 'x');
  const auto gap = std::chrono::duration_cast<Steady::duration>(
      std::chrono::duration<double>(static_cast<double>(kPacket) / bytesPerSecond));
  for (auto next = Steady::now();; next += gap) {
    ::sendto(sender, packet.data(), kPacket, 0, reinterpret_cast<sockaddr*>(&address), size);
    ::recv(receiver, packet.data(), kPacket, 0);
    std::this_thread::sleep_until(next);
  }
}

// Writes past the page cache, one small piece after the other, for so much of each slice.
[[noreturn]] void waitForDisk(const std::string& folder, double share, ReadyFd ready) {
  constexpr size_t kPiece = 1 << 14;
  const std::string file = folder + "/waiting-load-" + std::to_string(::getpid());
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_DSYNC, 0600);
  ::unlink(file.c_str());
  void* piece = ::aligned_alloc(4096, kPiece);
  std::memset(piece, 1, kPiece);
  for (int i = 0; i < 1024; ++i) {
    if (::pwrite(fd, piece, kPiece, i * static_cast<off_t>(kPiece)) < 0) ::_exit(1);
  }
  ::close(ready);
  constexpr auto kLongSlice = 20 * kSlice;  // of many pieces
  off_t at = 0;
  for (auto next = Steady::now();; next += kLongSlice) {
    const auto end = next + std::chrono::duration_cast<Steady::duration>(kLongSlice * share);
    while (Steady::now() < end) {
      if (::pwrite(fd, piece, kPiece, at) < 0) ::_exit(1);
      at = (at + static_cast<off_t>(kPiece)) % (16 << 20);
    }
    std::this_thread::sleep_until(next + kLongSlice);
  }
}

PressureOptions pressureOptions() {
  PressureOptions options;
  options.background.smoothing = Duration::zero();
  options.interfaces = {"lo"};
  options.networkBytesPerSecond = kNetworkBytesPerSecond;
  return options;
}

constexpr double kAbsent = -1000;

// Mean of the resource's background over the seconds, unsmoothed; negative: absent.
double measured(Resource resource, int seconds) {
  PressureMeter meter("bench", pressureOptions(), {}, {}, tree().counted());
  std::this_thread::sleep_for(500ms);  // the load gets going
  meter.measure({}, systemClock().now().steady);
  double sum = 0;
  for (int i = 0; i < seconds; ++i) {
    std::this_thread::sleep_for(1s);
    meter.measure({}, systemClock().now().steady);
    sum += meter.background()[static_cast<size_t>(resource)].value_or(kAbsent);
  }
  return sum / seconds;
}

// What the load in a task's cgroups puts on the resource by itself, over the seconds; negative: absent.
double measuredOfTask(Resource resource, int seconds) {
  ServerReader server(pressureOptions(), {}, {}, tree().counted(), nullptr);
  TaskReader task(tree().counted(1), {}, server.interfaces());
  const auto now = []() { return systemClock().now().steady; };
  const PressureReading before = server.read(now());
  const TaskReading taskBefore = task.read(TaskReader::What::kUse, now());
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const PressureReading after = server.read(now());
  const TaskReading taskAfter = task.read(TaskReader::What::kUse, now());
  const auto pressure =
      taskPressure(before.machine, after.machine, taskBefore, taskAfter, server.capacities());
  const auto& of = pressure[static_cast<size_t>(resource)];
  return of.ok() ? *of : kAbsent;
}

struct Case {
  Resource resource;
  std::string intensity;
  double expected;  // difference; negative: nobody knows
  std::function<void(ReadyFd)> load;
};

void run(const Case& one, int seconds) {
  const double without = measured(one.resource, seconds);
  double beside = 0, inside = 0, own = 0;
  {
    const Load load(false, one.load);
    beside = measured(one.resource, seconds);
  }
  {
    const Load load(true, one.load);
    inside = measured(one.resource, seconds);
    own = measuredOfTask(one.resource, seconds);
  }
  const std::string expected = one.expected < 0 ? "?" : std::to_string(one.expected).substr(0, 4);
  std::printf(
      "%-17s %-22s without %5.1f   beside tasks %5.1f (+%5.1f, expected +%s)   in a task %5.1f (%+5.1f), its "
      "own "
      "%5.1f\n",
      std::string(kResourceNames[static_cast<size_t>(one.resource)]).c_str(), one.intensity.c_str(), without,
      beside, beside - without, expected.c_str(), inside, inside - without, own);
  std::fflush(stdout);
}

// What a task feels with the load inside it, in per cent of the time.
void runWaiting(const std::string& what, double share, const std::function<void(ReadyFd)>& load,
                Reading<StallTimes> TaskCounters::*stall, int seconds) {
  const Load running(true, load);
  TaskReader task(tree().counted(1), {}, {});
  const auto now = []() { return systemClock().now().steady; };
  const TaskReading before = task.read(TaskReader::What::kAll, now());
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const TaskReading after = task.read(TaskReader::What::kAll, now());
  const auto waited = stallShare(before.counters.*stall, after.counters.*stall,
                                 std::chrono::duration_cast<Duration>(after.when - before.when));
  std::printf("waiting for a %-5s %4.0f %% of the time: measured %s\n", what.c_str(), 100 * share,
              waited.ok() ? (std::to_string(100 * *waited).substr(0, 5) + " %").c_str()
                          : waited.error().message.c_str());
  std::fflush(stdout);
}

void runWaiting(const std::string& folder, int seconds) {
  for (const double share : {0.25, 0.5, 0.75}) {
    runWaiting(
        "core", share, [share](ReadyFd ready) { contend(share, ready); }, &TaskCounters::cpuStall, seconds);
  }
  for (const double share : {0.25, 0.5, 0.75}) {
    runWaiting(
        "disk", share, [&folder, share](ReadyFd ready) { waitForDisk(folder, share, ready); },
        &TaskCounters::ioStall, seconds);
  }
}

std::vector<Case> casesFor(const std::string& load, const std::string& folder) {
  std::vector<Case> cases;
  if (load == "core") {
    const double cores = std::max(1u, std::thread::hardware_concurrency());
    for (const double share : {0.25, 0.5, 0.75}) {
      cases.push_back({Resource::kCore, std::to_string(share).substr(0, 4) + " of a core",
                       kMaxPressure * share / cores, [share](ReadyFd ready) { spin(share, ready); }});
    }
  } else if (load == "memory") {
    const double all =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    for (const size_t gibibytes : {1, 2, 4}) {
      const size_t bytes = gibibytes << 30;
      cases.push_back({Resource::kMemoryCapacity, std::to_string(gibibytes) + " GiB",
                       kMaxPressure * static_cast<double>(bytes) / all,
                       [bytes](ReadyFd ready) { hold(bytes, ready); }});
    }
  } else if (load == "disk") {
    for (const int megabytes : {10, 40, 160}) {
      cases.push_back({Resource::kDiskBandwidth, std::to_string(megabytes) + " MB/s written", -1,
                       [folder, megabytes](ReadyFd ready) { writeDisk(folder, megabytes * 1e6, ready); }});
    }
  } else {
    for (const int megabytes : {10, 25, 50}) {
      cases.push_back({Resource::kNetworkBandwidth, std::to_string(megabytes) + " of 100 MB/s",
                       kMaxPressure * megabytes * 1e6 / kNetworkBytesPerSecond,
                       [megabytes](ReadyFd ready) { sendBytes(megabytes * 1e6, ready); }});
    }
  }
  return cases;
}

int run(int argc, char** argv) {
  int seconds = 5;
  std::string folder = "/var/tmp";
  std::vector<std::string> loads = {"core", "memory", "disk", "network", "waiting"};
  CLI::App app("Whether measured pressures agree with loads of known intensity.");
  app.add_option("--seconds", seconds, "Of each measurement. Default: 5")->check(CLI::PositiveNumber);
  app.add_option("--folder", folder, "On the disk to be loaded. Default: /var/tmp");
  app.add_option("LOAD", loads, "core, memory, disk, network, waiting. Default: all")
      ->check(CLI::IsMember({"core", "memory", "disk", "network", "waiting"}));
  CLI11_PARSE(app, argc, argv);
  printConditions();
  for (const std::string& load : loads) {
    if (load == "waiting") {
      runWaiting(folder, seconds);
      continue;
    }
    for (const Case& one : casesFor(load, folder)) run(one, seconds);
  }
  tree().removeUnused();
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  return tarcil::bench::run(argc, argv);
}
