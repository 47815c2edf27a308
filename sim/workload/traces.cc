#include "sim/workload/traces.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/model/job.h"
#include "sim/workload/trace_text.h"

namespace tarcil::sim {
namespace {

// Ten years, in seconds: what is longer is a slip.
constexpr int64_t kMaxSeconds = 10LL * 365 * 86'400;
constexpr int64_t kMaxNumber = 1'000'000'000;
constexpr int64_t kMaxBytes = int64_t{1} << 60;

constexpr std::array<std::string_view, 11> kOpenbColumns = {
    "name", "cpu_milli", "memory_mib",    "num_gpu",       "gpu_milli",     "gpu_spec",
    "qos",  "pod_phase", "creation_time", "deletion_time", "scheduled_time"};

Duration seconds(int64_t count) {
  return std::chrono::seconds(count);
}

Result<Trace> finished(Trace trace, const TraceText& text, const std::string& file) {
  if (const Status status = text.verdict(); !status) return status.error();
  if (trace.jobs.empty()) {
    return invalid(file + ":1:1: file: has no job that ran; write one a line (docs/simulator.md)");
  }
  return trace;
}

// The order of magnitude, as a digit: 0 for nothing.
char magnitude(int64_t bytes) {
  char digit = '0';
  for (; bytes > 0; bytes /= 10) ++digit;
  return digit;
}

// FNV-1a: the same on every machine.
uint64_t hashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

Result<Trace> readSwf(std::string_view text, const std::string& file) {
  TraceText lines(text, file, Separator::kBlanks);
  Trace trace;
  while (lines.next(';')) {
    if (!lines.require(18)) continue;
    const auto submitted = lines.integer(1, "submit time", 0, kMaxSeconds);
    const auto ran = lines.integer(3, "run time", -1, kMaxSeconds);
    const auto allocated = lines.integer(4, "allocated processors", -1, kMaxTasks);
    const auto requested = lines.integer(7, "requested processors", -1, kMaxTasks);
    const auto user = lines.integer(11, "user", -1, kMaxNumber);
    const auto executable = lines.integer(13, "executable", -1, kMaxNumber);
    if (!submitted || !ran || !allocated || !requested || !user || !executable) continue;
    const int64_t processors = *allocated > 0 ? *allocated : *requested;
    if (*ran <= 0 || processors <= 0) {
      ++trace.skipped;
      continue;
    }
    trace.jobs.push_back({.arrival = seconds(*submitted),
                          .tasks = static_cast<uint32_t>(processors),
                          .each = seconds(*ran),
                          .application = std::to_string(*user) + "/" + std::to_string(*executable)});
  }
  return finished(std::move(trace), lines, file);
}

Result<Trace> readOpenb(std::string_view text, const std::string& file) {
  TraceText lines(text, file, Separator::kComma);
  Trace trace;
  bool isFirst = true;
  while (lines.next()) {
    if (!lines.require(kOpenbColumns.size())) continue;
    if (std::exchange(isFirst, false)) {
      for (size_t i = 0; i < kOpenbColumns.size(); ++i) {
        if (lines.field(i) != kOpenbColumns[i]) {
          lines.problem(i, "header",
                        "is " + inQuotes(lines.field(i)) + "; write " + std::string(kOpenbColumns[i]));
        }
      }
      continue;
    }
    const auto milli = lines.integer(1, kOpenbColumns[1], 1, int64_t{kMaxRusPerTask} * 1'000);
    const auto created = lines.integer(8, kOpenbColumns[8], 0, kMaxSeconds);
    const auto deleted = lines.integer(9, kOpenbColumns[9], 0, kMaxSeconds);
    if (!milli || !created || !deleted) continue;
    if (lines.field(10).empty()) {
      ++trace.skipped;
      continue;
    }
    const auto scheduled = lines.integer(10, kOpenbColumns[10], *created, kMaxSeconds);
    if (!scheduled) continue;
    if (*deleted <= *scheduled) {
      lines.problem(9, kOpenbColumns[9], "is not later than scheduled_time; mend one of them");
      continue;
    }
    trace.jobs.push_back({.arrival = seconds(*created),
                          .rus = static_cast<uint32_t>((*milli + 999) / 1'000),
                          .each = seconds(*deleted - *scheduled),
                          .application = std::string(lines.field(6)) + "/" + std::to_string(*milli)});
  }
  return finished(std::move(trace), lines, file);
}

Result<Trace> readSwim(std::string_view text, const std::string& file) {
  constexpr int64_t kBytesPerTask = int64_t{128} << 20, kBytesPerSecond = 50'000'000, kMaxTasks = 10'000;
  TraceText lines(text, file, Separator::kTab);
  Trace trace;
  while (lines.next()) {
    if (!lines.require(6)) continue;
    const auto submitted = lines.integer(1, "submit time", 0, kMaxSeconds);
    const auto input = lines.integer(3, "input bytes", 0, kMaxBytes);
    const auto shuffle = lines.integer(4, "shuffle bytes", 0, kMaxBytes);
    const auto output = lines.integer(5, "output bytes", 0, kMaxBytes);
    if (!submitted || !input || !shuffle || !output) continue;
    const int64_t tasks = std::clamp<int64_t>((*input + kBytesPerTask - 1) / kBytesPerTask, 1, kMaxTasks);
    const double bytes =
        static_cast<double>(*input) + static_cast<double>(*shuffle) + static_cast<double>(*output);
    const double moving = bytes / static_cast<double>(tasks) / static_cast<double>(kBytesPerSecond);
    trace.jobs.push_back({.arrival = seconds(*submitted),
                          .tasks = static_cast<uint32_t>(tasks),
                          .each = seconds(1) + Duration(static_cast<int64_t>(moving * 1e6)),
                          .application = {magnitude(*input), magnitude(*shuffle), magnitude(*output)}});
  }
  return finished(std::move(trace), lines, file);
}

Workload workloadOf(const Trace& trace, uint16_t applications, uint32_t mostRus) {
  std::vector<size_t> order(trace.jobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&trace](size_t a, size_t b) { return trace.jobs[a].arrival < trace.jobs[b].arrival; });
  Workload workload;
  if (order.empty()) return workload;
  const SimTime began = trace.jobs[order.front()].arrival;
  for (size_t index : order) {
    const TraceJob& from = trace.jobs[index];
    SimJob job;
    job.arrival = from.arrival - began;
    job.rus = std::min(from.rus, mostRus);
    job.application = static_cast<ApplicationNumber>(hashOf(from.application) % applications);
    workload.add(job, from.tasks, from.each);
  }
  return workload;
}

}  // namespace tarcil::sim
