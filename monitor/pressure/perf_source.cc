#include <fcntl.h>
#include <kj/io.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "monitor/pressure/hardware_counters.h"

namespace tarcil {
namespace {

// hardware_events.cc writes these as numbers.
static_assert(PERF_TYPE_HARDWARE == 0 && PERF_TYPE_HW_CACHE == 3);
static_assert(PERF_COUNT_HW_CPU_CYCLES == 0 && PERF_COUNT_HW_INSTRUCTIONS == 1 &&
              PERF_COUNT_HW_CACHE_REFERENCES == 2 && PERF_COUNT_HW_CACHE_MISSES == 3);
static_assert(PERF_COUNT_HW_CACHE_L1D == 0 && PERF_COUNT_HW_CACHE_L1I == 1 && PERF_COUNT_HW_CACHE_LL == 2 &&
              PERF_COUNT_HW_CACHE_DTLB == 3 && PERF_COUNT_HW_CACHE_ITLB == 4);
static_assert(PERF_COUNT_HW_CACHE_OP_READ == 0 && PERF_COUNT_HW_CACHE_RESULT_ACCESS == 0 &&
              PERF_COUNT_HW_CACHE_RESULT_MISS == 1);

class LinuxPerf final : public PerfSource {
 public:
  explicit LinuxPerf(const std::string& cgroup) : ofCgroup_(!cgroup.empty()) {
    if (ofCgroup_) cgroup_ = kj::AutoCloseFd(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  ~LinuxPerf() noexcept override {}

  Result<size_t> open(const HardwareEvent& event, uint32_t core) override {
    if (ofCgroup_ && cgroup_.get() < 0) return notFound("its cgroup of version 2 is not there");
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = event.type;
    wanted.config = event.config;
    wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const unsigned long flags = PERF_FLAG_FD_CLOEXEC | (ofCgroup_ ? PERF_FLAG_PID_CGROUP : 0ul);
    const long fd = ::syscall(SYS_perf_event_open, &wanted, ofCgroup_ ? cgroup_.get() : -1,
                              static_cast<int>(core), -1, flags);
    if (fd < 0) return notFound("perf_event_open: " + std::generic_category().message(errno));
    events_.emplace_back(static_cast<int>(fd));
    return events_.size() - 1;
  }

  std::optional<RawCount> read(size_t event) override {
    uint64_t numbers[3] = {};
    if (::read(events_[event], numbers, sizeof numbers) != sizeof numbers) return std::nullopt;
    return RawCount{numbers[0], numbers[1], numbers[2]};
  }

 private:
  const bool ofCgroup_;
  kj::AutoCloseFd cgroup_;
  std::vector<kj::AutoCloseFd> events_;
};

}  // namespace

std::unique_ptr<PerfSource> linuxPerf(const std::string& cgroup) {
  return std::make_unique<LinuxPerf>(cgroup);
}

}  // namespace tarcil
