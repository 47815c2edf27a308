#include "bench/late_load.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "env/clock.h"

namespace tarcil::bench {

// --- What ran when

void LateRunning::add(double from, double to) {
  from = std::max(from, 0.0);
  for (auto step = static_cast<size_t>(from / kStep); static_cast<double>(step) * kStep < to; ++step) {
    if (step >= busy_.size()) busy_.resize(step + 1);
    const double begin = static_cast<double>(step) * kStep;
    busy_[step] += std::min(to, begin + kStep) - std::max(from, begin);
  }
}

std::vector<double> LateRunning::upTo(double seconds) const {
  std::vector<double> mean = busy_;
  mean.resize(static_cast<size_t>(std::lround(seconds / kStep)));
  for (double& value : mean) value /= kStep;
  return mean;
}

// --- One client

class LateLoad::User final : public LateClientListener {
 public:
  User(LateLoad& load, uint32_t user, std::vector<std::string> agents, const std::string& token)
      : load_(load), user_(user), client_(load.net_, systemClock(), std::move(agents), token, {}, *this) {}

  Left& submit(LateClientJob job, const LateStream& stream) {
    const uint32_t tasks = job.spec.tasks;
    Left& left = left_[client_.submit(std::move(job))];
    left = {stream, tasks, Steady::now(), nullptr};
    return left;
  }

  void taskOver(const LateClientResult& result) override {
    ++load_.over;
    if (result.outcome != late::Outcome::kDone || result.code != 0) ++load_.notDone;
    if (!result.problem.empty()) std::fprintf(stderr, "%s\n", result.problem.c_str());
    const double end = load_.seconds();
    const auto& phases = result.phases;
    load_.running[user_].add(end - static_cast<double>(phases.service.count()) / 1e6, end);
    if (load_.isMeasuring) keep(phases);
    if (load_.hasFailed && result.outcome == late::Outcome::kDone) {
      load_.firstAfterFailure = Steady::now();
      load_.hasFailed = false;
    }
    const auto job = left_.find(result.task.job);
    if (--job->second.tasks > 0) return;
    Left left = kj::mv(job->second);
    left_.erase(job);
    if (load_.isMeasuring) load_.times[user_].responseMs.push_back(milliseconds(Steady::now() - left.since));
    KJ_IF_MAYBE (done, left.done) (*done)->fulfill();
    if (load_.isClosed) load_.submit(left.stream);
  }
  void agentFailed(const std::string&, const std::vector<late::ClientTask>&, const std::string&) override {
    ++load_.failures;
    load_.hasFailed = true;
  }
  void denied(const Error& error) override { throw std::runtime_error(error.message); }

 private:
  void keep(const late::Phases& phases) {
    const auto inMs = [](Duration duration) { return static_cast<double>(duration.count()) / 1000; };
    LateTimes& times = load_.times[user_];
    times.launchMs.push_back(inMs(phases.reserve + phases.queue + phases.getTask));
    times.reserveMs.push_back(inMs(phases.reserve));
    times.queueMs.push_back(inMs(phases.queue));
    times.getTaskMs.push_back(inMs(phases.getTask));
  }

  LateLoad& load_;
  const uint32_t user_;
  std::map<late::ClientJob, Left> left_;
  LateClient client_;
};

// --- All of them

LateLoad::LateLoad(Net net, const LateCluster& cluster, uint32_t users, uint32_t clientsPerUser,
                   LateWork work, uint64_t seed)
    : net_(net), work_(std::move(work)), rng_(seed), clientsPerUser_(clientsPerUser), lease_(users) {
  for (uint32_t user = 0; user < users; ++user) {
    for (uint32_t i = 0; i < clientsPerUser; ++i) {
      std::vector<std::string> agents = cluster.agents();
      std::rotate(agents.begin(), agents.begin() + i % static_cast<uint32_t>(agents.size()), agents.end());
      clients_.push_back(std::make_unique<User>(*this, user, std::move(agents), cluster.tokenOf(user)));
    }
  }
}

LateLoad::~LateLoad() noexcept(false) = default;

double LateLoad::seconds() const {
  return milliseconds(Steady::now() - start_) / 1000;
}

LateLoad::Left& LateLoad::submit(const LateStream& stream, uint32_t tasks) {
  LateClientJob job;
  for (uint8_t& byte : job.id.bytes) byte = static_cast<uint8_t>(rng_());
  job.spec.name = "bench";
  job.spec.policy = Policy::kLateBinding;
  job.spec.priority = stream.priority;
  job.spec.tasks = tasks;
  job.spec.command = {"true"};
  if (work_.taskMs > 0) job.spec.command = {"sleep", std::to_string(work_.taskMs / 1000)};
  job.executor = work_.executor;
  const uint32_t client = stream.user * clientsPerUser_ + lease_[stream.user]++ % clientsPerUser_;
  return clients_[client]->submit(std::move(job), stream);
}

kj::Promise<void> LateLoad::runOne(const LateStream& stream, uint32_t tasks) {
  auto paf = kj::newPromiseAndFulfiller<void>();
  submit(stream, tasks).done = kj::mv(paf.fulfiller);
  return kj::mv(paf.promise);
}

kj::Promise<void> LateLoad::arrive(std::vector<LateStream> streams, Arrivals arrivals) {
  start_ = Steady::now();
  running.clear();
  auto all = kj::heapArrayBuilder<kj::Promise<void>>(streams.size());
  for (const LateStream& stream : streams) all.add(arrive(stream, arrivals, stream.from));
  return kj::joinPromises(all.finish());
}

kj::Promise<void> LateLoad::arrive(LateStream stream, Arrivals arrivals, double next) {
  next += (arrivals == Arrivals::kEven ? 1 : -std::log(1 - rng_.unit())) / stream.jobsPerSecond;
  if (next >= stream.until) return kj::READY_NOW;
  const auto wait = static_cast<int64_t>(std::max(0.0, next - seconds()) * 1e9);
  return net_.timer.afterDelay(wait * kj::NANOSECONDS).then([this, stream, arrivals, next]() {
    submit(stream);
    return arrive(stream, arrivals, next);
  });
}

}  // namespace tarcil::bench
