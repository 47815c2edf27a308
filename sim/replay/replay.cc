#include "sim/replay/replay.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "sim/replay/profiled_truth.h"

namespace tarcil::sim {
namespace {

constexpr Duration kMin{1};

// The part of a task that lies within the recording.
struct Stay {
  size_t job = 0;  // of the recording
  uint32_t server = 0;
  SimTime started{}, ended{};
  ApplicationNumber application = 0;
  double work = 0;  // microseconds, alone on its best platform
};

// Jobs that are alike for schedulers are one application. With more kinds than there are numbers, those
// beyond share the last.
class Applications {
 public:
  ApplicationNumber of(const RecordedJob& job, const Recording& recording, Belief& belief) {
    const auto [it, isNew] = numbers_.try_emplace(
        std::tuple(job.profile.caused, job.profile.tolerated, job.profile.platforms, job.target),
        static_cast<ApplicationNumber>(std::min<size_t>(belief.profiles.size(), kMax - 1)));
    if (isNew && belief.profiles.size() < kMax) {
      Profile& profile = belief.profiles.emplace_back(job.profile);
      profile.platforms.clear();
      for (size_t p = 0; p < recording.platforms.size(); ++p) {
        profile.platforms[platformName(p)] = platformFactor(job.profile, recording.platforms[p].name);
      }
      belief.targets.push_back(job.target);
    }
    return it->second;
  }

 private:
  static constexpr size_t kMax = 65'535;

  std::map<std::tuple<Pressure, Pressure, std::map<std::string, double>, std::optional<double>>,
           ApplicationNumber>
      numbers_;
};

// Adds up, for each stay on one server, how fast it ran. `stays` are all of that server.
void addWork(std::vector<Stay*>& stays, GroundTruth& truth, PlatformNumber platform, uint32_t server) {
  std::vector<SimTime> times;
  for (const Stay* stay : stays) {
    times.push_back(stay->started);
    times.push_back(stay->ended);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::sort(stays.begin(), stays.end(), [](const Stay* a, const Stay* b) { return a->started < b->started; });
  std::vector<Stay*> running;
  std::vector<ApplicationNumber> applications;
  std::vector<double> speeds;
  size_t next = 0;
  for (size_t i = 0; i + 1 < times.size(); ++i) {
    std::erase_if(running, [&](const Stay* stay) { return stay->ended <= times[i]; });
    while (next < stays.size() && stays[next]->started <= times[i]) running.push_back(stays[next++]);
    applications.clear();
    for (const Stay* stay : running) applications.push_back(stay->application);
    speeds.resize(running.size());
    truth.speedsOn(server, platform, applications, speeds);
    const auto micros = static_cast<double>((times[i + 1] - times[i]).count());
    for (size_t k = 0; k < running.size(); ++k) running[k]->work += micros * speeds[k];
  }
}

void addWork(std::vector<Stay>& stays, const Replay& replay, ReplayTruth kind) {
  if (kind == ReplayTruth::kNone) {
    for (Stay& stay : stays) stay.work = static_cast<double>((stay.ended - stay.started).count());
    return;
  }
  ProfiledTruth truth(replay.belief, replay.backgrounds);
  std::vector<std::vector<Stay*>> byServer(replay.servers.size());
  for (Stay& stay : stays) byServer[stay.server].push_back(&stay);
  for (uint32_t server = 0; server < byServer.size(); ++server) {
    addWork(byServer[server], truth, replay.servers[server].platform, server);
  }
}

// How the job really fared; its tasks' qualities are added to `qualities`.
JobOutcome outcomeOf(const RecordedJob& job, std::span<const Stay> stays, std::vector<float>& qualities) {
  JobOutcome outcome;
  double waited = 0, quality = 0;
  for (const Stay& stay : stays) {
    outcome.ended = std::max(outcome.ended, stay.ended);
    waited += static_cast<double>((stay.started - job.arrival).count());
    const auto ran = static_cast<double>((stay.ended - stay.started).count());
    qualities.push_back(ran > 0 ? static_cast<float>(stay.work / ran) : 1);
    quality += static_cast<double>(qualities.back());
  }
  const auto count = static_cast<double>(stays.size());
  outcome.waited = Duration(static_cast<int64_t>(waited / count));
  outcome.quality = static_cast<float>(quality / count);
  return outcome;
}

double utilisationOf(const Replay& replay, const Recording& recording, std::span<const Stay> stays) {
  const SimTime first = replay.workload.jobs.front().arrival, last = replay.workload.jobs.back().arrival;
  uint64_t units = 0;
  for (const SimServer& server : replay.servers) units += server.units;
  double held = 0;
  for (const Stay& stay : stays) {
    const SimTime from = std::max(first, stay.started), until = std::min(last, stay.ended);
    if (until > from) held += static_cast<double>((until - from).count()) * recording.jobs[stay.job].rus;
  }
  return last > first ? held / static_cast<double>((last - first).count()) / static_cast<double>(units) : 0;
}

}  // namespace

Replay replayOf(const Recording& recording, ReplayTruth truth) {
  Replay replay;
  replay.simplified = recording.simplified;
  replay.neverRan = recording.neverRan;
  for (const RecordedPlatform& platform : recording.platforms) replay.belief.shares.push_back(platform.share);
  for (const RecordedServer& server : recording.servers) {
    replay.servers.push_back({.platform = static_cast<PlatformNumber>(server.platform), .units = server.rus});
    replay.backgrounds.push_back(server.background);
  }

  std::vector<size_t> order(recording.jobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&recording](size_t a, size_t b) {
    return recording.jobs[a].arrival < recording.jobs[b].arrival;
  });
  Applications applications;
  std::vector<Stay> stays;
  for (size_t number : order) {
    const RecordedJob& job = recording.jobs[number];
    const ApplicationNumber application = applications.of(job, recording, replay.belief);
    for (const RecordedTask& task : job.tasks) {
      const SimTime started = std::max(task.started, SimTime{});
      if (task.ended < started) continue;  // over before anybody watched
      stays.push_back({.job = number,
                       .server = task.server,
                       .started = started,
                       .ended = task.ended,
                       .application = application});
    }
  }
  if (stays.empty()) return replay;
  addWork(stays, replay, truth);

  for (size_t begin = 0; begin < stays.size();) {
    size_t end = begin;
    std::vector<Duration> work;
    for (; end < stays.size() && stays[end].job == stays[begin].job; ++end) {
      work.push_back(std::max(kMin, Duration(static_cast<int64_t>(stays[end].work))));
    }
    const RecordedJob& job = recording.jobs[stays[begin].job];
    const std::span<const Stay> own(&stays[begin], end - begin);
    replay.workload.add({.arrival = std::max(job.arrival, SimTime{}),
                         .rus = job.rus,
                         .application = own.front().application,
                         .priority = job.priority,
                         .maxWait = job.maxWait,
                         .isCounted = job.isWhole},
                        work);
    if (!job.isWhole) ++replay.uncounted;
    replay.outcomes.push_back(job.isWhole ? outcomeOf(job, own, replay.qualities) : JobOutcome{});
    begin = end;
  }
  replay.utilisation = utilisationOf(replay, recording, stays);
  return replay;
}

}  // namespace tarcil::sim
