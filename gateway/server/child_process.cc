#include "gateway/server/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <kj/debug.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace tarcil::gateway {
namespace {

constexpr size_t kMaxLine = 4'096;
constexpr int kNiceness = 19;

struct Pipe {
  kj::AutoCloseFd read, write;
};

Pipe makePipe() {
  int ends[2];
  KJ_SYSCALL(::pipe2(ends, O_CLOEXEC));
  return {kj::AutoCloseFd(ends[0]), kj::AutoCloseFd(ends[1])};
}

// In the new process, of which only this thread is there: nothing here may take a lock or memory.
[[noreturn]] void become(char** words, int null, int output, int errors, uint64_t memoryBytes, int parent) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the gateway died before it could be noticed
  ::setpriority(PRIO_PROCESS, 0, kNiceness);
  if (memoryBytes > 0) {
    const rlimit limit{memoryBytes, memoryBytes};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  if (::dup2(null, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(errors, 2) < 0) ::_exit(127);
  // Whoever started the gateway waits for the end of what it was given to write to.
  ::close_range(3, ~0U, 0);
  ::execv(words[0], words);
  ::_exit(127);
}

std::string describe(int status) {
  if (WIFSIGNALED(status))
    return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) +
           ")";
  return "exited with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ChildProcess::ChildProcess(kj::LowLevelAsyncIoProvider& io, kj::UnixEventPort& port,
                           const ChildCommand& command, std::function<void(const std::string&)> said)
    : outputBytes_(command.outputBytes), said_(std::move(said)) {
  std::vector<std::string> words = command.arguments;
  words.insert(words.begin(), command.program);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Pipe output = makePipe(), errors = makePipe();
  int null;
  KJ_SYSCALL(null = ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const kj::AutoCloseFd nothing(null);
  const int parent = ::getpid();
  KJ_SYSCALL(pid_ = ::fork());
  if (pid_ == 0) become(argv.data(), null, output.write, errors.write, command.memoryBytes, parent);
  process_ = kj::AutoCloseFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  observer_ =
      kj::heap<kj::UnixEventPort::FdObserver>(port, process_, kj::UnixEventPort::FdObserver::OBSERVE_READ);
  gone_ = observer_->whenBecomesReadable();
  constexpr auto kFlags = kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC;
  output_ = io.wrapInputFd(kj::mv(output.read), kFlags);
  errors_ = io.wrapInputFd(kj::mv(errors.read), kFlags);
}

ChildProcess::~ChildProcess() noexcept(false) {
  if (pid_ == 0) return;
  kill();
  reap();
}

void ChildProcess::kill() {
  if (pid_ != 0) ::kill(pid_, SIGKILL);
}

kj::Promise<ChildEnd> ChildProcess::ended() {
  auto text = output_->readAllText(outputBytes_)
                  .then([](kj::String&& all) { return std::string(all.cStr(), all.size()); },
                        [this](kj::Exception&&) {
                          kill();
                          return std::string();
                        });
  auto errors = readErrors().eagerlyEvaluate(nullptr);
  return text.then([this, errors = kj::mv(errors)](std::string&& output) mutable {
    return errors.then([this]() { return kj::mv(gone_); }).then([this, output = std::move(output)]() mutable {
      ChildEnd end = reap();
      end.output = std::move(output);
      return end;
    });
  });
}

kj::Promise<void> ChildProcess::readErrors() {
  return errors_->tryRead(buffer_, 1, sizeof buffer_).then([this](size_t count) -> kj::Promise<void> {
    takeErrors({buffer_, count});
    if (count > 0) return readErrors();
    if (!line_.empty()) said_(line_);
    return kj::READY_NOW;
  });
}

void ChildProcess::takeErrors(std::string_view text) {
  for (const char letter : text) {
    if (letter != '\n') {
      if (line_.size() < kMaxLine) line_ += letter;
      continue;
    }
    said_(std::exchange(line_, {}));
  }
}

ChildEnd ChildProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return {.isGood = WIFEXITED(status) && WEXITSTATUS(status) == 0, .how = describe(status), .output = {}};
}

}  // namespace tarcil::gateway
