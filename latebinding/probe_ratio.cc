#include "latebinding/probe_ratio.h"

#include <algorithm>

namespace tarcil::late {
namespace {

constexpr double kHeadroom = 1.25;
// The share of a task's time that may go into asks that find no task.
constexpr double kFutileShare = 0.1;
// When so many probes, or tasks, are counted, all counts are halved.
constexpr double kWindow = 4096;
// Fewer probes say nothing: the fixed ratio is used.
constexpr double kFewest = 64;

}  // namespace

double ProbeRatio::ratio() const {
  if (!options_.adaptRatio || probes_ < kFewest) return options_.probeRatio;
  double ratio = kHeadroom * probes_ / std::max(atOnce_, 1.0);
  if (getTaskUs_ > 0) ratio = std::min(ratio, 1 + kFutileShare * serviceUs_ / getTaskUs_);
  return std::clamp(ratio, options_.leastRatio, options_.mostRatio);
}

void ProbeRatio::noteProbes(uint64_t count) {
  probes_ += static_cast<double>(count);
  if (probes_ < kWindow) return;
  probes_ /= 2;
  atOnce_ /= 2;
}

void ProbeRatio::noteAsk(Duration queued) {
  if (queued == Duration(0)) ++atOnce_;
}

void ProbeRatio::noteTask(Duration getTask, Duration service) {
  getTaskUs_ += static_cast<double>(getTask.count());
  serviceUs_ += static_cast<double>(service.count());
  if (++tasks_ < kWindow) return;
  tasks_ /= 2;
  getTaskUs_ /= 2;
  serviceUs_ /= 2;
}

}  // namespace tarcil::late
