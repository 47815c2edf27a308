// Device nodes for tests, below /dev. Takes root.
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace tarcil {

// A folder whose nodes go with the object.
class DeviceFolder final {
 public:
  DeviceFolder() : path_("/dev/tarcil-test-" + std::to_string(::getpid())) {
    isMade_ = ::mkdir(path_.c_str(), 0755) == 0;
  }
  ~DeviceFolder() { std::filesystem::remove_all(path_); }
  DeviceFolder(const DeviceFolder&) = delete;
  DeviceFolder& operator=(const DeviceFolder&) = delete;

  std::string at(const std::string& name) const { return path_ + "/" + name; }

  // A character device that everybody may use.
  void add(const std::string& name, unsigned major, unsigned minor) {
    isMade_ = isMade_ && ::mknod(at(name).c_str(), S_IFCHR | 0666, makedev(major, minor)) == 0 &&
              ::chmod(at(name).c_str(), 0666) == 0;
  }
  // Whether this machine let all of it be made.
  bool isMade() const { return isMade_; }

 private:
  std::string path_;
  bool isMade_ = false;
};

}  // namespace tarcil
