#include "profiler/event_count.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tarcil {

static_assert(kInstructions.type == PERF_TYPE_HARDWARE && kInstructions.config == PERF_COUNT_HW_INSTRUCTIONS);

Result<int> countOfChildren(const CountedEvent& event) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = event.type;
  wanted.config = event.config;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  wanted.disabled = 1;
  wanted.enable_on_exec = 1;
  wanted.inherit = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  const long fd = ::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) return notFound("perf_event_open: " + std::generic_category().message(errno));
  return static_cast<int>(fd);
}

std::optional<double> readCount(int count) {
  std::array<uint64_t, 3> numbers{};
  if (::read(count, numbers.data(), sizeof numbers) != sizeof numbers) return std::nullopt;
  const auto [value, enabled, running] = numbers;
  if (running == 0) return std::nullopt;
  return static_cast<double>(value) * (static_cast<double>(enabled) / static_cast<double>(running));
}

Status countable(const CountedEvent& event) {
  const auto count = countOfChildren(event);
  if (!count) return count.error();
  ::close(*count);
  return {};
}

}  // namespace tarcil
