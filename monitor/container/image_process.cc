#include "monitor/container/image_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "core/base/units.h"
#include "monitor/container/shim_process.h"

namespace tarcil {
namespace {

// Of a problem: the pipe takes as much without anybody to read.
constexpr size_t kMaxText = 4'096;

// What programs that fetch images go by: where they look for programs, and the way out of this network.
constexpr const char* kPassedOn[] = {"PATH",       "HTTP_PROXY",  "HTTPS_PROXY", "NO_PROXY",
                                     "http_proxy", "https_proxy", "no_proxy"};

std::vector<std::string> passedOn() {
  std::vector<std::string> variables = {"HOME=/nonexistent"};
  for (const char* name : kPassedOn) {
    if (const char* value = std::getenv(name))
      variables.push_back(std::string(name).append("=").append(value));
  }
  return variables;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Error notStarted(int error) {
  return {ErrorCode::kInternal, "cannot start tarcil-image: " + std::generic_category().message(error)};
}

// No signal blocked or ignored, no descriptor but those three.
int spawnImage(const std::string& program, std::vector<std::string> words, int null, int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, null, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, null, STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  std::vector<std::string> variables = passedOn();
  words.insert(words.begin(), "tarcil-image");
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, pointersTo(words).data(),
                                  pointersTo(variables).data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<kj::Own<ImageProcess>> ImageProcess::start(const std::string& program,
                                                  const image::Arguments& arguments,
                                                  kj::UnixEventPort& port) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return notStarted(errno);
  kj::AutoCloseFd reader(ends[0]);
  const kj::AutoCloseFd writer(ends[1]);
  ::fcntl(reader, F_SETFL, O_NONBLOCK);
  const kj::AutoCloseFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  pid_t pid = 0;
  if (const int error = spawnImage(program, image::encodeArguments(arguments), null, writer, pid); error != 0)
    return notStarted(error);
  kj::AutoCloseFd pidfd = openPidfd(pid);
  if (pidfd.get() < 0) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return notStarted(error);
  }
  return kj::heap<ImageProcess>(port, kj::mv(pidfd), kj::mv(reader));
}

ImageProcess::ImageProcess(kj::UnixEventPort& port, kj::AutoCloseFd pidfd, kj::AutoCloseFd output)
    : port_(port),
      pidfd_(kj::mv(pidfd)),
      output_(kj::mv(output)),
      observer_(port, pidfd_, kj::UnixEventPort::FdObserver::OBSERVE_READ) {}

// What it has started dies with it; it is gone as soon as the kernel comes to it.
ImageProcess::~ImageProcess() noexcept {
  if (reaped_) return;
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  siginfo_t info{};
  ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED);
}

kj::Promise<Result<image::Fetched>> ImageProcess::outcome(Duration most) {
  auto over = port_.getTimer().afterDelay(most.count() * kj::MICROSECONDS).then([most] {
    return Result<image::Fetched>(invalid("was not there after " + formatDuration(most) +
                                          " (--image-timeout of its server's monitor)"));
  });
  return observer_.whenBecomesReadable().then([this] { return ended(); }).exclusiveJoin(kj::mv(over));
}

Result<image::Fetched> ImageProcess::ended() {
  const int status = reap(pidfd_);
  reaped_ = true;
  std::array<char, kMaxText> piece;
  const ssize_t count = ::read(output_, piece.data(), piece.size());
  const std::string text(piece.data(), count > 0 ? static_cast<size_t>(count) : 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (code == image::kBadServer) return Error{ErrorCode::kInternal, text};
  if (code == image::kBadImage) return invalid(text);
  // One that ends what reads it is not to count against the server.
  if (code != 0) return invalid("ended tarcil-image with exit code " + std::to_string(code));
  const auto fetched = image::decodeFetched(text);
  if (!fetched)
    return Error{ErrorCode::kInternal,
                 "cannot be fetched: tarcil-image is of another build than the monitor"};
  return *fetched;
}

}  // namespace tarcil
