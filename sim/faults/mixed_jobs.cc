#include "sim/faults/mixed_jobs.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/model/constraint.h"
#include "sim/chance.h"

namespace tarcil::sim {
namespace {

using namespace std::chrono_literals;

// Up to six pieces of those that clients of the simulation cut.
constexpr uint32_t kMaxFileBytes = 1'200;

const std::vector<std::string> kPlatforms = {"reference", "old", "new"};

bool percent(uint64_t chance, Rng& rng) {
  return rng.below(100) < chance;
}

uint32_t from(uint32_t least, uint32_t most, Rng& rng) {
  return least + static_cast<uint32_t>(rng.below(most - least + 1));
}

Duration randomDuration(Duration least, Duration most, Rng& rng) {
  const double us = logBetween(static_cast<double>(least.count()), static_cast<double>(most.count()), rng);
  return Duration(static_cast<int64_t>(us));
}

ServerFacts randomServer(uint32_t number, Rng& rng) {
  ServerFacts facts;
  facts.name = "s" + std::to_string(number);
  facts.platform = kPlatforms[rng.below(kPlatforms.size())];
  facts.rack = "r" + std::to_string(rng.below(3));
  facts.attributes["disk"] = percent(50, rng) ? "ssd" : "spinning";
  facts.rus = facts.cores = from(1, 6, rng);
  facts.memoryBytes = uint64_t{facts.rus} << 30;
  if (percent(40, rng)) facts.extras["gpus"] = from(1, 3, rng);
  return facts;
}

uint32_t mostUnits(const VirtualClusterOptions& cluster) {
  uint32_t most = 0;
  for (const auto& servers : cluster.servers) {
    for (const ServerFacts& server : servers) most = std::max(most, server.rus);
  }
  return most;
}

// What its tasks do, and when they are ended.
void setCommand(MixedJob& job, Rng& rng) {
  JobSpec& spec = job.spec;
  spec.grace = randomDuration(100ms, 5s, rng);
  if (percent(20, rng)) spec.timeout = randomDuration(50ms, 20s, rng);
  spec.restart.attempts = percent(30, rng) ? from(1, 3, rng) : 0;
  spec.restart.backoff = randomDuration(10ms, 2s, rng);
  spec.restart.onLost = percent(90, rng);
  const uint64_t kind = rng.below(100);
  if (kind < 10) {
    spec.command = {"true"};
  } else if (kind < 15) {
    spec.command = {"false"};
  } else if (kind < 20) {
    spec.command = {"sh"};
    spec.env = {{"TARCIL_EMULATE_SECONDS", "0.2"}, {"TARCIL_EMULATE_EXIT", std::to_string(rng.below(2) * 7)}};
  } else if (kind < 25) {
    spec.command = {"sleep", "600m"};
    job.isEndless = spec.timeout == Duration::zero();
  } else {
    const double seconds = static_cast<double>(randomDuration(1ms, 20s, rng).count()) / 1e6;
    spec.command = {"sleep", std::to_string(seconds)};
  }
}

// Modelled servers make nothing of these: they only travel and are stored.
void setLimits(JobSpec& spec, Rng& rng) {
  Limits& limits = spec.limits;
  if (percent(20, rng)) limits.memoryBytes = uint64_t{from(1, 64, rng)} << 24;
  if (percent(20, rng)) limits.pids = from(1, 100, rng);
  if (percent(20, rng)) limits.outputBytes = from(1, 10'000, rng);
  if (percent(20, rng)) limits.diskBytesPerSecond = from(1, 1'000'000, rng);
  if (percent(20, rng)) limits.networkBytesPerSecond = from(1, 1'000'000, rng);
  if (percent(20, rng)) limits.diskBytes = uint64_t{from(1, 64, rng)} << 24;
}

std::string_view aDomain(Rng& rng) {
  static constexpr std::string_view kDomains[] = {Domain::kServer, Domain::kRack, "disk"};
  return kDomains[rng.below(std::size(kDomains))];
}

void setPlacement(JobSpec& spec, Rng& rng) {
  Placement& placement = spec.placement;
  switch (rng.below(12)) {
    case 0:
      placement.constraints.push_back({"disk", Constraint::Operator::kEqual, {"ssd"}});
      break;
    case 1:
      placement.constraints.push_back({"platform", Constraint::Operator::kNotIn, {"old"}});
      break;
    case 2:
      placement.constraints.push_back({"rack", Constraint::Operator::kNotEqual, {"r1"}});
      break;
    case 3:
      placement.spread = aDomain(rng);
      placement.atMost = from(1, 3, rng);
      break;
    case 4:
      placement.pack = aDomain(rng);
      break;
    case 5:
      placement.prefer = {"s0", "s1"};
      break;
    case 6:
      spec.extras["gpus"] = from(1, 2, rng);
      break;
    case 7:
      placement.requireOfTask[0] = {onServers({"s0", "s1"})};
      if (spec.tasks > 1) placement.requireOfTask[1] = {{"rack", Constraint::Operator::kNotEqual, {"r1"}}};
      break;
    default:
      break;
  }
}

void setProfile(JobSpec& spec, Rng& rng) {
  if (percent(30, rng)) {
    spec.profile.application = "app" + std::to_string(rng.below(3));
    spec.profileLookedUp = percent(70, rng);
  }
  if (percent(30, rng)) return;
  spec.profile.caused = randomPressure(rng);
  spec.profile.tolerated = percent(50, rng) ? toleratedFromCaused(spec.profile.caused) : Pressure{};
  if (spec.profile.tolerated == Pressure{}) {
    for (uint8_t& value : spec.profile.tolerated) value = static_cast<uint8_t>(from(20, kMaxPressure, rng));
  }
  if (percent(30, rng)) spec.profile.platforms = {{"old", 0.5}, {"new", 1}};
}

}  // namespace

Pressure randomPressure(Rng& rng) {
  Pressure pressure{};
  for (uint8_t& value : pressure) {
    if (percent(30, rng)) value = static_cast<uint8_t>(rng.below(kMaxPressure / 2));
  }
  return pressure;
}

VirtualClusterOptions randomCluster(uint64_t seed, Log log) {
  Rng rng = rngFor(seed, Purpose::kWorkload);
  VirtualClusterOptions options;
  options.seed = seed;
  options.log = log;
  options.agents = from(1, 4, rng);
  uint32_t number = 0;
  for (uint32_t monitors = from(1, 5, rng); monitors > 0; --monitors) {
    auto& servers = options.servers.emplace_back();
    for (uint32_t count = from(1, 3, rng); count > 0; --count) servers.push_back(randomServer(number++, rng));
  }
  MasterOptions& master = options.master;
  master.agentTimeout = randomDuration(500ms, 10s, rng);
  master.serverTimeout = randomDuration(3s, 60s, rng);
  if (percent(50, rng)) master.removeDownServersAfter = randomDuration(1s, 60s, rng);
  master.keepFinishedJobs = from(1, 60, rng);
  if (percent(20, rng)) master.keepFinishedFor = randomDuration(1s, 10min, rng);
  if (percent(20, rng)) master.maxUnfinishedOfUser = from(2, 8, rng);
  master.ageing = randomDuration(1s, 10min, rng);
  master.reservationDelay = randomDuration(1s, 30s, rng);
  master.quarantineAfter = from(0, 5, rng);
  master.quarantine = randomDuration(1s, 1min, rng);
  master.longestQuarantine = 2min;
  master.adjustingPause = randomDuration(100ms, 10s, rng);
  master.adjustingCalm = randomDuration(100ms, 10s, rng);
  // In half of the histories agents that attach are told their jobs one by one.
  if (seed % 2 == 0) master.jobsMessageBytes = 1;
  if (percent(20, rng)) master = withShortQueues(master, rng);
  if (percent(30, rng)) options.mastersOnEtcd = from(2, 3, rng);
  AgentOptions& agent = options.agent;
  if (percent(20, rng)) agent.maxWaitingJobs = from(1, 8, rng);
  agent.masterPatience = randomDuration(1s, 20s, rng);
  agent.waitBound = randomDuration(100ms, 30s, rng);
  agent.replans = from(0, 4, rng);
  return options;
}

MasterOptions withShortQueues(MasterOptions options, Rng& rng) {
  constexpr uint64_t kKiB = 1024;
  switch (rng.below(7)) {
    case 0:
      options.maxUnfinishedOfUser = from(1, 8, rng);
      break;
    case 1:
      options.maxUnfinished = from(2, 16, rng);
      break;
    case 2:
      options.maxUnfinishedBytesOfUser = from(4, 64, rng) * kKiB;
      break;
    case 3:
      options.maxUnfinishedBytes = from(4, 128, rng) * kKiB;
      break;
    case 4:
      options.maxTasksOfJob = from(1, 30, rng);
      break;
    case 5:
      options.keepFinishedJobs = from(1, 10, rng);
      break;
    default:
      options.keepFinishedBytes = from(1, 64, rng) * kKiB;
      break;
  }
  return options;
}

void giveItems(JobSpec& spec) {
  std::vector<std::string> items;
  for (uint32_t task = 0; task < spec.tasks; ++task) items.push_back("item" + std::to_string(task));
  spec.items = Items(std::move(items));
  spec.env[kWhich] = "{item} of {index}";
}

std::string whichOf(TaskIndex task) {
  return "item" + std::to_string(task) + " of " + std::to_string(task);
}

MixedJob mixedJob(const VirtualClusterOptions& cluster, WallTime now, Rng& rng) {
  MixedJob job;
  JobSpec& spec = job.spec;
  spec.name = "mixed";
  setCommand(job, rng);
  spec.tasks = percent(5, rng) ? from(10, 30, rng) : percent(50, rng) ? 1 : from(2, 8, rng);
  spec.rusPerTask = percent(75, rng) ? 1 : from(1, mostUnits(cluster), rng);
  if (percent(20, rng)) spec.schedule = Schedule::kGang;
  if (percent(10, rng)) spec.concurrency = from(1, spec.tasks, rng);
  spec.priority = static_cast<uint8_t>(std::vector{10, 50, 50, 90}[rng.below(4)]);
  if (percent(5, rng)) spec.hold = job.isEndless = true;
  if (percent(10, rng)) spec.startAfter = now + randomDuration(1ms, 30s, rng);
  spec.preemptible = percent(40, rng);
  spec.yields = percent(20, rng);
  spec.exclusive = percent(20, rng);
  if (percent(15, rng)) {
    spec.policy =
        std::vector{Policy::kGreedy, Policy::kRandom, Policy::kPerTask, Policy::kBatch}[rng.below(4)];
  }
  if (percent(20, rng)) spec.maxWait = randomDuration(1ms, 10s, rng);
  if (percent(10, rng)) spec.target = 0.5 + rng.unit() / 2;
  if (percent(10, rng)) spec.confidence = 0.5 + rng.unit() / 3;
  // A gang whose tasks hurt one another too much for the whole cluster never starts: they are to bear it.
  spec.protection = static_cast<Protection>(rng.below(3));
  spec.protectNeighbours = spec.schedule != Schedule::kGang && percent(80, rng);
  setLimits(spec, rng);
  setPlacement(spec, rng);
  setProfile(spec, rng);
  if (percent(20, rng)) {
    spec.performance = PerformanceGoal{};
    spec.adjust = {.moreRus = from(0, 2, rng), .move = percent(50, rng)};
  }
  if (percent(15, rng)) job.files = {{"input", 0644, std::string(from(1, kMaxFileBytes, rng), 'x')}};
  return job;
}

}  // namespace tarcil::sim
