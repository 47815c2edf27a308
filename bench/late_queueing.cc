#include "bench/late_queueing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "bench/report.h"
#include "latebinding/job_scheduler.h"
#include "latebinding/reservation_queue.h"

namespace tarcil::bench {
namespace {

using namespace late;

Duration ofMs(double ms) {
  return Duration(std::llround(ms * 1e3));
}

double inMs(Duration duration) {
  return static_cast<double>(duration.count()) / 1e3;
}

double exponential(double mean, Rng& rng) {
  return -mean * std::log(1 - rng.unit());
}

// Messages of one kind under way. All take the same time, so the first sent is the first to come.
template <typename Message>
class Link {
 public:
  void send(std::vector<Message>& messages, MonotonicTime arrives) {
    for (const Message& message : messages) queue_.push_back({arrives, message});
    messages.clear();
  }
  MonotonicTime next() const { return head_ < queue_.size() ? queue_[head_].arrives : MonotonicTime::max(); }
  Message take() {
    const Message message = queue_[head_++].message;
    if (head_ > 65'536 && 2 * head_ > queue_.size()) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
    return message;
  }

 private:
  struct Entry {
    MonotonicTime arrives{};
    Message message;
  };
  std::vector<Entry> queue_;
  size_t head_ = 0;
};

// The same sequence of jobs for every policy.
class Arrivals {
 public:
  explicit Arrivals(const QueueingSetup& setup) : setup_(setup), rng_(setup.seed) { step(); }

  MonotonicTime next() const { return next_; }
  // Durations of the tasks of the job that comes now.
  void take(std::vector<Duration>& durations) {
    durations.clear();
    double ms = setup_.durations == Durations::kConstant ? setup_.meanMs : exponential(setup_.meanMs, rng_);
    for (uint32_t task = 0; task < setup_.tasksPerJob; ++task) {
      if (setup_.durations == Durations::kOfTask) ms = exponential(setup_.meanMs, rng_);
      durations.push_back(ofMs(ms));
      if (ms_ >= setup_.warmUpMs) workMs_ += ms;
    }
    ++taken_;
    step();
  }
  // Of those taken.
  double load() const { return workMs_ / (ms_ - setup_.warmUpMs) / setup_.servers / setup_.slots; }

 private:
  void step() {
    const double perMs = setup_.load * setup_.servers * setup_.slots / setup_.meanMs / setup_.tasksPerJob;
    ms_ += exponential(1 / perMs, rng_);
    next_ = taken_ < setup_.jobs ? MonotonicTime(ofMs(ms_)) : MonotonicTime::max();
  }

  const QueueingSetup setup_;
  Rng rng_;
  uint64_t taken_ = 0;
  double ms_ = 0;
  double workMs_ = 0;  // after the warm-up
  MonotonicTime next_{};
};

// What is measured of one job.
struct Measured {
  MonotonicTime came{}, lastEnd{};
  uint32_t left = 0;
  std::vector<Duration> durations;
};

class Simulation {
 public:
  explicit Simulation(const QueueingSetup& setup) : setup_(setup), arrivals_(setup), rng_(setup.seed + 1) {
    const SchedulerOptions options{
        .probeRatio = setup.probeRatio, .adaptRatio = setup.adaptRatio, .cancel = setup.cancel};
    jobs_.resize(setup.agents);
    for (AgentNumber agent = 0; agent < setup.agents; ++agent) {
      agents_.emplace_back(options, agent);
      for (ServerId server = 0; server < setup.servers; ++server) agents_.back().serverUp(server);
    }
    servers_.reserve(setup.servers);
    for (ServerId server = 0; server < setup.servers; ++server) {
      everywhere_.setUp(server);
      servers_.emplace_back(QueueOptions{}, server, 1);
      servers_.back().setSlots(setup.slots, now_, fromServer_);
    }
  }

  QueueingResult run() {
    const double began = processorNs();
    while (step()) {
    }
    result_.processorNs = processorNs() - began;
    result_.load = arrivals_.load();
    return std::move(result_);
  }

 private:
  struct Ending {
    MonotonicTime at{};
    ServerId server = 0;
    SlotLeaseId lease = 0;
    bool operator>(const Ending& other) const { return at > other.at; }
  };

  bool step() {
    const MonotonicTime ending = endings_.empty() ? MonotonicTime::max() : endings_.top().at;
    now_ = std::min({arrivals_.next(), ending, reserves_.next(), cancels_.next(), gives_.next(),
                     looks_.next(), asks_.next(), lengths_.next(), ended_.next()});
    if (now_ == MonotonicTime::max()) return false;
    if (now_ == ending) {
      const Ending end = endings_.top();
      endings_.pop();
      servers_[end.server].taskEnded(end.lease, 0, now_, fromServer_);
      sendFromServer(end.server);
    } else if (now_ == reserves_.next()) {
      deliver(reserves_.take());
    } else if (now_ == gives_.next()) {
      deliver(gives_.take());
    } else if (now_ == cancels_.next()) {
      const Cancel message = cancels_.take();
      servers_[message.server].handle(message);
    } else if (now_ == looks_.next()) {
      const Look message = looks_.take();
      lengthsBack_.push_back(servers_[message.server].handle(message));
      ++result_.messages;
      lengths_.send(lengthsBack_, arrival());
    } else if (now_ == asks_.next()) {
      const Ask message = asks_.take();
      agents_[message.agent].handle(message, now_, fromAgent_);
      sendFromAgent();
    } else if (now_ == lengths_.next()) {
      const QueueLength message = lengths_.take();
      agents_[message.agent].handle(message, fromAgent_);
      sendFromAgent();
    } else if (now_ == ended_.next()) {
      const Ended message = ended_.take();
      agents_[message.agent].handle(message, fromAgent_);
      sendFromAgent();
    } else {
      submit();
    }
    return true;
  }

  MonotonicTime arrival() const { return now_ + ofMs(setup_.delayMs); }

  template <typename Message>
  void deliver(const Message& message) {
    servers_[message.server].handle(message, now_, fromServer_);
    sendFromServer(message.server);
  }

  void submit() {
    const auto agent = static_cast<AgentNumber>(rng_.below(setup_.agents));
    LateJob job;
    job.tasks = setup_.tasksPerJob;
    job.policy = setup_.policy;
    for (uint32_t task = 0; setup_.replicas > 0 && task < job.tasks; ++task) {
      const auto servers = everywhere_.sample(kAllServers, setup_.replicas, rng_);
      job.serversOfTasks.emplace_back(servers.begin(), servers.end());
    }
    const auto number = *agents_[agent].submit(job, now_, rng_, fromAgent_);
    result_.ratio = agents_[agent].probeRatio();
    Measured& measured = of(agent, number);
    arrivals_.take(measured.durations);
    measured.came = now_;
    measured.left = job.tasks;
    sendFromAgent();
  }

  // Agents use the low bits again when a job is over.
  Measured& of(AgentNumber agent, JobNumber number) {
    auto& jobs = jobs_[agent];
    const auto position = static_cast<uint32_t>(number);
    if (position >= jobs.size()) jobs.resize(position + 1);
    return jobs[position];
  }

  void sendFromAgent() {
    result_.messages += fromAgent_.reserves.size() + fromAgent_.cancels.size() + fromAgent_.gives.size() +
                        fromAgent_.looks.size();
    for (const Give& give : fromAgent_.gives) result_.vainAsks += give.task == kNoTask ? 1 : 0;
    reserves_.send(fromAgent_.reserves, arrival());
    cancels_.send(fromAgent_.cancels, arrival());
    gives_.send(fromAgent_.gives, arrival());
    looks_.send(fromAgent_.looks, arrival());
    // The acknowledgement is an RPC's answer: nothing waits for it.
    for (const Forget& forget : fromAgent_.forgets) servers_[forget.server].handle(forget);
    fromAgent_.clear();
  }

  void sendFromServer(ServerId server) {
    result_.messages += fromServer_.asks.size() + fromServer_.ended.size();
    asks_.send(fromServer_.asks, arrival());
    for (const StartTask& start : fromServer_.starts) {
      const Duration duration = of(start.agent, start.job).durations[start.task];
      endings_.push({now_ + duration, server, start.lease});
    }
    for (const Ended& ended : fromServer_.ended) note(of(ended.agent, ended.job));
    ended_.send(fromServer_.ended, arrival());
    fromServer_.clear();
  }

  void note(Measured& job) {
    ++result_.tasks;
    if (--job.left > 0) return;
    if (inMs(job.came.time_since_epoch()) < setup_.warmUpMs) return;
    const Duration longest = *std::max_element(job.durations.begin(), job.durations.end());
    result_.responseMs.push_back(inMs(now_ - job.came));
    result_.delayMs.push_back(inMs(now_ - job.came - longest));
  }

  const QueueingSetup setup_;
  Arrivals arrivals_;
  Rng rng_;
  MonotonicTime now_{};
  std::vector<JobScheduler> agents_;
  std::vector<ReservationQueue> servers_;
  ServerGroups everywhere_;
  std::vector<std::vector<Measured>> jobs_;  // by agent and position
  SchedulerActions fromAgent_;
  QueueActions fromServer_;
  std::vector<QueueLength> lengthsBack_;
  Link<Reserve> reserves_;
  Link<Cancel> cancels_;
  Link<Give> gives_;
  Link<Look> looks_;
  Link<Ask> asks_;
  Link<QueueLength> lengths_;
  Link<Ended> ended_;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  QueueingResult result_;
};

}  // namespace

QueueingResult simulate(const QueueingSetup& setup) {
  return Simulation(setup).run();
}

QueueingResult simulateOmniscient(const QueueingSetup& setup) {
  Arrivals arrivals(setup);
  const Duration way = ofMs(setup.delayMs);
  std::priority_queue<MonotonicTime, std::vector<MonotonicTime>, std::greater<>> knownFree;
  for (uint32_t slot = 0; slot < setup.servers * setup.slots; ++slot) knownFree.push(MonotonicTime());
  QueueingResult result;
  std::vector<Duration> durations;
  while (arrivals.next() != MonotonicTime::max()) {
    const MonotonicTime came = arrivals.next();
    arrivals.take(durations);
    MonotonicTime last{};
    for (const Duration duration : durations) {
      const MonotonicTime end = std::max(came, knownFree.top()) + way + duration;
      knownFree.pop();
      knownFree.push(end + way);
      last = std::max(last, end);
      ++result.tasks;
    }
    if (inMs(came.time_since_epoch()) < setup.warmUpMs) continue;
    const Duration longest = *std::max_element(durations.begin(), durations.end());
    result.responseMs.push_back(inMs(last - came));
    result.delayMs.push_back(inMs(last - came - longest));
  }
  result.load = arrivals.load();
  return result;
}

}  // namespace tarcil::bench
