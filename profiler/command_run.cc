#include "profiler/command_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <type_traits>
#include <utility>

#include "profiler/metric_lines.h"

namespace tarcil {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookEveryMs = 50;
constexpr size_t kMaxLastWords = 500;
constexpr int kPipeBytes = 1 << 20;
// Part of a run that was cut which its metric and what is counted leave out.
constexpr double kSettling = 0.25;

Error failedHere(const std::string& what) {
  return {ErrorCode::kInternal, what + ": " + std::strerror(errno)};
}

// What the standing process leaves for the caller, in a page that both see.
struct Report {
  bool isComplete;
  int startError;  // errno of the start, or 0
  double wallSeconds, cpuSeconds, waitedSeconds;
  bool wasCut;
  int exitCode, signal;
  uint64_t memoryBytes, diskBytes, outputBytes;
  uint32_t leftProcesses, metricSamples;
  bool hasMetric, hasCount;
  double metric, countedPerSecond;
  bool isUncountable;  // lastWords says why
  std::array<char, kMaxLastWords> lastWords;
  size_t lastWordsSize;
};
static_assert(std::is_trivially_copyable_v<Report>);

// The processes whose parent is this one. One that is gone has none.
std::vector<pid_t> childrenOf(pid_t pid) {
  const std::string id = std::to_string(pid);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  for (pid_t child; file >> child;) children.push_back(child);
  return children;
}

// Resident bytes of a process and of all below it.
uint64_t memoryBelow(pid_t pid) {
  uint64_t pages = 0, size = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/statm") >> size >> pages;
  uint64_t bytes = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  for (pid_t child : childrenOf(pid)) bytes += memoryBelow(child);
  return bytes;
}

// Seconds for which a process, also one that has ended and was not waited for, was ready to run and had
// no core.
double waitedOf(pid_t pid) {
  uint64_t ran = 0, waited = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/schedstat") >> ran >> waited;
  return static_cast<double>(waited) * 1e-9;
}

// The process that stands over one run of the command. Not to be used but in a process of its own.
class Standing final {
 public:
  Standing(const CommandPlan& plan, Report& report) : plan_(plan), report_(report), metric_(plan.metric) {}

  void run();

 private:
  bool prepare();
  bool beginToCount();
  bool start();
  [[noreturn]] void become(const std::array<int, 2>& out, const std::array<int, 2>& err, int problem);
  void stand();
  void endAll();
  bool reap(int flags);
  void readFrom(int& fd, bool isError);
  void noteSettled();
  void reportCount();
  void reportLastWords();
  double passed() const { return Seconds(Clock::now() - started_).count(); }

  const CommandPlan& plan_;
  Report& report_;
  MetricLines metric_;
  std::string lastWords_;
  sigset_t before_{};
  int signals_ = -1, out_ = -1, err_ = -1, count_ = -1;
  pid_t command_ = -1;
  bool hasEnded_ = false;
  Clock::time_point started_;
  struct Settled {
    double at = 0, counted = 0;  // seconds after the start, and what had been counted by then
  };
  std::optional<Settled> settled_;
};

void Standing::run() {
  if (!beginToCount()) return;
  if (!prepare() || !start()) {
    report_.startError = errno;
    report_.isComplete = true;
    return;
  }
  stand();
  endAll();
  readFrom(out_, false);
  readFrom(err_, true);
  if (!report_.wasCut) metric_.end(report_.wallSeconds);  // else its last line may be half a line
  const auto metric = metric_.meanSince(report_.wasCut ? kSettling * report_.wallSeconds : 0);
  report_.hasMetric = metric.has_value();
  report_.metric = metric.value_or(0);
  report_.metricSamples = static_cast<uint32_t>(metric_.samples());
  reportCount();
  reportLastWords();
  report_.isComplete = true;
}

void Standing::reportLastWords() {
  report_.lastWordsSize = std::min(lastWords_.size(), kMaxLastWords);
  std::memcpy(report_.lastWords.data(), lastWords_.data() + lastWords_.size() - report_.lastWordsSize,
              report_.lastWordsSize);
}

// False where it is to be counted and cannot be.
bool Standing::beginToCount() {
  if (!plan_.counted) return true;
  const auto count = countOfChildren(*plan_.counted);
  if (count) {
    count_ = *count;
    return true;
  }
  report_.isUncountable = true;
  lastWords_ = count.error().message;
  reportLastWords();
  report_.isComplete = true;
  return false;
}

// When the first part of its time has passed, if it should be cut.
void Standing::noteSettled() {
  if (count_ < 0 || settled_ || passed() < kSettling * plan_.atMost.count()) return;
  if (const auto counted = readCount(count_)) settled_ = Settled{passed(), *counted};
}

void Standing::reportCount() {
  const auto counted = count_ < 0 ? std::nullopt : readCount(count_);
  if (!counted) return;
  const Settled from = report_.wasCut ? settled_.value_or(Settled()) : Settled();
  const double seconds = report_.wallSeconds - from.at;
  report_.hasCount = seconds > 0;
  if (report_.hasCount) report_.countedPerSecond = (*counted - from.counted) / seconds;
}

bool Standing::prepare() {
  ::prctl(PR_SET_NAME, "profiled-run");
  sigset_t ours;
  sigemptyset(&ours);
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&ours, number);
  ::sigprocmask(SIG_BLOCK, &ours, &before_);
  signals_ = ::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  return signals_ >= 0 && ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

// False, with errno, where the command cannot be started.
bool Standing::start() {
  std::array<int, 2> out{}, err{}, problem{};
  for (auto* ends : {&out, &err, &problem}) {
    if (::pipe2(ends->data(), O_CLOEXEC) != 0) return false;
  }
  ::fcntl(out[0], F_SETPIPE_SZ, kPipeBytes);
  started_ = Clock::now();
  command_ = ::fork();
  if (command_ < 0) return false;
  if (command_ == 0) become(out, err, problem[1]);
  for (int end : {out[1], err[1], problem[1]}) ::close(end);
  int error = 0;
  const bool hasFailed = ::read(problem[0], &error, sizeof error) == sizeof error;
  ::close(problem[0]);
  if (hasFailed) {
    ::waitpid(command_, nullptr, 0);
    errno = error;
    return false;
  }
  out_ = out[0];
  err_ = err[0];
  for (int fd : {out_, err_}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return true;
}

void Standing::become(const std::array<int, 2>& out, const std::array<int, 2>& err, int problem) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  ::signal(SIGPIPE, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : plan_.cores) CPU_SET(static_cast<size_t>(core), &set);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::vector<char*> words;
  for (const std::string& word : plan_.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (::sched_setaffinity(0, sizeof set, &set) == 0 && ::dup2(null, 0) >= 0 && ::dup2(out[1], 1) >= 0 &&
      ::dup2(err[1], 2) >= 0) {
    ::execvp(words[0], words.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(problem, &error, sizeof error);
  ::_exit(127);
}

// Until the command has ended, its time is up, or we are told to stop.
void Standing::stand() {
  while (!hasEnded_) {
    noteSettled();
    if (passed() >= plan_.atMost.count()) {
      report_.wasCut = true;
      break;
    }
    const double left = (plan_.atMost.count() - passed()) * 1e3;
    std::array<pollfd, 3> watched = {{{signals_, POLLIN, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    const int changed = ::poll(watched.data(), watched.size(),
                               static_cast<int>(std::clamp(left + 1, 1.0, 1.0 * kLookEveryMs)));
    if (changed == 0) report_.memoryBytes = std::max(report_.memoryBytes, memoryBelow(command_));
    signalfd_siginfo signal;
    while (::read(signals_, &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo != SIGCHLD) return;
    }
    while (reap(WNOHANG)) continue;
    readFrom(out_, false);
    readFrom(err_, true);
  }
  if (report_.wallSeconds == 0) report_.wallSeconds = passed();
}

// Notes a child that has ended; false where there is none.
bool Standing::reap(int flags) {
  siginfo_t ended{};
  const bool hasOne = ::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT | flags) == 0 && ended.si_pid > 0;
  if (hasOne && ended.si_pid == command_) report_.waitedSeconds = waitedOf(command_);
  int status = 0;
  rusage used{};
  const pid_t pid = ::wait4(-1, &status, flags, &used);
  if (pid <= 0) return false;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  report_.cpuSeconds += seconds(used.ru_utime) + seconds(used.ru_stime);
  report_.memoryBytes = std::max(report_.memoryBytes, static_cast<uint64_t>(used.ru_maxrss) << 10);
  report_.diskBytes += static_cast<uint64_t>(used.ru_inblock + used.ru_oublock) << 9;
  if (pid == command_) {
    report_.wallSeconds = passed();
    report_.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    report_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    hasEnded_ = true;
  } else if (hasEnded_ || report_.wasCut) {
    ++report_.leftProcesses;
  }
  return true;
}

// The group dies at once; what has left it came to us when its parent died.
void Standing::endAll() {
  const bool hadEnded = hasEnded_;
  do {
    ::kill(-command_, SIGKILL);
    for (pid_t child : childrenOf(::getpid())) ::kill(child, SIGKILL);
  } while (reap(0));
  if (!hadEnded) report_.exitCode = report_.signal = 0;
}

void Standing::readFrom(int& fd, bool isError) {
  static std::array<char, 65536> buffer;
  while (fd >= 0) {
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      ::close(std::exchange(fd, -1));
      return;
    }
    const std::string_view piece(buffer.data(), static_cast<size_t>(size));
    report_.outputBytes += piece.size();
    if (isError) {
      lastWords_.append(piece);
      if (lastWords_.size() > 2 * kMaxLastWords) lastWords_.erase(0, lastWords_.size() - kMaxLastWords);
    } else if (!plan_.metric.empty()) {
      metric_.take(piece, passed());
    }
    // A command that writes without end must not keep us from looking at the time.
    if (size < static_cast<ssize_t>(buffer.size())) return;
    if (!hasEnded_ && passed() >= plan_.atMost.count()) return;
  }
}

CommandOutcome outcomeOf(const Report& report) {
  CommandOutcome outcome;
  outcome.wall = Seconds(report.wallSeconds);
  outcome.wasCut = report.wasCut;
  outcome.exitCode = report.exitCode;
  outcome.signal = report.signal;
  outcome.cpuSeconds = report.cpuSeconds;
  outcome.waitedSeconds = report.waitedSeconds;
  outcome.memoryBytes = report.memoryBytes;
  outcome.diskBytes = report.diskBytes;
  outcome.leftProcesses = report.leftProcesses;
  outcome.outputBytes = report.outputBytes;
  outcome.lastWords.assign(report.lastWords.data(), report.lastWordsSize);
  if (report.hasMetric) outcome.metric = report.metric;
  outcome.metricSamples = report.metricSamples;
  if (report.hasCount) outcome.countedPerSecond = report.countedPerSecond;
  return outcome;
}

}  // namespace

Result<CommandOutcome> runCommand(const CommandPlan& plan) {
  void* const page =
      ::mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return failedHere("memory for a run");
  Report& report = *new (page) Report{};
  const pid_t parent = ::getpid();
  const pid_t standing = ::fork();
  if (standing == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(0);
    Standing(plan, report).run();
    ::_exit(0);
  }
  if (standing > 0) {
    while (::waitpid(standing, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  const Report told = report;
  ::munmap(page, sizeof(Report));
  if (standing < 0) return failedHere("starting a run");
  if (!told.isComplete) return Error{ErrorCode::kInternal, "the process that stood over the run died"};
  if (told.isUncountable) return notFound(std::string(told.lastWords.data(), told.lastWordsSize));
  if (told.startError != 0) {
    return notFound(plan.words.front() + ": cannot be started: " + std::strerror(told.startError));
  }
  return outcomeOf(told);
}

}  // namespace tarcil
