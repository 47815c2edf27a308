#include "tests/cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tarcil {
namespace {

void check(bool done, const char* what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

std::vector<char*> ended(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Terminal::Terminal(const std::vector<std::string>& argv, const Environment& environment) {
  fd_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  check(fd_ >= 0 && ::grantpt(fd_) == 0 && ::unlockpt(fd_) == 0, "a terminal");
  std::array<char, 64> name{};
  check(::ptsname_r(fd_, name.data(), name.size()) == 0, "the terminal's name");
  resize(24, 80);
  std::vector<std::string> words = argv, settings;
  for (const auto& [key, value] : environment) settings.push_back(key + "=" + value);
  // A process that leads a session gets the first terminal that it opens as its own.
  posix_spawnattr_t attributes;
  check(::posix_spawnattr_init(&attributes) == 0, "posix_spawnattr_init");
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_t actions;
  check(::posix_spawn_file_actions_init(&actions) == 0, "posix_spawn_file_actions_init");
  ::posix_spawn_file_actions_addopen(&actions, 0, name.data(), O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 0, 1);
  ::posix_spawn_file_actions_adddup2(&actions, 0, 2);
  errno = ::posix_spawn(&pid_, words[0].c_str(), &actions, &attributes, ended(words).data(),
                        ended(settings).data());
  const bool started = errno == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  check(started, words[0].c_str());
}

Terminal::~Terminal() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(fd_);
}

// A terminal that nobody has open any more gives an error.
bool Terminal::readSome() {
  std::array<char, 4096> piece{};
  const ssize_t count = ::read(fd_, piece.data(), piece.size());
  if (count > 0) written_.append(piece.data(), static_cast<size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

bool Terminal::waitFor(std::string_view text) {
  for (;;) {
    const size_t at = written_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (!readSome()) return false;
  }
}

void Terminal::press(std::string_view keys) {
  check(::write(fd_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()), "keys");
}

void Terminal::waitForStop() const {
  int status = 0;
  check(::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status), "a process that stops");
}

void Terminal::signal(int number) const {
  ::kill(pid_, number);
}

void Terminal::resize(unsigned short rows, unsigned short columns) const {
  const winsize size{rows, columns, 0, 0};
  check(::ioctl(fd_, TIOCSWINSZ, &size) == 0, "the terminal's size");
}

ProcessResult Terminal::finish() {
  while (readSome()) continue;
  int status = 0;
  check(::waitpid(pid_, &status, 0) == pid_, "waitpid");
  pid_ = -1;
  ProcessResult result;
  result.out = written_;
  if (WIFEXITED(status)) result.exitCode = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace tarcil
