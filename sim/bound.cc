#include "sim/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

namespace tarcil::sim {
namespace {

constexpr size_t kMaxCompanies = 5'000;  // of one platform; with more its places are units
constexpr size_t kBins = 16;             // of the works of a kind, for finding prices
constexpr int kSteps = 2'000, kStepsPerCheck = 50;
// Of the price at which all seconds together cost what all jobs are worth: the first step.
constexpr double kFirstStep = 0.02;

double secondsOf(Duration duration) {
  return static_cast<double>(duration.count()) * 1e-6;
}

// Prices that belong together: of the members of one company, which share the price of the server, or of one
// unit.
struct Price {
  size_t first = 0, count = 1;  // among the rents
  size_t pool = 0;
};

// The servers of one platform.
struct Pool {
  double seconds = 0;  // of its servers, or units, in the window
  double price = 0;
};

// Where a task may run, and what it pays for each second.
struct Place {
  double speed = 1;
  size_t rent = 0;
  double times = 1;
};

// Jobs alike but for their works.
struct Kind {
  double fastest = 0;
  std::vector<Place> places;
  // Of each job the work that counts: its longest task, times the tasks that are as long.
  struct Job {
    double longest = 0, work = 0;
    double left = 0;  // seconds from its arrival to the end of the window
  };
  std::vector<Job> jobs;
  struct Bin {
    double count = 0, work = 0;
  };
  std::vector<Bin> bins;
};

class Relaxation {
 public:
  Relaxation(const std::vector<SimServer>& servers, const Workload& workload, GroundTruth* truth,
             size_t first)
      : truth_(truth), applications_(truth ? truth->applications() : uint16_t{1}) {
    readJobs(workload, first);
    if (jobs_ == 0) return;
    std::map<PlatformNumber, std::vector<const SimServer*>> byPlatform;
    for (const SimServer& server : servers) {
      if (server.capacity() > 0) byPlatform[server.platform].push_back(&server);
    }
    for (const auto& [platform, alike] : byPlatform) addPlatform(platform, alike);
  }

  double bound() {
    if (jobs_ == 0) return 0;
    // In no time nothing has a price.
    return (window_ > 0 ? improved() : exactly()) / static_cast<double>(jobs_);
  }

 private:
  void readJobs(const Workload& workload, size_t first) {
    const auto counts = [&workload, first](size_t number) {
      return number >= first && workload.jobs[number].isCounted;
    };
    SimTime from = SimTime::max(), until{};
    for (size_t number = 0; number < workload.jobs.size(); ++number) {
      if (!counts(number)) continue;
      from = std::min(from, workload.jobs[number].arrival);
      until = workload.jobs[number].arrival;
    }
    for (size_t number = 0; number < workload.jobs.size(); ++number) {
      if (!counts(number)) continue;
      const SimJob& job = workload.jobs[number];
      const auto tasks = std::span(workload.work).subspan(job.firstTask, job.tasks);
      const double longest = secondsOf(workload.longest(job));
      const auto asLong = std::count(tasks.begin(), tasks.end(), workload.longest(job));
      kinds_[{truth_ ? job.application : ApplicationNumber{0}, job.rus}].jobs.push_back(
          {longest, longest * static_cast<double>(asLong), secondsOf(until - job.arrival)});
      ++jobs_;
    }
    window_ = jobs_ > 0 ? secondsOf(until - from) : 0;
    for (auto& [of, kind] : kinds_) fillBins(kind);
  }

  static void fillBins(Kind& kind) {
    std::sort(kind.jobs.begin(), kind.jobs.end(),
              [](const Kind::Job& a, const Kind::Job& b) { return a.work < b.work; });
    const size_t bins = std::min(kBins, kind.jobs.size());
    for (size_t bin = 0; bin < bins; ++bin) {
      const size_t begin = bin * kind.jobs.size() / bins, end = (bin + 1) * kind.jobs.size() / bins;
      Kind::Bin& of = kind.bins.emplace_back();
      of.count = static_cast<double>(end - begin);
      for (size_t i = begin; i < end; ++i) of.work += kind.jobs[i].work / of.count;
    }
  }

  void addPlatform(PlatformNumber platform, const std::vector<const SimServer*>& servers) {
    uint32_t largest = 0;
    uint64_t units = 0;
    bool hasResidents = false;
    for (const SimServer* server : servers) {
      largest = std::max(largest, server->units);
      units += server->capacity();
      hasResidents = hasResidents || !server->residents.empty();
    }
    for (auto& [of, kind] : kinds_) {
      const double fastest = truth_ ? truth_->fastest(of.first, platform, largest) : 1;
      kind.fastest = std::max(kind.fastest, fastest);
    }
    if (truth_ != nullptr && !hasResidents && truth_->phases() == 1 && companies(largest) <= kMaxCompanies) {
      pools_.push_back({.seconds = window_ * static_cast<double>(servers.size())});
      return addCompanies(platform, largest, {});
    }
    pools_.push_back({.seconds = window_ * static_cast<double>(units)});
    addPrice(1);
    for (auto& [of, kind] : kinds_) {
      if (of.second > largest) continue;
      const double fastest = truth_ ? truth_->fastest(of.first, platform, largest) : 1;
      kind.places.push_back(
          {.speed = fastest, .rent = rents_.size() - 1, .times = static_cast<double>(of.second)});
    }
  }

  // How many there are of at most so many tasks; more than kMaxCompanies where it is more than that.
  size_t companies(uint32_t tasks) const {
    double count = 1;
    for (uint32_t i = 1; i <= tasks && count <= kMaxCompanies; ++i) {
      count = count * (applications_ + i) / i;
    }
    return count <= kMaxCompanies ? static_cast<size_t>(count) : kMaxCompanies + 1;
  }

  // Adds every company of these and of further ones, none of a lower number than the last of these.
  void addCompanies(PlatformNumber platform, uint32_t tasks, std::vector<ApplicationNumber> company) {
    if (!company.empty()) {
      std::vector<double> speeds(company.size());
      truth_->speeds(platform, company, speeds);
      addPrice(company.size());
      for (size_t i = 0; i < company.size(); ++i) {
        const size_t rent = rents_.size() - company.size() + i;
        for (auto& [of, kind] : kinds_) {
          if (of.first == company[i]) kind.places.push_back({.speed = speeds[i], .rent = rent});
        }
      }
    }
    if (company.size() == tasks) return;
    company.push_back(company.empty() ? ApplicationNumber{0} : company.back());
    for (; company.back() < applications_; ++company.back()) addCompanies(platform, tasks, company);
  }

  void addPrice(size_t members) {
    prices_.push_back({.first = rents_.size(), .count = members, .pool = pools_.size() - 1});
    rents_.resize(rents_.size() + members);
  }

  // What a job with this work keeps at best, and where.
  std::pair<double, const Place*> bestPlace(const Kind& kind, double work) const {
    std::pair<double, const Place*> best{-std::numeric_limits<double>::infinity(), nullptr};
    for (const Place& place : kind.places) {
      const double kept = place.speed - place.times * rents_[place.rent] * work / place.speed;
      if (kept > best.first) best = {kept, &place};
    }
    return best;
  }

  // The bound by the rents as they are, of all jobs together.
  double exactly() const {
    std::vector<double> highest(pools_.size(), 0);
    for (const Price& price : prices_) {
      double sum = 0;
      for (size_t i = 0; i < price.count; ++i) sum += rents_[price.first + i];
      highest[price.pool] = std::max(highest[price.pool], sum);
    }
    double sum = 0;
    for (size_t pool = 0; pool < pools_.size(); ++pool) sum += pools_[pool].seconds * highest[pool];
    for (const auto& [of, kind] : kinds_) {
      for (const Kind::Job& job : kind.jobs) {
        const double later = job.left > 0 ? std::min(kind.fastest, 2 * job.longest / job.left) : kind.fastest;
        sum += std::max(bestPlace(kind, job.work).first, later);
      }
    }
    return sum;
  }

  // Steps down the subgradient: what is asked for more than there is of it becomes dearer. The least bound
  // met.
  double improved() {
    std::vector<double> asked(rents_.size()), steepness(rents_.size() + pools_.size());
    double least = exactly();
    for (int step = 1; step <= kSteps; ++step) {
      std::fill(asked.begin(), asked.end(), 0);
      for (const auto& [of, kind] : kinds_) {
        for (const Kind::Bin& bin : kind.bins) {
          const auto [kept, place] = bestPlace(kind, bin.work);
          if (kept > 0) asked[place->rent] += bin.count * place->times * bin.work / place->speed;
        }
      }
      stepBy(asked, steepness);
      if (step % kStepsPerCheck == 0) least = std::min(least, exactly());
    }
    return least;
  }

  void stepBy(const std::vector<double>& asked, std::vector<double>& steepness) {
    const auto moveOf = [&steepness](size_t variable, double slope) {
      steepness[variable] += slope * slope;
      return steepness[variable] > 0 ? slope / std::sqrt(steepness[variable]) : 0;
    };
    std::vector<double> slopes(pools_.size());
    for (size_t pool = 0; pool < pools_.size(); ++pool) slopes[pool] = pools_[pool].seconds;
    for (const Price& price : prices_) slopes[price.pool] -= meanOf(asked, price);
    const auto scaleOf = [this](size_t pool) {
      return kFirstStep * static_cast<double>(jobs_) / pools_[pool].seconds;
    };
    for (size_t pool = 0; pool < pools_.size(); ++pool) {
      double& of = pools_[pool].price;
      of = std::max(0.0, of - scaleOf(pool) * moveOf(rents_.size() + pool, slopes[pool]));
    }
    for (const Price& price : prices_) {
      const double mean = meanOf(asked, price);
      for (size_t i = price.first; i < price.first + price.count; ++i) {
        rents_[i] += scaleOf(price.pool) * moveOf(i, asked[i] - mean);
      }
      // The members share the price of the server.
      const double off = pools_[price.pool].price / static_cast<double>(price.count) - meanOf(rents_, price);
      for (size_t i = price.first; i < price.first + price.count; ++i) rents_[i] += off;
    }
  }

  static double meanOf(const std::vector<double>& values, const Price& price) {
    double sum = 0;
    for (size_t i = 0; i < price.count; ++i) sum += values[price.first + i];
    return sum / static_cast<double>(price.count);
  }

  GroundTruth* const truth_;
  const uint16_t applications_;
  std::map<std::pair<ApplicationNumber, uint32_t>, Kind> kinds_;  // by application and units
  size_t jobs_ = 0;
  double window_ = 0;  // seconds
  std::vector<Pool> pools_;
  std::vector<Price> prices_;
  std::vector<double> rents_;  // of a place, for a second
};

}  // namespace

double performanceBound(const std::vector<SimServer>& servers, const Workload& workload, GroundTruth* truth,
                        size_t first) {
  return Relaxation(servers, workload, truth, first).bound();
}

}  // namespace tarcil::sim
