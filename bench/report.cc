#include "bench/report.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <thread>

#include "core/model/sample_size.h"

namespace tarcil::bench {
namespace {

// Of the "cpu" line of /proc/stat, in clock ticks: user nice system idle iowait irq softirq steal. Stolen
// time is busy as well: somebody waited for it.
double busyTicks() {
  std::ifstream stat("/proc/stat");
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  stat >> label >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return user + nice + system + irq + softirq + steal;
}

// Nearest rank. Requires: sorted, not empty.
double percentile(const std::vector<double>& sorted, double percent) {
  const auto rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace

double milliseconds(Steady::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double processorNs() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void printConditions() {
  utsname machine{};
  ::uname(&machine);
  struct sysinfo info {};
  ::sysinfo(&info);
  double load = 0;
  ::getloadavg(&load, 1);
  std::printf("%s %s, %u cores, %.0f GiB, load %.1f; %s\n", machine.sysname, machine.release,
              std::thread::hardware_concurrency(),
              static_cast<double>(info.totalram) * info.mem_unit / (1024.0 * 1024 * 1024), load,
#ifdef __OPTIMIZE__
              "optimised build"
#else
              "build without optimisation"
#endif
  );
#ifndef NDEBUG
  std::printf("warning: built with assertions; figures are not comparable\n");
#endif
}

void printSpread(const std::string& what, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  std::printf("%-36s min %7.2f  p50 %7.2f  p95 %7.2f  p99 %7.2f  max %7.2f ms  (%zu)\n", what.c_str(),
              ms.front(), percentile(ms, 50), percentile(ms, 95), percentile(ms, 99), ms.back(), ms.size());
}

Interval shareInterval(uint64_t hits, uint64_t of) {
  if (of == 0) return {};
  constexpr double kEachSide = 0.975;
  return {lowerBound(hits, of, kEachSide), 1 - lowerBound(of - hits, of, kEachSide)};
}

MachineCpu::MachineCpu() : busyAtStart_(busyTicks()) {}

double MachineCpu::busySeconds() const {
  return (busyTicks() - busyAtStart_) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace tarcil::bench
