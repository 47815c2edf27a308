#include "tests/support/generated_cluster.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/model/contention.h"
#include "core/state/glance.h"

namespace tarcil {
namespace {

// Failures in a row after which a cluster counts as full for these jobs.
constexpr int kMaxFailures = 50;

std::string platformNamed(uint32_t number) {
  return "platform-" + std::to_string(number);
}

// Most applications press on two or three resources and hardly on the others.
Profile aKind(Rng& rng, const GeneratedOptions& options) {
  Profile profile;
  const double mean = options.meanSumWhenFull / options.rus;  // of one task on one resource
  for (size_t i = 0; i < kResources; ++i) {
    const bool heavy = rng.below(4) == 0;
    const double caused = mean * (heavy ? 2.8 : 0.4) * (0.5 + rng.unit());
    profile.caused[i] = static_cast<uint8_t>(std::min(caused, 99.0));
    // What is suffered has little to do with what is caused.
    const double demand = rng.below(4) == 0 ? 20 + 50 * rng.unit() : 10 * rng.unit();
    profile.tolerated[i] = static_cast<uint8_t>(kMaxPressure - demand);
  }
  for (uint32_t p = 0; p < options.platforms; ++p) {
    profile.platforms[platformNamed(p)] = p == 0 ? 1.0 : 0.85 + 0.15 * rng.unit();
  }
  return profile;
}

}  // namespace

GeneratedCluster::GeneratedCluster(const GeneratedOptions& options)
    : options_(options),
      rng_(options.seed),
      jobs_(rng_()),
      statuses_(options.servers),
      residents_(options.servers) {
  for (uint32_t k = 0; k < options.kinds; ++k) kinds_.push_back(aKind(rng_, options));
  for (uint32_t p = 0; p < options.platforms; ++p) {
    Share share = fullShare();
    if (p > 0) {
      for (uint16_t& s : share) s = static_cast<uint16_t>(kShareUnit / 2 + rng_.below(kShareUnit / 2 + 1));
    }
    state_.setShare(platformNamed(p), share);
  }
  state_.setContention(options.settings.contention);
  state_.keepNeighbours(looksAtNeighbours(options.settings));
  for (ServerId id = 0; id < options.servers; ++id) {
    ServerFacts facts;
    facts.name = "server-" + std::to_string(id);
    facts.platform = platformNamed(static_cast<uint32_t>(rng_.below(options.platforms)));
    facts.rack = "rack-" + std::to_string(id % options.racks);
    facts.address = "10.0." + std::to_string(id / 250) + "." + std::to_string(id % 250);
    facts.rus = facts.cores = options.rus;
    if (options.switches > 0) facts.attributes["switch"] = "w" + std::to_string(id % options.switches);
    facts_.push_back(facts);
    statuses_[id].version = 1;
    statuses_[id].up = true;
    statuses_[id].free = RuSet::all(options.rus);
    state_.apply({id, facts, statuses_[id]});
  }
}

JobSpec GeneratedCluster::job(uint32_t tasks) {
  JobSpec spec;
  spec.name = std::to_string(jobs_.below(kinds_.size()));
  spec.command = {"true"};
  spec.tasks = tasks;
  spec.profile = kinds_[std::stoul(spec.name)];
  return spec;
}

double GeneratedCluster::fillTo(double load, Policy policy) {
  const auto wanted = static_cast<uint64_t>(load * options_.servers * options_.rus);
  int failures = 0;
  const auto placeOne = [&] {
    JobSpec spec = job();
    spec.policy = policy;
    const Decision decision =
        chooser_.choose(state_, {.spec = spec, .tasks = {{0, 0}}, .placedOn = {}}, options_.settings, rng_());
    place(spec, decision);
    failures = decision.claims.empty() ? failures + 1 : 0;
  };
  while (units_ < wanted && failures < kMaxFailures) placeOne();
  for (uint64_t turns = units_; turns > 0; --turns) {
    endOne();
    while (units_ < wanted && failures < kMaxFailures) placeOne();
    failures = 0;
  }
  return this->load();
}

void GeneratedCluster::place(const JobSpec& spec, const Decision& decision) {
  for (const Claim& claim : decision.claims) {
    const Share& share = state_.share(state_.vacancy(claim.server).platform);
    occupy(statuses_[claim.server], residents_[claim.server],
           {nextAllocation_, claim.preferred, spec.profile.caused, spec.profile.tolerated},
           facts_[claim.server], share);
    placed_.push_back({claim.server, nextAllocation_++, static_cast<uint32_t>(std::stoul(spec.name))});
    units_ += claim.rus;
    publish(claim.server);
  }
}

ServerId GeneratedCluster::endOne() {
  std::swap(placed_[rng_.below(placed_.size())], placed_.back());
  const Placed ended = placed_.back();
  placed_.pop_back();
  const uint32_t before = statuses_[ended.server].free.size();
  vacate(statuses_[ended.server], residents_[ended.server], ended.allocation, facts_[ended.server],
         state_.share(state_.vacancy(ended.server).platform));
  units_ -= statuses_[ended.server].free.size() - before;
  publish(ended.server);
  return ended.server;
}

void GeneratedCluster::publish(ServerId server) {
  state_.apply({server, std::nullopt, statuses_[server]});
}

double GeneratedCluster::load() const {
  return static_cast<double>(units_) / (static_cast<double>(options_.servers) * options_.rus);
}

double GeneratedCluster::meanSum() const {
  double sum = 0;
  for (const ServerStatus& status : statuses_) {
    sum += std::accumulate(status.sum.begin(), status.sum.end(), 0.0);
  }
  return sum / (static_cast<double>(options_.servers) * kResources);
}

GeneratedCluster::Wellbeing GeneratedCluster::wellbeing() const {
  std::vector<double> performances;
  Wellbeing being;
  for (const Placed& task : placed_) {
    const Profile& profile = kinds_[task.kind];
    const PlatformId platform = state_.vacancy(task.server).platform;
    ServerStatus others = statuses_[task.server];
    for (size_t i = 0; i < kResources; ++i) others.sum[i] -= profile.caused[i];
    const Share& share = state_.share(platform);
    const double factor = platformFactor(profile, state_.platformName(platform));
    const Newcomer self = newcomer(viewOn(profile, share, factor), {}, 1);
    const Glance seen = glance(self, vacancyOf(others, options_.rus, share, ContentionModel::kSum));
    performances.push_back(expectedPerformance(self, seen));
    being.acceptable += performances.back() >= options_.settings.target ? 1 : 0;
  }
  if (performances.empty()) return being;
  const auto count = static_cast<double>(performances.size());
  being.meanE = std::accumulate(performances.begin(), performances.end(), 0.0) / count;
  being.acceptable /= count;
  const auto fifth = performances.begin() + static_cast<std::ptrdiff_t>(performances.size() / 20);
  std::nth_element(performances.begin(), fifth, performances.end());
  being.fifthPercentileE = *fifth;
  return being;
}

}  // namespace tarcil
