#include "gateway/server/workers.h"

#include <kj/debug.h>

#include "rpc/errors.h"

namespace tarcil::gateway {
namespace {

struct UsersCluster {
  std::unique_ptr<Cluster> cluster;
  kj::TimePoint used = kj::origin<kj::TimePoint>();
};

}  // namespace

Workers::Workers(std::vector<std::string> agents, WorkerOptions options, Trust trust)
    : trust_(std::move(trust)), agents_(std::move(agents)), options_(options) {
  for (size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this]() { work(); });
}

Workers::~Workers() noexcept(false) {
  std::vector<Wake> idle;
  std::map<std::string, std::deque<Task>> left;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    idle = std::exchange(idle_, {});
    left = std::exchange(tasks_, {});
    waiting_ = 0;
  }
  {
    const std::lock_guard lock(waking_);
    for (auto& wake : idle) wake->fulfill();
  }
  for (auto& [token, tasks] : left) {
    for (Task& task : tasks) task(nullptr);
  }
  for (std::thread& thread : threads_) thread.join();
}

size_t Workers::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void Workers::add(const std::string& token, Task task) {
  kj::Maybe<Wake> wake;
  {
    const std::lock_guard lock(mutex_);
    auto& ofUser = tasks_[token];
    if (waiting_ >= options_.waiting || ofUser.size() >= options_.waitingOfUser) {
      if (ofUser.empty()) tasks_.erase(token);
      kj::throwFatalException(toException(
          {ErrorCode::kExhausted, "too many requests wait for the cluster; try again in a second"}));
    }
    if (ofUser.empty()) turns_.push_back(token);
    ofUser.push_back(kj::mv(task));
    ++waiting_;
    if (!idle_.empty()) {
      wake = kj::mv(idle_.back());
      idle_.pop_back();
    }
  }
  KJ_IF_MAYBE (one, wake) {
    (*one)->fulfill();
  }
}

// Requires: the mutex is locked.
kj::Maybe<Workers::Next> Workers::takeNext() {
  if (turns_.empty()) return nullptr;
  std::string token = std::move(turns_.front());
  turns_.pop_front();
  const auto ofUser = tasks_.find(token);
  Next next{token, kj::mv(ofUser->second.front())};
  ofUser->second.pop_front();
  --waiting_;
  if (ofUser->second.empty()) {
    tasks_.erase(ofUser);
  } else {
    turns_.push_back(std::move(token));
  }
  return kj::mv(next);
}

kj::Maybe<Workers::Next> Workers::next(kj::WaitScope& waitScope) {
  while (true) {
    auto woken = kj::newPromiseAndCrossThreadFulfiller<void>();
    {
      const std::lock_guard lock(mutex_);
      if (ends_) return nullptr;
      KJ_IF_MAYBE (there, takeNext()) {
        return kj::mv(*there);
      }
      idle_.push_back(kj::mv(woken.fulfiller));
    }
    woken.promise.wait(waitScope);
  }
}

void Workers::work() {
  auto io = kj::setupAsyncIo();
  std::map<std::string, UsersCluster> clusters;
  while (true) {
    auto next = this->next(io.waitScope);
    KJ_IF_MAYBE (one, next) {
      const kj::TimePoint now = io.provider->getTimer().now();
      std::erase_if(clusters, [&](const auto& entry) { return now - entry.second.used > options_.idle; });
      UsersCluster& of = clusters[one->token];
      if (!of.cluster) of.cluster = std::make_unique<Cluster>(io, trust_, agents_, one->token);
      of.used = now;
      one->task(of.cluster.get());
    } else {
      // Whoever wakes this thread writes to a descriptor of its event loop, and may not be done with that.
      const std::lock_guard lock(waking_);
      return;
    }
  }
}

}  // namespace tarcil::gateway
