#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tarcil {
namespace {

void require(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Process::Process(const std::vector<std::string>& argv, const Environment& environment) {
  std::vector<std::string> words = argv, settings;
  for (const auto& [key, value] : environment) settings.push_back(key + "=" + value);
  posix_spawn_file_actions_t actions;
  require(::posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  int ends[2][2];
  for (int i = 0; i < 2; ++i) {
    require(::pipe2(ends[i], O_CLOEXEC) == 0 ? 0 : errno, "pipe2");
    fds_[i] = ends[i][0];
    require(::posix_spawn_file_actions_adddup2(&actions, ends[i][1], i + 1),
            "posix_spawn_file_actions_adddup2");
  }
  const int error = ::posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, pointers(words).data(),
                                  pointers(settings).data());
  ::posix_spawn_file_actions_destroy(&actions);
  for (auto& end : ends) ::close(end[1]);
  require(error, words[0].c_str());
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (int fd : fds_) {
    if (fd >= 0) ::close(fd);
  }
}

bool Process::readSome() {
  pollfd watched[2] = {{fds_[0], POLLIN, 0}, {fds_[1], POLLIN, 0}};  // a negative one is passed over
  if (fds_[0] < 0 && fds_[1] < 0) return false;
  while (::poll(watched, 2, -1) < 0) require(errno == EINTR ? 0 : errno, "poll");
  std::string* const texts[2] = {&result_.out, &result_.err};
  for (int i = 0; i < 2; ++i) {
    if (watched[i].revents == 0) continue;
    char buffer[4096];
    const ssize_t size = ::read(fds_[i], buffer, sizeof buffer);
    if (size > 0) {
      texts[i]->append(buffer, static_cast<size_t>(size));
    } else {
      ::close(std::exchange(fds_[i], -1));
    }
  }
  return true;
}

bool Process::waitFor(std::string_view text) {
  const auto isThere = [this, text]() {
    return result_.out.find(text) != std::string::npos || result_.err.find(text) != std::string::npos;
  };
  while (!isThere()) {
    if (!readSome()) return false;
  }
  return true;
}

void Process::signal(int number) {
  ::kill(pid_, number);
}

void Process::closeStdout() {
  ::close(std::exchange(fds_[0], -1));
}

ProcessResult Process::finish() {
  while (readSome()) continue;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) require(errno == EINTR ? 0 : errno, "waitpid");
  pid_ = -1;
  if (WIFEXITED(status)) result_.exitCode = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  return result_;
}

ProcessResult runProcess(const std::vector<std::string>& argv, const Environment& environment) {
  return Process(argv, environment).finish();
}

void killAndAwaitEnd(pid_t pid) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  require(process < 0 ? errno : 0, "pidfd_open");
  ::kill(pid, SIGKILL);
  pollfd ended{process, POLLIN, 0};
  while (::poll(&ended, 1, -1) < 0) require(errno == EINTR ? 0 : errno, "poll");
  ::close(process);
}

}  // namespace tarcil
