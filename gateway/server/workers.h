// Threads on which users' questions to the cluster are asked, as their commands would: each waits for its
// answers, and makes JSON of them, while the event loop serves others.
#pragma once

#include <kj/async-io.h>
#include <kj/function.h>

#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/cluster.h"

namespace tarcil::gateway {

struct WorkerOptions {
  size_t threads = 8;
  // Questions that wait: with so many, one more is refused.
  size_t waiting = 1'000;
  size_t waitingOfUser = 64;
  // How long a user's connection is kept without a question.
  kj::Duration idle = 60 * kj::SECONDS;
};

// Belongs to the thread that makes it; what is asked runs on others.
class Workers final {
 public:
  // `agents` as Client has them.
  Workers(std::vector<std::string> agents, WorkerOptions options, Trust trust = {});
  // When what is under way is done.
  ~Workers() noexcept(false);
  KJ_DISALLOW_COPY(Workers);

  // What `question(cluster)` gives or throws; the cluster is logged in with this token. Users' questions are
  // taken in turns. Exhausted where too many wait. Where the promise is dropped before its turn, it is not
  // asked.
  template <typename T>
  kj::Promise<T> ask(const std::string& token, kj::Function<T(Cluster&)> question) {
    auto pair = kj::newPromiseAndCrossThreadFulfiller<T>();
    add(token, [question = kj::mv(question), fulfiller = kj::mv(pair.fulfiller)](Cluster* cluster) mutable {
      if (!fulfiller->isWaiting()) return;
      if (cluster == nullptr) return fulfiller->reject(KJ_EXCEPTION(DISCONNECTED, "the gateway ends"));
      KJ_IF_MAYBE (exception, kj::runCatchingExceptions([&]() { fulfiller->fulfill(question(*cluster)); })) {
        fulfiller->reject(kj::mv(*exception));
      }
    });
    return kj::mv(pair.promise);
  }

  size_t waiting() const;

 private:
  using Task = kj::Function<void(Cluster*)>;  // null: the gateway ends
  struct Next {
    std::string token;
    Task task;
  };
  using Wake = kj::Own<kj::CrossThreadPromiseFulfiller<void>>;

  void add(const std::string& token, Task task);
  void work();
  // Waits for one; none when the gateway ends.
  kj::Maybe<Next> next(kj::WaitScope& waitScope);
  kj::Maybe<Next> takeNext();

  const Trust trust_;
  const std::vector<std::string> agents_;
  const WorkerOptions options_;
  mutable std::mutex mutex_;                       // of what follows up to ends_
  std::map<std::string, std::deque<Task>> tasks_;  // by token
  std::deque<std::string> turns_;                  // tokens that have tasks
  size_t waiting_ = 0;
  std::vector<Wake> idle_;
  bool ends_ = false;
  std::mutex waking_;  // held while the threads are woken for the last time
  std::vector<std::thread> threads_;
};

}  // namespace tarcil::gateway
