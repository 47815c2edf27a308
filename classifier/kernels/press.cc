#include "classifier/kernels/press.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <utility>

#include "classifier/kernels/pacer.h"

namespace tarcil {
namespace {

constexpr size_t kMaxThreads = 1024;
// Besides fillWithin: longer than any kernel needs to fill a cache or a file.
constexpr std::chrono::seconds kReadyWithin{60};
constexpr std::chrono::milliseconds kMaxRest{5};  // between two looks at the dial
constexpr const char* kReady = "ready\n";

Error failed(const std::string& what) {
  return {ErrorCode::kInternal, what};
}

Error failedHere(const std::string& what) {
  return failed(what + ": " + std::strerror(errno));
}

void report(int fd, const std::string& line) {
  // Short of PIPE_BUF, hence whole. The other end may be gone: then so are we.
  [[maybe_unused]] const ssize_t written = ::write(fd, line.data(), line.size());
}

// Of the calling thread.
double busySeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void pinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(core), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

struct Press::Shared {
  std::atomic<int> intensity{0};
  // One for each thread, a cache line apart; only that thread writes it.
  struct alignas(64) Counter {
    std::atomic<double> work{0}, busySeconds{0};
  };
  std::array<Counter, kMaxThreads> counters;

  // Sleeps while the intensity is `value`. Across processes, which std::atomic does not wait.
  void waitWhile(int value) {
    ::syscall(SYS_futex, reinterpret_cast<int*>(&intensity), FUTEX_WAIT, value, nullptr, nullptr, 0);
  }
  void turn(int value) {
    intensity.store(value);
    ::syscall(SYS_futex, reinterpret_cast<int*>(&intensity), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  }

  // One thread of the kernel's process, for ever.
  [[noreturn]] void press(const PressPlan& plan, int reports, size_t thread);
  void pressOnce(Kernel& kernel, const PressPlan& plan, Counter& counter, int intensity);
};

void Press::Shared::press(const PressPlan& plan, int reports, size_t thread) {
  try {
    // What `top -H` shows; the system keeps 15 characters of it.
    const std::string_view resource = kResourceNames[static_cast<size_t>(plan.kernel.resource)];
    ::prctl(PR_SET_NAME, ("press-" + std::to_string(thread) + "-").append(resource).c_str());
    pinTo(plan.cores[thread]);
    const std::unique_ptr<Kernel> kernel = makeKernel(plan.kernel);
    int ready = 0;
    while (true) {
      const int wanted = intensity.load();
      if (wanted != ready) {
        if (wanted > 0) {
          kernel->set(wanted);
        } else {
          kernel->rest();
        }
        ready = wanted;
        report(reports, kReady);
      }
      if (wanted == 0) {
        waitWhile(0);
      } else {
        pressOnce(*kernel, plan, counters[thread], wanted);
      }
    }
  } catch (const std::exception& error) {
    report(reports, std::string(error.what()) + "\n");
    ::_exit(1);
  }
}

// Presses until the dial is turned.
void Press::Shared::pressOnce(Kernel& kernel, const PressPlan& plan, Counter& counter, int wanted) {
  const bool isPaced = dialOf(plan.kernel.resource) == Dial::kRate && wanted < kMaxPressure && plan.peak;
  Pacer pacer;
  pacer.start(isPaced ? std::optional(partOf(*plan.peak, wanted) / plan.kernel.threads) : std::nullopt,
              PacerTime::clock::now());
  while (intensity.load(std::memory_order_relaxed) == wanted) {
    const double work = kernel.burst();
    counter.work.store(counter.work.load(std::memory_order_relaxed) + work, std::memory_order_relaxed);
    counter.busySeconds.store(busySeconds(), std::memory_order_relaxed);
    if (!isPaced) continue;
    auto rest = pacer.did(work, PacerTime::clock::now());
    while (rest.count() > 0 && intensity.load(std::memory_order_relaxed) == wanted) {
      const auto now = std::min<std::chrono::nanoseconds>(rest, kMaxRest);
      std::this_thread::sleep_for(now);
      rest -= now;
    }
  }
}

Result<Press> Press::start(const PressPlan& given) {
  PressPlan plan = given;
  if (const auto why = whyNot(plan.kernel.resource, plan.kernel.machine)) return failed(*why);
  const bool isOneThread =
      plan.kernel.resource == Resource::kMemoryCapacity || plan.kernel.resource == Resource::kDiskBandwidth;
  if (plan.cores.empty()) return failed("no core for a kernel");
  plan.cores.resize(isOneThread ? 1 : std::min(plan.cores.size(), kMaxThreads));
  plan.kernel.threads = static_cast<int>(plan.cores.size());

  Press press;
  press.resource_ = kResourceNames[static_cast<size_t>(plan.kernel.resource)];
  press.threads_ = plan.kernel.threads;
  press.readyWithin_ = plan.kernel.fillWithin + kReadyWithin;
  void* const page =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return failedHere("memory for a kernel");
  press.shared_ = new (page) Shared;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failedHere("a pipe for a kernel");
  press.reports_ = ends[0];
  const pid_t parent = ::getpid();
  press.pid_ = ::fork();
  if (press.pid_ != 0) {
    ::close(ends[1]);
    if (press.pid_ < 0) return failedHere("starting a kernel");
    return press;
  }
  // From here on the kernel's own process, which never returns.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_TIMERSLACK, 1'000);
  ::signal(SIGPIPE, SIG_IGN);
  for (size_t thread = 1; thread < plan.cores.size(); ++thread) {
    std::thread([shared = press.shared_, &plan, reports = ends[1], thread] {
      shared->press(plan, reports, thread);
    }).detach();
  }
  press.shared_->press(plan, ends[1], 0);
}

Press::~Press() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  if (reports_ >= 0) ::close(reports_);
  if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
}

Press::Press(Press&& other) noexcept {
  *this = std::move(other);
}

Press& Press::operator=(Press&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(reports_, other.reports_);
  std::swap(threads_, other.threads_);
  std::swap(readyWithin_, other.readyWithin_);
  std::swap(shared_, other.shared_);
  std::swap(resource_, other.resource_);
  return *this;
}

Status Press::set(int intensity) {
  if (shared_->intensity.load() == intensity) return {};
  shared_->turn(intensity);
  return waitForThreads(intensity);
}

Status Press::waitForThreads(int intensity) {
  const auto until = PacerTime::clock::now() + readyWithin_;
  const std::string what = "pressing on " + resource_ + " at " + std::to_string(intensity) + ": ";
  std::string said;
  for (int ready = 0; ready < threads_;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - PacerTime::clock::now());
    pollfd watched = {reports_, POLLIN, 0};
    const int count = left.count() <= 0 ? 0 : ::poll(&watched, 1, static_cast<int>(left.count()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed(what + "not ready after " + std::to_string(readyWithin_.count()) + " s");
    char buffer[512];
    const ssize_t size = ::read(reports_, buffer, sizeof buffer);
    if (size <= 0) return failed(what + "the kernel's process died");
    said.append(buffer, static_cast<size_t>(size));
    for (size_t end; (end = said.find('\n')) != std::string::npos; said.erase(0, end + 1)) {
      const std::string line = said.substr(0, end + 1);
      if (line != kReady) return failed(what + line.substr(0, end));
      ++ready;
    }
  }
  return {};
}

Press::Done Press::done() const {
  Done sum;
  for (int thread = 0; thread < threads_; ++thread) {
    const Shared::Counter& counter = shared_->counters[static_cast<size_t>(thread)];
    sum.work += counter.work.load(std::memory_order_relaxed);
    sum.busySeconds += counter.busySeconds.load(std::memory_order_relaxed);
  }
  return sum;
}

Pace paceBetween(Resource resource, const Press::Done& before, const Press::Done& after,
                 std::chrono::duration<double> passed) {
  const double work = after.work - before.work, busy = after.busySeconds - before.busySeconds;
  const bool waits = isWaitedFor(resource);
  return {work / passed.count(), waits || busy <= 0 ? work / passed.count() : work / busy};
}

Pace paceOver(Resource resource, const Press& press, std::chrono::nanoseconds window) {
  const auto start = PacerTime::clock::now();
  const Press::Done before = press.done();
  std::this_thread::sleep_for(window);
  return paceBetween(resource, before, press.done(), PacerTime::clock::now() - start);
}

}  // namespace tarcil
