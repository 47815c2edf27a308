// A small root file system for tests, made of this machine's programs and the libraries that they need.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <regex>
#include <string>

namespace tarcil {

inline std::string printedBy(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  for (size_t count; pipe != nullptr && (count = ::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), count);
  if (pipe != nullptr) ::pclose(pipe);
  return text;
}

// Copies what `path` leads to to the same path below `root`.
inline void copyInto(const std::string& root, const std::string& path) {
  namespace fs = std::filesystem;
  fs::create_directories(fs::path(root + path).parent_path());
  fs::copy_file(fs::canonical(path), root + path, fs::copy_options::skip_existing);
}

// Makes `root`, readable by everybody, with these programs of /bin in it and the folders that a task needs.
inline void makeRootImage(const std::string& root, std::initializer_list<const char*> programs) {
  for (const char* folder : {"/proc", "/sys", "/dev", "/run", "/tmp", "/etc"})
    std::filesystem::create_directories(root + folder);
  const std::regex library("(/\\S+) \\(0x");
  for (const char* program : programs) {
    const std::string path = std::string("/bin/") + program;
    copyInto(root, path);
    const std::string libraries = printedBy("ldd " + path);
    for (std::sregex_iterator found(libraries.begin(), libraries.end(), library), end; found != end; ++found)
      copyInto(root, (*found)[1]);
  }
  ::chmod(root.c_str(), 0755);
}

}  // namespace tarcil
