#include "cli/tarcild/rolling_recording.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "core/base/failure.h"
#include "env/clock.h"
#include "formats/recording_part.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

constexpr int kPartsOfTheTime = 24, kPartsOfTheBytes = 8;

struct PartFile {
  std::string path;
  uint64_t bytes = 0;
  WallTime written = kNever;  // last
};

// Of one that has just gone: nothing of it.
PartFile lookAt(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {path};
  return {path, static_cast<uint64_t>(status.st_size), WallTime(std::chrono::seconds(status.st_mtim.tv_sec))};
}

// The newest first.
std::vector<PartFile> partsIn(const std::string& folder) {
  std::vector<PartFile> parts;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    if (entry.path().string().ends_with(kRecordingEnding)) parts.push_back(lookAt(entry.path()));
  }
  std::ranges::sort(parts, std::greater(), &PartFile::path);
  return parts;
}

}  // namespace

RollingRecording::RollingRecording(Cluster& cluster, std::string folder, RollingBounds bounds)
    : cluster_(cluster), folder_(std::move(folder)), bounds_(bounds) {
  if (::mkdir(folder_.c_str(), 0700) != 0 && !fs::is_directory(folder_)) {
    throw badInput(folder_ + ": is no folder and cannot be made one; name another, or make what is above it");
  }
  part_ = begin();
}

std::unique_ptr<RollingRecording::Part> RollingRecording::begin() {
  const WallTime now = systemClock().now().wall;
  auto part =
      std::make_unique<Part>(cluster_, requireInput(GrowingFile::make(folder_ + "/" + nameOfPart(now))));
  part->began = now;
  part->recorder.begin();
  return part;
}

bool RollingRecording::isTimeForTheNext() const {
  return systemClock().now().wall - part_->began >= bounds_.last / kPartsOfTheTime ||
         lookAt(part_->file.path()).bytes >= bounds_.bytes / kPartsOfTheBytes;
}

void RollingRecording::look() {
  part_->recorder.look();
  if (isTimeForTheNext()) {
    auto next = begin();
    part_->recorder.end("the next part goes on");
    part_ = std::move(next);
  }
  removeOldest();
}

void RollingRecording::removeOldest() const {
  const WallTime oldest = systemClock().now().wall - bounds_.last;
  uint64_t bytes = 0;
  for (const PartFile& part : partsIn(folder_)) {
    bytes += part.bytes;
    const bool goes = bytes > bounds_.bytes || part.written < oldest;
    if (goes && part.path != part_->file.path()) ::unlink(part.path.c_str());
  }
}

}  // namespace tarcil
