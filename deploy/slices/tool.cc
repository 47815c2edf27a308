#include "deploy/slices/tool.h"

#include <fcntl.h>
#include <kj/io.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>

extern char** environ;

namespace tarcil {
namespace {

std::string joined(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

Error failed(const std::vector<std::string>& command, const std::string& why) {
  return {ErrorCode::kInternal, "`" + joined(command) + "` failed: " + why};
}

std::string readToEnd(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(fd, buffer, sizeof buffer)) != 0;) {
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  return text;
}

}  // namespace

std::string pathOfTool(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = folder + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

Result<std::string> runTool(const std::vector<std::string>& command) {
  const std::string program = pathOfTool(command.front());
  if (program.empty()) return failed(command, "there is no such program");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed(command, std::generic_category().message(errno));
  const kj::AutoCloseFd reader(ends[0]);
  kj::AutoCloseFd writer(ends[1]);

  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, writer, 1);
  posix_spawn_file_actions_adddup2(&files, writer, 2);
  // It may go on in the background with what it has.
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, program.c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return failed(command, std::generic_category().message(error));
  writer = nullptr;
  std::string said = readToEnd(reader);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return failed(command, std::generic_category().message(errno));
  }
  while (said.ends_with('\n')) said.pop_back();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed(command, said);
  return said;
}

}  // namespace tarcil
