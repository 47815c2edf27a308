// Trees of files as the kernel has them, for meters.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "monitor/pressure/meter.h"
#include "tests/support/temporary_folder.h"

namespace tarcil {

// A machine with a disk and an interface that says its speed.
class FakeMachine {
 public:
  FakeMachine() {
    write("proc/stat", "cpu0 0 0 0 0 0 0 0 0 0 0\n");
    write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 750 kB\nDirty: 0 kB\nWriteback: 0 kB\n");
    write("proc/vmstat", "pgmajfault 0\npswpin 0\npswpout 0\n");
    write("proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n");
    write("proc/net/dev", "heading\nheading\neth0: 0 0 0 0 0 0 0 0 0\n");
    for (const char* what : {"cpu", "memory", "io"})
      write(std::string("proc/pressure/") + what, "some total=0\n");
    write("sys/block/sda/dev", "8:0\n");
    write("sys/block/sda/device/x", "");
    write("sys/block/loop0/dev", "7:0\n");
    write("sys/class/net/eth0/device/x", "");
    write("sys/class/net/eth0/ifindex", "2\n");
    write("sys/class/net/eth0/speed", "1000\n");
    write("sys/class/net/lo/ifindex", "1\n");
    write("cgroup/cpu.stat", "usage_usec 0\n");
    write("cgroup/memory.current", "0\n");
    write("cgroup/memory.stat",
          "inactive_file 0\nactive_file 0\nfile_dirty 0\nfile_writeback 0\npgfault 0\npgmajfault 0\n");
    write("cgroup/io.stat", "");
  }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void remove(const std::string& file) const { std::filesystem::remove(folder_.path() + "/" + file); }

  PressureMeter meter(PressureOptions options = {}) const {
    options.background.smoothing = Duration::zero();
    const std::string root = folder_.path();
    return PressureMeter("s1", options, {root + "/proc", root + "/sys"}, {},
                         {.cpuacct = {}, .memory = {}, .blkio = {}, .unified = root + "/cgroup"});
  }
  MachinePaths paths() const { return {folder_.path() + "/proc", folder_.path() + "/sys"}; }
  std::string at(const std::string& file) const { return folder_.path() + "/" + file; }

 private:
  TemporaryFolder folder_;
};

}  // namespace tarcil
