#include "sim/policies/full_scan.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/decide/margin.h"
#include "core/decide/ranking.h"
#include "core/model/contention.h"
#include "core/model/quality.h"
#include "core/model/residents.h"

namespace tarcil::sim {
namespace {

class FullScan final : public ServerChoice {
 public:
  FullScan(const World& world, const Belief& belief, const QualitySettings& settings, Duration waitBound,
           Rng rng)
      : world_(world), belief_(belief), settings_(settings), waitBound_(waitBound), rng_(rng) {
    const size_t platforms = belief.shares.size();
    for (const Profile& profile : belief.profiles) {
      double& best = bestFactor_.emplace_back(0);
      for (size_t platform = 0; platform < platforms; ++platform) {
        const double factor = platformFactor(profile, platformName(platform));
        views_.push_back(viewOn(profile, belief.shares[platform], factor));
        best = std::max(best, factor);
      }
    }
    sites_.resize(world.servers().size());
    for (ServerNumber server = 0; server < sites_.size(); ++server) {
      for (const SimResident& resident : world.servers()[server].residents) {
        sites_[server].applications.push_back(resident.application);
      }
      judgeResidents(server);
    }
  }

  void hasFree(ServerNumber server, uint32_t units) override { sites_[server].free = units; }
  void taken(TaskNumber task, ServerNumber server) override {
    const SimJob& job = jobOf(task);
    sites_[server].free -= job.rus;
    sites_[server].applications.push_back(applicationOf(job));
    judgeResidents(server);
  }
  void released(TaskNumber task, ServerNumber server) override {
    const SimJob& job = jobOf(task);
    sites_[server].free += job.rus;
    std::vector<ApplicationNumber>& there = sites_[server].applications;
    there.erase(std::find(there.begin(), there.end(), applicationOf(job)));
    judgeResidents(server);
  }

  uint64_t queueOf(TaskNumber task) const override {
    const SimJob& job = jobOf(task);
    return uint64_t{job.application} << 32 | job.rus;
  }
  std::optional<Duration> boundOf(TaskNumber task) const override {
    return jobOf(task).maxWait.value_or(waitBound_);
  }

  Choice choose(TaskNumber task) override {
    const SimJob& job = jobOf(task);
    const bool isAtBound = world_.now() >= job.arrival + *boundOf(task);
    Choice choice;
    // Acceptable or not, band of E or E itself, part of the units that is free, chance.
    std::tuple<bool, double, double, uint32_t> best;
    for (ServerNumber server = 0; server < sites_.size(); ++server) {
      const Site& site = sites_[server];
      if (site.free < job.rus) continue;
      ++choice.looked;
      const JobView& view = viewOf(applicationOf(job), server);
      if (settings_.protectNeighbours && brokenResource(view.caused, site.slack, settings_.noiseFloor) >= 0) {
        continue;
      }
      const Judgement judgement = judge(view, site.contention, settings_.model, settings_.margin);
      const double performance = expectedPerformance(view, judgement);
      const double target = belief_.targets.empty()
                                ? settings_.target
                                : belief_.targets[applicationOf(job)].value_or(settings_.target);
      const bool isAcceptable = performance >= target * bestFactor_[applicationOf(job)];
      if (!isAcceptable && !isAtBound) continue;
      const double rank = isAcceptable ? -bandOf(performance, Ranking::kQuality) : performance;
      const double free = static_cast<double>(site.free) / world_.servers()[server].units;
      const std::tuple offer(isAcceptable, rank, free, static_cast<uint32_t>(rng_()));
      if (choice.server != kNoServer && offer <= best) continue;
      best = offer;
      choice.server = server;
    }
    return choice;
  }

 private:
  struct Site {
    uint32_t free = 0;
    std::vector<ApplicationNumber> applications{};
    Pressure contention{};
    PressureSum slack{};
  };

  const SimJob& jobOf(TaskNumber task) const { return world_.job(world_.jobOf(task)); }
  // Without interference all are one.
  ApplicationNumber applicationOf(const SimJob& job) const {
    return std::min(job.application, static_cast<ApplicationNumber>(belief_.profiles.size() - 1));
  }
  const JobView& viewOf(ApplicationNumber application, ServerNumber server) const {
    return views_[application * belief_.shares.size() + world_.servers()[server].platform];
  }

  void judgeResidents(ServerNumber server) {
    Site& site = sites_[server];
    const SimServer& of = world_.servers()[server];
    const Pressure background = belief_.backgrounds.empty() ? Pressure{} : belief_.backgrounds[server];
    PressureSum sum{}, bound = noResidents();
    for (const ApplicationNumber application : site.applications) {
      const Pressure& caused = belief_.profiles[application].caused;
      for (size_t i = 0; i < caused.size(); ++i) sum[i] += caused[i];
      tightenBound(bound, residentBound(viewOf(application, server)));
    }
    const Share& share = belief_.shares[of.platform];
    site.contention = contention(settings_.contention, sum, share, background, static_cast<int>(of.units));
    site.slack = slackOf(bound, sum, share, background);
  }

  const World& world_;
  const Belief& belief_;
  const QualitySettings settings_;
  const Duration waitBound_;
  Rng rng_;
  std::vector<JobView> views_;      // by application and platform
  std::vector<double> bestFactor_;  // by application
  std::vector<Site> sites_;         // by server
};

}  // namespace

std::unique_ptr<ServerChoice> fullScan(const World& world, const Belief& belief,
                                       const QualitySettings& settings, Duration waitBound, Rng rng) {
  return std::make_unique<FullScan>(world, belief, settings, waitBound, rng);
}

}  // namespace tarcil::sim
