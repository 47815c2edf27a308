// A disk that answers no more, and later does: what writes to it hangs in the kernel, as with a network file
// system whose server is away.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace tarcil {

// A file system of its own that can be made to hang. Throws std::runtime_error where there can be none.
class HangingDisk final {
 public:
  HangingDisk() {
    std::string name = "/var/tmp/tarcil-disk-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    folder_ = name;
    const std::string image = folder_ + "/image";
    std::ofstream(image).flush();
    std::filesystem::resize_file(image, 256 << 20);
    std::filesystem::create_directory(path());
    tool({"/usr/sbin/mkfs.ext4", "-q", "-F", image});
    tool({"/usr/bin/mount", "-o", "loop", image, path()});
    root_ = ::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (const std::string& open : {folder_, path()})
      std::filesystem::permissions(open, std::filesystem::perms(0755));
  }
  ~HangingDisk() {
    if (hangs_) goOn();
    ::close(root_);
    ::umount2(path().c_str(), MNT_DETACH);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  HangingDisk(const HangingDisk&) = delete;
  HangingDisk& operator=(const HangingDisk&) = delete;

  std::string at(const std::string& name) const { return path() + "/" + name; }
  void hang() {
    ASSERT_EQ(::ioctl(root_, FIFREEZE, 0), 0);
    hangs_ = true;
  }
  void goOn() {
    ASSERT_EQ(::ioctl(root_, FITHAW, 0), 0);
    hangs_ = false;
  }

 private:
  std::string path() const { return folder_ + "/disk"; }
  static void tool(const std::vector<std::string>& words) {
    const ProcessResult result = runProcess(words, {});
    if (result.exitCode != 0) throw std::runtime_error(words[0] + ": " + result.err);
  }

  std::string folder_;
  int root_ = -1;
  bool hangs_ = false;
};

// Why there can be none here; empty where there can.
inline std::string whyNoHangingDisk() {
  try {
    const HangingDisk disk;
    return "";
  } catch (const std::runtime_error& problem) {
    return problem.what();
  }
}

}  // namespace tarcil
