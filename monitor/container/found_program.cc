#include "monitor/container/found_program.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace tarcil {

std::string findProgram(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/sbin:/usr/bin:/sbin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string program = std::string(folder).append("/").append(name);
    if (folder.starts_with('/') && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

}  // namespace tarcil
