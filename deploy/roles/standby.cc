#include "deploy/roles/standby.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "deploy/etcd_access.h"
#include "env/clock.h"
#include "env/linux/worker_thread.h"

namespace tarcil {
namespace {

// Who led longer ago may not lead any more: etcd is asked at least every other second while it answers.
constexpr Duration kSeenLately = std::chrono::seconds(3);

}  // namespace

Standby::Standby(etcd::Client& client, EtcdStoreOptions options, Rng rng, const std::string& address)
    : options_(std::move(options)) {
  standing_ = {.name = hostName(),
               .address = address,
               .pid = static_cast<uint64_t>(::getpid()),
               .since = systemClock().now().wall};
  waiting_ = startWorker([this, &client, rng]() { wait(client, rng); });
}

Standby::~Standby() {
  goesOn_ = false;
  waiting_.join();
}

void Standby::wait(etcd::Client& client, Rng rng) {
  store_ = EtcdStore::open(client, options_, systemClock(), rng,
                           {.goesOn = [this]() { return goesOn_.load(); },
                            .leads = [this](const Leader& leader) { noteLeader(leader); },
                            .follows = [this](const Following& following) { note(following); }});
  decided_.fulfiller->fulfill();
}

void Standby::noteLeader(const Leader& leader) {
  const std::lock_guard lock(mutex_);
  standing_.term = static_cast<uint64_t>(leader.term);
  standing_.leader = addressOf(leader);
  seenAt_ = systemClock().now().steady;
  if (changed_.get() != nullptr) changed_->fulfill();
  if (standing_.leader == standing_.address) return;
  spdlog::info("stands by: the master at {} leads (term {})", standing_.leader, standing_.term);
  standsBy_.fulfiller->fulfill();
}

kj::Promise<void> Standby::tell(LeaderNews& news) {
  auto changed = kj::newPromiseAndCrossThreadFulfiller<void>();
  {
    const std::lock_guard lock(mutex_);
    changed_ = kj::mv(changed.fulfiller);
    news.note(standing_.term);
  }
  return changed.promise.then([this, &news]() { return tell(news); });
}

void Standby::note(const Following& following) {
  if (following.problem != problem_) {
    problem_ = following.problem;
    if (problem_.empty()) {
      spdlog::info("follows the master that leads again");
    } else {
      spdlog::warn("cannot follow the master that leads: {}", problem_);
    }
  }
  const std::lock_guard lock(mutex_);
  standing_.hasState = following.hasState;
  completeAt_ = following.completeAt;
  seenAt_ = systemClock().now().steady;
}

MasterStanding Standby::standing() const {
  const std::lock_guard lock(mutex_);
  MasterStanding standing = standing_;
  const MonotonicTime now = systemClock().now().steady;
  if (standing.hasState) standing.behind = now - completeAt_;
  if (now - seenAt_ > kSeenLately) standing.leader.clear();
  return standing;
}

}  // namespace tarcil
