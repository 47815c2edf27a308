#include "profiler/quietness.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace tarcil {
namespace {

double ownSeconds() {
  double sum = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    }
  }
  return sum;
}

}  // namespace

Quietness::Quietness(std::string stat) : stat_(std::move(stat)), start_(read()), ownStart_(ownSeconds()) {}

std::optional<Quietness::Times> Quietness::read() const {
  std::ifstream file(stat_);
  std::string name;
  std::array<double, 8> ticks{};  // user, nice, system, idle, waiting for disks, interrupts (2), stolen
  file >> name;
  for (double& tick : ticks) file >> tick;
  if (!file || name != "cpu") return std::nullopt;
  Times times;
  for (size_t i = 0; i < ticks.size(); ++i) {
    times.all += ticks[i];
    if (i != 3 && i != 4) times.busy += ticks[i];
  }
  const auto perSecond = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return Times{times.busy / perSecond, times.all / perSecond};
}

std::optional<double> Quietness::usedByOthers() const {
  const auto now = read();
  if (!now || !start_ || now->all <= start_->all) return std::nullopt;
  const double others = now->busy - start_->busy - (ownSeconds() - ownStart_);
  return std::clamp(others / (now->all - start_->all), 0.0, 1.0);
}

}  // namespace tarcil
