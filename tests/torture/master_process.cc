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
                        << kOperatorToken << " operator operate\n";
  if (::chmod(tokens.c_str(), 0600) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write " + tokens);
}

MasterProcess::~MasterProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void MasterProcess::start() {
  std::vector<std::string> words = {program_,  "serve",       "master",   "--listen",          address(),
                                    "--store", store(),       "--tokens", folder_ + "/tokens", "--data",
                                    folder_,   "--supervised"};
  words.insert(words.end(), moreFlags_.begin(), moreFlags_.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const std::string log = folder_ + "/log";
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, fd, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), program_);
}

void MasterProcess::kill() {
  int status = 0;
  const bool ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
  if (!ended) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  if (!ended) return;
  throw std::runtime_error("the master ended by itself, with " +
                           (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                                : "exit code " + std::to_string(WEXITSTATUS(status))) +
                           "; see " + folder_ + "/log");
}

}  // namespace tarcil::torture
