#include "sim/policies/shared_state/cluster_setup.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <utility>

namespace tarcil::sim {
namespace {

constexpr uint32_t kServersPerRack = 40;

std::string userOfStream(size_t stream) {
  return "user-" + std::to_string(stream);
}

// What is the same for every job. Nothing runs, so any command will do.
JobSpec specFor(const Profile& profile) {
  JobSpec spec;
  spec.command = {"task"};
  spec.profile = profile;
  return spec;
}

// By stream.
std::vector<uint32_t> sharesOfStreams(const World& world) {
  std::vector<uint32_t> shares(1, 1);
  for (const SimJob& job : world.workload().jobs) {
    if (job.stream >= shares.size()) shares.resize(job.stream + size_t{1}, 1);
    shares[job.stream] = std::clamp<uint32_t>(job.shares, 1, kMaxShares);
  }
  return shares;
}

}  // namespace

StoreContents storedSetup(const World& world, const Belief& belief, const QualitySettings& settings) {
  StoreContents stored;
  stored.settings = settings;
  stored.settings->version = std::max<uint64_t>(settings.version, 1);
  for (size_t platform = 0; platform < belief.shares.size(); ++platform) {
    stored.platforms.push_back({platformName(platform), belief.shares[platform]});
  }
  const std::vector<uint32_t> shares = sharesOfStreams(world);
  for (size_t stream = 0; stream < shares.size(); ++stream) {
    Usage usage;
    usage.user = userOfStream(stream);
    usage.shares = shares[stream];
    stored.usage.push_back(std::move(usage));
  }
  return stored;
}

master::MonitorAttached monitorOf(const World& world, SessionId session) {
  master::MonitorAttached attached{
      .request = 0, .session = session, .monitor = "monitor", .servers = {}, .tasks = {}};
  for (ServerNumber number = 0; number < world.servers().size(); ++number) {
    const SimServer& server = world.servers()[number];
    ServerFacts& facts = attached.servers.emplace_back();
    facts.name = "s" + std::to_string(number);
    facts.platform = platformName(server.platform);
    facts.rack = "r" + std::to_string(number / kServersPerRack);
    facts.rus = facts.cores = server.units;
    facts.emulated = true;
  }
  return attached;
}

master::PressureReported backgroundsOf(const Belief& belief, SessionId session) {
  master::PressureReported reported{.session = session, .servers = {}};
  for (size_t number = 0; number < belief.backgrounds.size(); ++number) {
    reported.servers.push_back({"s" + std::to_string(number), belief.backgrounds[number], {}});
  }
  return reported;
}

std::vector<Commit> residentCommits(const World& world, const Belief& belief) {
  std::map<std::pair<ApplicationNumber, uint32_t>, std::vector<ServerNumber>> placed;
  for (ServerNumber number = 0; number < world.servers().size(); ++number) {
    for (const SimResident& resident : world.servers()[number].residents) {
      placed[{resident.application, resident.rus}].push_back(number);
    }
  }
  std::vector<Commit> commits;
  auto id = static_cast<JobNumber>(world.workload().jobs.size());
  for (const auto& [kind, servers] : placed) {
    for (size_t first = 0; first < servers.size(); first += kMaxTasks) {
      Commit& commit = commits.emplace_back();
      commit.sequence = commits.size();
      commit.job = idOf(id++);
      // They are there, whatever a policy would say to it.
      commit.judging.protectNeighbours = false;
      JobRecord record;
      record.id = commit.job;
      record.user = "residents";
      record.spec = specFor(belief.profiles[kind.first]);
      record.spec.tasks = static_cast<uint32_t>(std::min<size_t>(servers.size() - first, kMaxTasks));
      record.spec.rusPerTask = kind.second;
      for (TaskIndex task = 0; task < record.spec.tasks; ++task) {
        commit.claims.push_back(
            {.task = task, .server = servers[first + task], .rus = kind.second, .preferred = {}});
      }
      commit.newJob = NewJob{std::move(record), nullptr};
    }
  }
  return commits;
}

JobId idOf(JobNumber job) {
  JobId id;
  for (size_t i = 0; i < sizeof job; ++i) id.bytes[i] = static_cast<uint8_t>(job >> (24 - 8 * i));
  return id;
}

JobNumber numberOf(const JobId& job) {
  JobNumber number = 0;
  for (size_t i = 0; i < sizeof number; ++i) number = number << 8 | job.bytes[i];
  return number;
}

ServerNumber serverNamed(const std::string& name) {
  ServerNumber number = 0;
  std::from_chars(name.data() + 1, name.data() + name.size(), number);
  return number;
}

JobSpecs::JobSpecs(const World& world, const Belief& belief, Policy policy) : world_(world) {
  for (size_t application = 0; application < belief.profiles.size(); ++application) {
    JobSpec& spec = ofApplication_.emplace_back(specFor(belief.profiles[application]));
    spec.policy = policy;
    if (!belief.targets.empty()) spec.target = belief.targets[application];
  }
  for (size_t stream = 0; stream < sharesOfStreams(world).size(); ++stream) {
    const std::string user = userOfStream(stream);
    users_.push_back({.user = user, .role = Role::kSubmit, .runAs = {user}});
  }
}

JobSpec JobSpecs::of(JobNumber number) const {
  const SimJob& job = world_.job(number);
  JobSpec spec = ofApplication_[job.application];
  spec.tasks = job.tasks;
  spec.rusPerTask = job.rus;
  spec.priority = job.priority;
  spec.maxWait = job.maxWait;
  return spec;
}

}  // namespace tarcil::sim
