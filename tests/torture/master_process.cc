#include "tests/torture/master_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tarcil::torture {

MasterProcess::MasterProcess(std::string program, std::string folder, std::vector<std::string> moreFlags)
    : program_(std::move(program)), folder_(std::move(folder)), moreFlags_(std::move(moreFlags)) {
  std::filesystem::create_directories(folder_);
  const std::string tokens = folder_ + "/tokens";
  std::ofstream(tokens) << kAgentToken << " agents agent\n"
                        << kMonitorToken << " monitors monitor\n"
                        << kOperatorToken << " operator operate\n"
                        << kUserTokens[0] << " ada submit ada\n"
                        << kUserTokens[1] << " bob submit bob\n";
  if (::chmod(tokens.c_str(), 0600) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write " + tokens);
}

MasterProcess::~MasterProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void MasterProcess::start(const std::string& failpoint) {
  std::vector<std::string> words = {program_,  "serve",       "master",   "--listen",          address(),
                                    "--store", store(),       "--tokens", folder_ + "/tokens", "--data",
                                    folder_,   "--supervised"};
  words.insert(words.end(), moreFlags_.begin(), moreFlags_.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  std::string setting = "TARCIL_FAILPOINT=" + failpoint;
  char* const environment[] = {setting.data(), nullptr};
  mayDieByItself_ = !failpoint.empty();

  const std::string log = folder_ + "/log";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, fd, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environment);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), program_);
}

void MasterProcess::look(int options) {
  if (pid_ > 0 && ::waitpid(pid_, &status_, options) == pid_) pid_ = -1;
}

bool MasterProcess::isDead() {
  look(WNOHANG);
  return pid_ < 0;
}

void MasterProcess::kill() {
  const bool endedByItself = isDead();
  if (!endedByItself) {
    ::kill(pid_, SIGKILL);
    look(0);
  }
  const bool wasKilled = WIFSIGNALED(status_) && WTERMSIG(status_) == SIGKILL;
  if (wasKilled && (mayDieByItself_ || !endedByItself)) return;
  throw std::runtime_error("the master ended by itself, with " +
                           (WIFSIGNALED(status_) ? "signal " + std::to_string(WTERMSIG(status_))
                                                 : "exit code " + std::to_string(WEXITSTATUS(status_))) +
                           "; see " + folder_ + "/log");
}

}  // namespace tarcil::torture
