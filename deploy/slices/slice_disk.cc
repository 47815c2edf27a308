#include "deploy/slices/slice_disk.h"

#include <fcntl.h>
#include <kj/io.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/units.h"
#include "deploy/slices/tool.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

// Five seconds together.
constexpr int kLooks = 250;
constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

std::string imageIn(const std::string& folder) {
  return folder + "/image";
}

// What the loop device is on top of.
std::string limitedIn(const std::string& folder) {
  return folder + "/limited";
}

Error failed(const std::string& what, const std::string& why) {
  return {ErrorCode::kInternal, what + ": " + why};
}

// It is named when it is whole.
Status makeImage(const std::string& folder, uint64_t bytes) {
  if (fs::exists(imageIn(folder))) return {};
  const std::string made = imageIn(folder) + ".new";
  // Room that is taken now cannot be missing later.
  kj::AutoCloseFd file(::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const int error = file.get() < 0 ? errno : ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  file = nullptr;
  std::error_code problem;
  if (error != 0) {
    fs::remove(made, problem);
    return failed(made + " cannot have " + formatSize(bytes),
                  std::generic_category().message(error) + "; write less with --slice-disk");
  }
  // Discarding would give the room back.
  if (auto formatted =
          runTool({"mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,nodiscard", made});
      !formatted) {
    fs::remove(made, problem);
    return formatted.error();
  }
  fs::rename(made, imageIn(folder), problem);
  if (problem) return failed(made, problem.message());
  return {};
}

Result<SliceDisk> attach(const SliceDiskPlan& plan) {
  const std::string limited = limitedIn(plan.folder);
  std::ofstream(limited, std::ios::app).flush();  // FUSE mounts a file on a file
  const auto process = runTool({limitedDiskProgram(), imageIn(plan.folder), limited,
                                std::to_string(static_cast<uint64_t>(plan.bytesPerSecond))});
  if (!process) return process.error();
  auto device = runTool({"losetup", "--find", "--show", limited});
  if (!device) return device.error();
  return SliceDisk{std::move(*device), std::stoi(*process)};
}

// The loop devices on top of a file.
Result<std::vector<std::string>> devicesOn(const std::string& file) {
  std::vector<std::string> devices;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator("/sys/block", problem)) {
    std::ifstream in(entry.path() / "loop/backing_file");
    std::string line;
    if (std::getline(in, line) && line == file) devices.push_back("/dev/" + entry.path().filename().string());
  }
  if (problem) return failed("/sys/block", problem.message());
  return devices;
}

// Waits a while for what has just ended: the kernel lets a loop device go some time after it was detached,
// and a task's files when the last of its processes is gone.
Status unmount(const std::string& path) {
  for (int looks = 0; looks < kLooks; ++looks) {
    // EINVAL: nothing is mounted there.
    if (::umount2(path.c_str(), UMOUNT_NOFOLLOW) == 0 || errno == EINVAL || errno == ENOENT) return {};
    if (errno != EBUSY) break;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return failed(path + " cannot be unmounted", std::generic_category().message(errno));
}

}  // namespace

std::string limitedDiskProgram() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "tarcil-limited-disk";
}

uint64_t imageBytes(const std::string& folder) {
  std::error_code problem;
  const auto bytes = fs::file_size(imageIn(folder), problem);
  return problem ? 0 : bytes;
}

Result<SliceDisk> makeSliceDisk(const SliceDiskPlan& plan) {
  std::error_code problem;
  for (const std::string& folder : {plan.folder, plan.mounted}) {
    fs::create_directories(folder, problem);
    if (problem) return failed(folder, problem.message());
  }
  if (Status made = makeImage(plan.folder, plan.bytes); !made.ok()) return made.error();
  auto disk = attach(plan);
  if (!disk) return disk.error();
  const std::string device = disk->device;
  if (::mount(device.c_str(), plan.mounted.c_str(), "ext4", MS_NOSUID | MS_NODEV | MS_NOATIME, nullptr) !=
      0) {
    return failed(device + " cannot be mounted at " + plan.mounted, std::generic_category().message(errno));
  }
  disk->device = device.substr(std::string("/dev/").size());
  return disk;
}

Status removeSliceDisk(const std::string& folder, const std::string& mounted) {
  if (Status status = unmount(mounted); !status.ok()) return status;
  const auto devices = devicesOn(limitedIn(folder));
  if (!devices) return devices.error();
  for (const std::string& device : *devices) {
    if (auto detached = runTool({"losetup", "--detach", device}); !detached) return detached.error();
  }
  return unmount(limitedIn(folder));
}

}  // namespace tarcil
