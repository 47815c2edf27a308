#include "monitor/logic/performance/blame.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "monitor/logic/performance/blame_text.h"

namespace tarcil {
namespace {

using Kind = Cause::Kind;

constexpr double kFloor = 0.05;      // evidence below that does not count
constexpr double kSaturated = 0.9;   // of its cores, or of its memory limit: at the limit
constexpr double kAtTheLimit = 0.5;  // evidence of a limit that was reached, where no waiting is measured
constexpr double kFull = 0.8;        // of a disk or an interface: waiting has to be expected
constexpr size_t kMaxCauses = 5;

bool isOwnLimit(Kind kind) {
  return kind == Kind::kCores || kind == Kind::kMemoryLimit;
}

// Who presses on a resource.
struct Presser {
  Kind kind = Kind::kNeighbour;
  AllocationId neighbour = 0;  // of several tasks, the one that presses most
  double pressure = 0;         // of all of them
  bool measured = false;       // all of it
  bool sharesCores = true;
  JobId job{};
  size_t tasks = 1;
  double most = pressure;  // of one of them
};

// What a task puts on a resource, and whether that is measured.
Presser presserFor(const TaskSigns& task, size_t resource) {
  const auto& measured = task.measured[resource];
  return {Kind::kNeighbour,     task.allocation,  measured.value_or(task.caused[resource]),
          measured.has_value(), task.sharesCores, task.job};
}

// Neighbours of one job as one.
std::vector<Presser> together(const std::vector<Presser>& pressers) {
  std::vector<Presser> all;
  std::map<JobId, size_t> jobs;
  for (const Presser& presser : pressers) {
    const bool isNeighbour = presser.kind == Kind::kNeighbour;
    const auto [known, isNew] =
        isNeighbour ? jobs.try_emplace(presser.job, all.size()) : std::pair(jobs.end(), true);
    if (isNew) {
      all.push_back(presser);
      continue;
    }
    Presser& job = all[known->second];
    if (presser.most > job.most) job.neighbour = presser.neighbour, job.most = presser.most;
    job.pressure += presser.pressure;
    job.measured = job.measured && presser.measured;
    ++job.tasks;
  }
  return all;
}

std::vector<Presser> pressersOn(const Scene& scene, size_t resource) {
  std::vector<Presser> pressers;
  for (const TaskSigns& other : scene.others) pressers.push_back(presserFor(other, resource));
  if (const auto& background = scene.server.background[resource]) {
    pressers.push_back({Kind::kBackground, 0, *background, true});
  }
  return pressers;
}

class Ranking {
 public:
  explicit Ranking(const Scene& scene) : scene_(scene) {}

  std::vector<Cause> causes() {
    for (size_t i = 0; i < kResources; ++i) weighResource(static_cast<Resource>(i));
    weighCores();
    weighMemoryLimit();
    weighHypervisor();
    return ranked();
  }

 private:
  bool usesAllCores() const {
    const Feelings& feels = scene_.feels;
    return feels.coresHeld > 0 && feels.coresUsed.value_or(0) >= kSaturated * feels.coresHeld;
  }

  bool isAtMemoryLimit() const {
    const Feelings& feels = scene_.feels;
    return feels.oomKills > 0 || (feels.memoryShare.value_or(0) >= kSaturated && feels.limitHits > 0);
  }

  // While a quota holds it back, a task counts as waiting.
  std::optional<double> waitedForCoreOfOthers() const {
    const Feelings& feels = scene_.feels;
    if (!feels.waitedForCore) return std::nullopt;
    return std::max(0.0, *feels.waitedForCore - feels.throttled.value_or(0));
  }

  // A busy machine lets every task wait for cores; what its own quota does this one alone has to bear.
  double atMostOfBackground(Resource resource) const {
    const double throttled = scene_.feels.throttled.value_or(0);
    return resource == Resource::kCore && throttled >= kFloor ? throttled : 1;
  }

  // Of waiting that others can be the reason of: a task that uses all that it has waits for itself.
  std::optional<double> waitedFor(Resource resource) const {
    const Feelings& feels = scene_.feels;
    if (resource == Resource::kCore && !usesAllCores()) return waitedForCoreOfOthers();
    if (resource == Resource::kMemoryCapacity && !isAtMemoryLimit()) return feels.waitedForMemory;
    if (resource == Resource::kDiskBandwidth) return feels.waitedForDisk;
    return std::nullopt;
  }

  void weighResource(Resource resource) {
    const auto i = static_cast<size_t>(resource);
    std::vector<Presser> pressers = pressersOn(scene_, i);
    double foreign = 0;
    for (const Presser& presser : pressers) foreign += presser.pressure;
    const double tolerated = scene_.suffering.tolerated[i];
    const double excess = std::clamp((foreign - tolerated) / kMaxPressure, 0.0, 1.0);
    const auto waited = waitedFor(resource);
    const double stalled = waited.value_or(0);
    if (resource == Resource::kCore && stalled > excess) {
      std::erase_if(pressers, [](const Presser& presser) { return !presser.sharesCores; });
    }
    const bool isDisk = resource == Resource::kDiskBandwidth;
    const bool isNetwork = resource == Resource::kNetworkBandwidth;

    Presser own = presserFor(scene_.suffering, i);
    const double all = foreign + own.pressure;
    double evidence = std::max(excess, stalled);
    if (isNetwork && own.measured && all >= kFull * kMaxPressure) {
      evidence = std::max(evidence, std::min(1.0, all / kMaxPressure));
    }
    if (evidence < kFloor) return;
    if (isDisk || isNetwork) {
      own.kind = isDisk ? Kind::kDisk : Kind::kNetwork;
      own.neighbour = 0;
      // Waiting that nobody's traffic explains is the disk's own.
      if (isDisk && stalled >= kFloor && all <= 0) own.pressure = 1;
      // What the profile says of neighbours alone is not the task's own doing.
      if (stalled >= kFloor || excess < evidence) pressers.push_back(own);
    }
    double sum = 0;
    for (const Presser& presser : pressers) sum += presser.pressure;
    if (sum <= 0) return;
    for (const Presser& presser : together(pressers)) {
      const PressureEvidence words{
          resource, presser.pressure, presser.measured, presser.tasks, foreign, tolerated, waited};
      const bool isOwn = presser.kind == Kind::kDisk || presser.kind == Kind::kNetwork;
      const double most = presser.kind == Kind::kBackground ? atMostOfBackground(resource) : 1;
      add(presser.kind, resource, presser.neighbour, std::min(most, evidence * presser.pressure / sum),
          isOwn ? textOfOwnTraffic(words) : textOf(words));
    }
  }

  void weighCores() {
    const Feelings& feels = scene_.feels;
    double evidence = feels.throttled.value_or(0);
    if (usesAllCores()) evidence = std::max(evidence, feels.waitedForCore.value_or(kAtTheLimit));
    add(Kind::kCores, Resource::kCore, 0, evidence, textOfCores(feels));
  }

  void weighMemoryLimit() {
    if (!isAtMemoryLimit()) return;
    const Feelings& feels = scene_.feels;
    const double evidence = feels.oomKills > 0 ? 1 : std::max(kAtTheLimit, feels.waitedForMemory.value_or(0));
    add(Kind::kMemoryLimit, Resource::kMemoryCapacity, 0, evidence, textOfMemoryLimit(feels));
  }

  void weighHypervisor() {
    if (const auto& stolen = scene_.server.stolen) {
      add(Kind::kHypervisor, Resource::kCore, 0, *stolen, textOfHypervisor(*stolen));
    }
  }

  void add(Kind kind, Resource resource, AllocationId neighbour, double evidence, std::string text) {
    if (evidence < kFloor) return;
    causes_.push_back({kind, resource, neighbour, std::min(1.0, evidence), std::move(text)});
  }

  // Weights are shares of all that speaks for anything.
  std::vector<Cause> ranked() {
    if (causes_.empty()) return {{Kind::kUnknown, std::nullopt, 0, 1, textOfUnknown()}};
    std::sort(causes_.begin(), causes_.end(), [](const Cause& a, const Cause& b) {
      return std::tuple(-a.weight, !isOwnLimit(a.kind), a.kind, a.resource, a.neighbour) <
             std::tuple(-b.weight, !isOwnLimit(b.kind), b.kind, b.resource, b.neighbour);
    });
    if (causes_.size() > kMaxCauses) causes_.resize(kMaxCauses);
    double sum = 0;
    for (const Cause& cause : causes_) sum += cause.weight;
    for (Cause& cause : causes_) cause.weight /= sum;
    return std::move(causes_);
  }

  const Scene& scene_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> causesOf(const Scene& scene) {
  return Ranking(scene).causes();
}

}  // namespace tarcil
