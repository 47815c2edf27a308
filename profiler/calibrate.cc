#include "profiler/calibrate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "classifier/kernels/press.h"

namespace tarcil {
namespace {

using Window = std::chrono::duration<double>;

// Windows that a whole calibration measures: dials, three for each pair of kernels, contention.
constexpr double kWindows = 600;
// Each is the best of so many parts: what else runs on the machine only ever makes a kernel slower.
constexpr int kPartsOfAWindow = 4;
constexpr std::array<int, 6> kDialPoints = {10, 25, 50, 75, 90, 99};
constexpr std::array<int, 5> kContentionPoints = {10, 25, 50, 75, 99};
// How often a setting of a dial is tried to come so near, in points, to what is wanted.
constexpr int kDialTries = 6;
constexpr double kCloseEnough = 1.5;
// How often the dial of a cache is measured until it is within kMaxDialError: others who use the cache, also
// from other guests of the machine, may spoil a measurement and never better one.
constexpr int kCacheTries = 3;
// Of a cache, for a walk that surely fits and one that surely does not.
constexpr int kFits = 50, kExceeds = 400;

std::vector<Resource> allResources() {
  std::vector<Resource> all;
  for (int i = 0; i < kResources; ++i) all.push_back(static_cast<Resource>(i));
  return all;
}

std::string nameOf(Resource resource) {
  return std::string(kResourceNames[static_cast<size_t>(resource)]);
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", share * 100);
  return text;
}

// Where the dial stands of a kernel that is to notice others: as high as still leaves room for the others'
// effect to show.
int dialOfVictim(Resource resource) {
  return resource == Resource::kLlc ? 75 : kMaxPressure;
}

// That a kernel notices others by its speed; what the one of memory capacity holds is no speed.
bool noticesOthers(Resource resource) {
  return dialOf(resource) != Dial::kHolding;
}

enum class DialPoints { kPeakAlone, kAll };

class Calibrator final {
 public:
  Calibrator(const Machine& machine, const CalibrateOptions& options, const Progress& progress)
      : machine_(machine),
        options_(options),
        progress_(progress),
        seats_(seatsFor(machine, 1)),
        window_(std::clamp(static_cast<double>(options.budget.count()) / kWindows, 0.04, 1.0)) {
    made_.platform = options.platform;
    made_.processor = machine.processor;
    made_.cores = static_cast<int>(machine.firstThreads.size());
    made_.hasSiblings = machine.hasSiblings();
    made_.llcBytesSaid = made_.llcBytes = machine.llcBytes;
    for (ResourceCalibration& resource : made_.resources) resource.absent = "not calibrated";
  }

  void findCache();
  void calibrateDials(const std::vector<Resource>& resources, DialPoints points);
  void calibrateContention(const std::vector<Resource>& resources);
  void calibrateCrossTalk();
  Calibration made() const { return made_; }

 private:
  Result<Press> start(Resource resource, const std::vector<int>& cores) const {
    PressPlan plan;
    plan.kernel.resource = resource;
    plan.kernel.machine = machine_;
    plan.kernel.scratch = options_.scratch;
    plan.kernel.fillWithin = fillWithin();
    plan.cores = cores;
    if (made_[resource].peak > 0) plan.peak = made_[resource].peak;
    return Press::start(plan);
  }
  std::chrono::seconds fillWithin() const { return std::max(std::chrono::seconds(2), options_.budget / 6); }
  // The rate over a window, and the best speed of its parts.
  Pace paceOf(const Press& press, Resource resource) const {
    const auto part = std::chrono::duration_cast<std::chrono::nanoseconds>(window_ / kPartsOfAWindow);
    const Press::Done before = press.done();
    const auto start = std::chrono::steady_clock::now();
    double speed = 0;
    for (int i = 0; i < kPartsOfAWindow; ++i) speed = std::max(speed, paceOver(resource, press, part).speed);
    const auto passed = std::chrono::steady_clock::now() - start;
    return {paceBetween(resource, before, press.done(), passed).rate, speed};
  }

  // At an intensity; nullopt: the kernel could not, and the resource is absent from now on.
  std::optional<Pace> paceAt(Press& press, Resource resource, int intensity);
  double reached(Resource resource, int intensity, double rate) const {
    return pressureReached(made_, resource, intensity, rate);
  }
  const std::vector<int>& coresOfDial(Resource resource) const;
  void findPeak(Resource resource);
  // What the dial reaches, and where it is set for that; nullopt: the kernel could not.
  struct CachePoints {
    std::vector<DialPoint> reached, settings;
  };
  std::optional<CachePoints> tryCache(Press& press, Resource resource);
  void pointsOfCache(Press& press, Resource resource);
  void pointsOfRate(Press& press, Resource resource);
  std::optional<DialPoint> lostAt(Press& victim, Press& presser, Resource resource, int intensity);

  Machine machine_;
  const CalibrateOptions options_;
  const Progress& progress_;
  const Seats seats_;
  const Window window_;
  Calibration made_;
};

std::optional<Pace> Calibrator::paceAt(Press& press, Resource resource, int intensity) {
  if (const Status status = press.set(intensity); !status) {
    made_[resource].absent = status.error().message;
    progress_(status.error().message);
    return std::nullopt;
  }
  return paceOf(press, resource);
}

// What of the last-level cache is ours: a hypervisor may keep some, and other guests may fill it.
void Calibrator::findCache() {
  const bool isLarge = machine_.llcBytes > 16 * machine_.l2Bytes;
  const bool hasRoom = machine_.memoryBytes > 16 * machine_.llcBytes;
  if (machine_.llcBytes == 0 || !isLarge || !hasRoom) return;
  auto press = start(Resource::kLlc, seats_.command);
  if (!press) return;
  const auto time = [&](int intensity) {
    const auto pace = paceAt(*press, Resource::kLlc, intensity);
    return pace && pace->speed > 0 ? std::optional(1 / pace->speed) : std::nullopt;
  };
  const double fourL2 = 4.0 * static_cast<double>(machine_.l2Bytes) / static_cast<double>(machine_.llcBytes);
  const int first = std::max(1, static_cast<int>(std::lround(fourL2 * kMaxPressure)));
  const auto fits = time(first), exceeds = time(kExceeds);
  if (!fits || !exceeds) return;
  int holds = first;
  for (int intensity :
       {first * 2, first * 3, first * 4, first * 6, first * 8, first * 12, first * 16, kMaxPressure}) {
    if (intensity > kMaxPressure) continue;
    const auto step = time(intensity);
    if (!step || shareFound(*fits, *exceeds, kExceeds / 100.0, *step) < 0.5) break;
    holds = intensity;
  }
  made_.llcBytes = machine_.llcBytes = machine_.llcBytes * static_cast<uint64_t>(holds) / kMaxPressure;
  if (made_.llcBytes < made_.llcBytesSaid) {
    progress_("llc: walks find " + std::to_string(made_.llcBytes >> 20) + " of the " +
              std::to_string(made_.llcBytesSaid >> 20) + " MiB that the machine says it has");
  }
}

std::optional<Calibrator::CachePoints> Calibrator::tryCache(Press& press, Resource resource) {
  const auto fits = paceAt(press, resource, kFits), exceeds = paceAt(press, resource, kExceeds);
  if (!fits || !exceeds) return std::nullopt;
  CachePoints points;
  double lastSetting = 0;
  const auto errorOf = [](int intensity, const DialPoint& tried) {
    return std::abs(tried.value - intensity);
  };
  for (int intensity : kDialPoints) {
    int setting = intensity;
    DialPoint best{setting, 0};
    for (int i = 0; i < kDialTries && errorOf(intensity, best) > kCloseEnough; ++i) {
      const auto pace = paceAt(press, resource, setting);
      if (!pace) return std::nullopt;
      const double found = setting <= kFits ? 1
                                            : shareFound(1 / fits->speed, 1 / exceeds->speed,
                                                         kExceeds / 100.0, 1 / pace->speed);
      const DialPoint tried{setting, setting * found};
      if (errorOf(intensity, tried) < errorOf(intensity, best)) best = tried;
      setting = nextSetting(intensity, setting, tried.value);
    }
    points.reached.push_back({intensity, best.value});
    points.settings.push_back({intensity, std::max(lastSetting, static_cast<double>(best.intensity))});
    lastSetting = points.settings.back().value;
  }
  return points;
}

void Calibrator::pointsOfCache(Press& press, Resource resource) {
  ResourceCalibration& made = made_[resource];
  for (int i = 0; i < kCacheTries && worstError(made).value_or(kMaxPressure) > kMaxDialError; ++i) {
    auto points = tryCache(press, resource);
    if (!points) return;
    ResourceCalibration tried = made;
    tried.reached = std::move(points->reached);
    tried.settings = std::move(points->settings);
    if (*worstError(tried) < worstError(made).value_or(INFINITY)) made = std::move(tried);
  }
}

void Calibrator::pointsOfRate(Press& press, Resource resource) {
  for (int intensity : kDialPoints) {
    const auto start = std::chrono::steady_clock::now();
    const auto pace = paceAt(press, resource, intensity);
    if (!pace) return;
    // Memory that could not be had in time says nothing of the dial.
    const bool isLate = std::chrono::steady_clock::now() - start > fillWithin();
    if (dialOf(resource) == Dial::kHolding && isLate) return;
    made_[resource].reached.push_back({intensity, reached(resource, intensity, pace->rate)});
  }
}

// Of a resource that the machine's cores share, all of them together; of a cache, one core.
const std::vector<int>& Calibrator::coresOfDial(Resource resource) const {
  return dialOf(resource) == Dial::kFootprint ? seats_.command : machine_.firstThreads;
}

void Calibrator::findPeak(Resource resource) {
  auto press = start(resource, coresOfDial(resource));
  if (!press) {
    made_[resource].absent = press.error().message;
    return;
  }
  // What its threads would do if they always had their cores, which other programs may have taken from them.
  const double threads = isWaitedFor(resource) ? 1 : static_cast<double>(coresOfDial(resource).size());
  double best = 0;
  for (int i = 0; i < 3 && !made_[resource].absent; ++i) {
    best = std::max(best, paceAt(*press, resource, kMaxPressure).value_or(Pace{}).speed * threads);
  }
  made_[resource].peak = best;
}

void Calibrator::calibrateDials(const std::vector<Resource>& resources, DialPoints points) {
  for (Resource resource : resources) {
    ResourceCalibration& made = made_[resource];
    made.absent = whyNot(resource, machine_);
    // Memory is not filled for its own sake: all of it is what there is.
    if (dialOf(resource) == Dial::kHolding) made.peak = static_cast<double>(machine_.memoryBytes);
    if (made.absent || (made.peak > 0 && points == DialPoints::kPeakAlone)) continue;
    if (made.peak == 0) findPeak(resource);
    if (made.absent || points == DialPoints::kPeakAlone) continue;
    auto press = start(resource, coresOfDial(resource));
    if (press)
      (dialOf(resource) == Dial::kFootprint ? pointsOfCache(*press, resource)
                                            : pointsOfRate(*press, resource));
    const auto error = worstError(made);
    progress_(nameOf(resource) + ": dial " +
              (error ? "off by at most " + std::to_string(std::lround(*error)) + " points" : "not measured"));
  }
}

// The pressure that is reached at the intensity, and the share of its speed that the victim loses by it.
std::optional<DialPoint> Calibrator::lostAt(Press& victim, Press& presser, Resource resource, int intensity) {
  const auto pressing = paceAt(presser, resource, settingFor(made_[resource], intensity));
  const auto during = pressing ? paceAt(victim, resource, dialOfVictim(resource)) : std::nullopt;
  if (!during || !presser.set(0)) return std::nullopt;
  const double alone = paceOf(victim, resource).speed;
  if (!victim.set(0) || alone <= 0) return std::nullopt;
  const double pressure = reached(resource, intensity, pressing->rate);
  return DialPoint{static_cast<int>(std::lround(pressure)), 1 - during->speed / alone};
}

void Calibrator::calibrateContention(const std::vector<Resource>& resources) {
  for (Resource resource : resources) {
    ResourceCalibration& made = made_[resource];
    if (made.absent) continue;
    made.notContended = whyNotContended(resource, seats_);
    if (made.notContended || !noticesOthers(resource)) continue;
    auto victim = start(resource, seats_.command);
    auto presser = start(resource, pressingCores(resource, seats_));
    if (!victim || !presser) continue;
    for (int intensity : kContentionPoints) {
      const auto lost = lostAt(*victim, *presser, resource, intensity);
      if (!lost) break;
      // Where its cores cannot press harder, they press as hard as before.
      if (made.lost.empty() || lost->intensity > made.lost.back().intensity) made.lost.push_back(*lost);
    }
    double most = 0;
    for (const DialPoint& point : made.lost) most = std::max(most, point.value);
    if (most < kMinLost) {
      made.notContended = "a kernel loses " + percent(most) +
                          " of its speed beside full pressure on the other" +
                          " cores: too little to tell one pressure from another";
    }
    progress_(nameOf(resource) + ": beside another kernel on the other cores, one loses " + percent(most));
  }
}

// One row after the other: every victim before, while, and after the row's kernel presses, so that memory is
// filled but once.
void Calibrator::calibrateCrossTalk() {
  if (seats_.neighbours.empty()) return;
  std::array<std::optional<Press>, kResources> victims;
  for (Resource of : allResources()) {
    if (made_[of].absent || !noticesOthers(of)) continue;
    if (auto press = start(of, seats_.command)) victims[static_cast<size_t>(of)] = std::move(*press);
  }
  using Speeds = std::array<double, kResources>;
  const auto measureAll = [&](Speeds& speeds) {
    for (Resource of : allResources()) {
      auto& victim = victims[static_cast<size_t>(of)];
      if (!victim) continue;
      const auto pace = paceAt(*victim, of, dialOfVictim(of));
      if (!pace || !victim->set(0)) {
        victim.reset();
        continue;
      }
      speeds[static_cast<size_t>(of)] = pace->speed;
    }
  };
  for (Resource by : allResources()) {
    if (made_[by].absent) continue;
    auto presser =
        start(by, isPrivateToACore(by) && !seats_.siblings.empty() ? seats_.siblings : seats_.neighbours);
    Speeds before{}, during{}, after{};
    measureAll(before);
    if (!presser || !presser->set(settingFor(made_[by], kMaxPressure))) continue;
    measureAll(during);
    if (!presser->set(0)) continue;
    measureAll(after);
    for (Resource of : allResources()) {
      const auto i = static_cast<size_t>(of);
      const double alone = (before[i] + after[i]) / 2;
      const bool isItself = of == by && whyNotContended(of, seats_);
      if (victims[i] && alone > 0 && !isItself)
        made_.crossTalk[static_cast<size_t>(by)][i] = 1 - during[i] / alone;
    }
    progress_(nameOf(by) + ": what it takes from the others is measured");
  }
}

}  // namespace

Calibration calibrate(const Machine& machine, const CalibrateOptions& options, const Progress& progress) {
  Calibrator calibrator(machine, options, progress);
  calibrator.findCache();
  calibrator.calibrateDials(allResources(), DialPoints::kAll);
  calibrator.calibrateContention(allResources());
  calibrator.calibrateCrossTalk();
  return calibrator.made();
}

Calibration calibrateSome(const Machine& machine, const std::vector<Resource>& resources,
                          const CalibrateOptions& options, const Progress& progress) {
  Calibrator calibrator(machine, options, progress);
  if (std::find(resources.begin(), resources.end(), Resource::kLlc) != resources.end())
    calibrator.findCache();
  calibrator.calibrateDials(resources, DialPoints::kPeakAlone);
  calibrator.calibrateContention(resources);
  return calibrator.made();
}

double pressureReached(const Calibration& calibration, Resource resource, int intensity, double rate) {
  const double peak = calibration[resource].peak;
  if (dialOf(resource) == Dial::kFootprint || peak <= 0) return intensity;
  return std::min<double>(kMaxPressure, kMaxPressure * rate / peak);
}

Seats seatsFor(const Machine& machine, size_t count) {
  Seats seats;
  for (int core : machine.firstThreads) {
    (seats.command.size() < count ? seats.command : seats.neighbours).push_back(core);
  }
  for (int core : machine.cores) {
    const bool isFirst = std::count(machine.firstThreads.begin(), machine.firstThreads.end(), core) > 0;
    if (isFirst) continue;
    const std::vector<int> others = siblingsOf(core);
    const bool isOurs = std::any_of(others.begin(), others.end(), [&seats](int other) {
      return std::count(seats.command.begin(), seats.command.end(), other) > 0;
    });
    if (isOurs) seats.siblings.push_back(core);
  }
  return seats;
}

std::optional<std::string> whyNotContended(Resource resource, const Seats& seats) {
  if (isPrivateToACore(resource)) {
    if (!seats.siblings.empty()) return std::nullopt;
    return "each core has its own, and no second hardware thread that would share it";
  }
  if (seats.neighbours.empty()) return "no core is left to press from";
  return std::nullopt;
}

const std::vector<int>& pressingCores(Resource resource, const Seats& seats) {
  return isPrivateToACore(resource) ? seats.siblings : seats.neighbours;
}

}  // namespace tarcil
