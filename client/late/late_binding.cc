// The client of tarcil/late_binding.h: a thread with an event loop, and a mailbox to it.
#include "tarcil/late_binding.h"

#include <kj/async-io.h>
#include <kj/async-unix.h>
#include <kj/debug.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "client/late/late_client.h"
#include "client/late/submitted_job.h"
#include "latebinding/names.h"
#include "rpc/address.h"
#include "rpc/quiet_sockets.h"

namespace tarcil {
namespace {

void require(const Status& status) {
  if (!status) throw std::invalid_argument(status.error().message);
}

late::ClientOptions clientOptions(const LateBindingSettings& settings) {
  late::ClientOptions options;
  options.heartbeat = settings.heartbeat;
  options.deadAfter = settings.deadAfter;
  for (const std::string& problem : late::problems(options)) throw std::invalid_argument(problem);
  if (settings.agents.empty()) throw std::invalid_argument("agents: there are none; name at least one");
  for (const std::string& agent : settings.agents) require(checkAddress(agent, AddressUse::kConnect));
  return options;
}

Trust trustOf(const LateBindingSettings& settings) {
  Trust trust{.insecure = settings.insecure};
  if (!settings.authorityFile.empty()) {
    auto credentials = readAuthorityFile(settings.authorityFile);
    if (!credentials) throw std::invalid_argument("authorityFile: " + credentials.error().message);
    trust.credentials = std::move(*credentials);
  }
  const Security security(systemClock(), trust);
  for (const std::string& agent : settings.agents) {
    if (const Status may = security.mayUse(agent); !may)
      throw std::invalid_argument("agents: " + may.error().message);
  }
  return trust;
}

LateBindingTask taskOf(const late::ClientTask& task) {
  return {task.job, task.task};
}

}  // namespace

// Everything below `loop` belongs to the thread; the rest is guarded by the mutex.
class LateBindingClient::Thread final : private LateClientListener {
 public:
  Thread(LateBindingSettings settings, LateBindingListener& listener)
      : settings_(std::move(settings)),
        trust_(trustOf(settings_)),
        options_(clientOptions(settings_)),
        listener_(listener) {
    wakeUp_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wakeUp_ < 0) throw std::runtime_error(std::string("eventfd: ") + ::strerror(errno));
    thread_ = std::thread([this]() { run(); });
  }

  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      post([this](LateClient&) { stopped_->fulfill(); });
    }
    thread_.join();
    ::close(wakeUp_);
  }

  uint64_t submit(LateClientJob job) {
    const std::lock_guard lock(mutex_);
    left_ += job.spec.tasks;
    post([job = std::move(job)](LateClient& client) mutable { client.submit(std::move(job)); });
    // As the session will count it, which takes jobs in this order.
    return ++lastJob_;
  }

  void cancel(uint64_t job) {
    const std::lock_guard lock(mutex_);
    post([job](LateClient& client) { client.cancel(job); });
  }

  void wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this]() { return left_ == 0; });
  }

 private:
  using Letter = std::function<void(LateClient&)>;

  // Requires: the mutex is held.
  void post(auto letter) {
    // std::function wants something that can be copied.
    letters_.push_back([held = std::make_shared<decltype(letter)>(std::move(letter))](LateClient& client) {
      (*held)(client);
    });
    if (letters_.size() > 1) return;  // it has been woken
    const uint64_t one = 1;
    if (::write(wakeUp_, &one, sizeof one) < 0) std::abort();
  }

  void run() {
    // Signals are for the program's own threads.
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    kj::AsyncIoContext io = kj::setupAsyncIo();
    auto stopped = kj::newPromiseAndFulfiller<void>();
    stopped_ = kj::mv(stopped.fulfiller);
    QuietSockets sockets(*io.lowLevelProvider, io.unixEventPort);
    Security security(systemClock(), trust_);
    const Net net{io.provider->getNetwork(), sockets, io.provider->getTimer(), &security};
    LateClient client(net, systemClock(), settings_.agents, settings_.token, options_, *this);
    kj::UnixEventPort::FdObserver observer(io.unixEventPort, wakeUp_,
                                           kj::UnixEventPort::FdObserver::OBSERVE_READ);
    stopped.promise.exclusiveJoin(readLetters(observer, client)).wait(io.waitScope);
  }

  kj::Promise<void> readLetters(kj::UnixEventPort::FdObserver& observer, LateClient& client) {
    uint64_t count = 0;
    while (::read(wakeUp_, &count, sizeof count) > 0) {
    }
    std::vector<Letter> letters;
    {
      const std::lock_guard lock(mutex_);
      letters.swap(letters_);
    }
    for (const Letter& letter : letters) letter(client);
    return observer.whenBecomesReadable().then(
        [this, &observer, &client]() { return readLetters(observer, client); });
  }

  void taskOver(const LateClientResult& from) override {
    LateBindingResult result;
    result.task = taskOf(from.task);
    result.outcome = static_cast<LateBindingResult::Outcome>(from.outcome);
    result.code = from.code;
    result.attempts = from.attempts;
    result.server = from.server;
    result.problem = from.problem;
    result.reserve = from.phases.reserve;
    result.queue = from.phases.queue;
    result.getTask = from.phases.getTask;
    result.service = from.phases.service;
    listener_.taskOver(result);
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) done_.notify_all();
  }

  void agentFailed(const std::string& agent, const std::vector<late::ClientTask>& inFlight,
                   const std::string&) override {
    std::vector<LateBindingTask> tasks;
    for (const auto& task : inFlight) tasks.push_back(taskOf(task));
    listener_.agentFailed(agent, tasks);
  }

  void denied(const Error& error) override { listener_.denied(error.message); }

  const LateBindingSettings settings_;
  const Trust trust_;
  const late::ClientOptions options_;
  LateBindingListener& listener_;
  int wakeUp_ = -1;

  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<Letter> letters_;
  uint64_t lastJob_ = 0;
  uint64_t left_ = 0;  // tasks that are not over

  // --- The thread's
  kj::Own<kj::PromiseFulfiller<void>> stopped_;
  std::thread thread_;
};

LateBindingClient::LateBindingClient(LateBindingSettings settings, LateBindingListener& listener)
    : thread_(std::make_unique<Thread>(std::move(settings), listener)) {}

LateBindingClient::~LateBindingClient() = default;

uint64_t LateBindingClient::submit(const LateBindingJob& job) {
  return thread_->submit(lateClientJob(job));
}

void LateBindingClient::cancel(uint64_t job) {
  thread_->cancel(job);
}

void LateBindingClient::wait() {
  thread_->wait();
}

}  // namespace tarcil
