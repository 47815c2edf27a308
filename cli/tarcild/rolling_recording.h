// The last hours of a cluster, recorded for as long as it runs: a folder of parts, each a recording of its
// own (recorder.h), of which the oldest go.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/tarcild/recorder.h"
#include "core/base/time.h"
#include "formats/growing_file.h"

namespace tarcil {

struct RollingBounds {
  Duration last = std::chrono::hours(24);  // what ended longer ago goes
  uint64_t bytes = 256 << 20;              // of all files together, as they are on the disk
};

// Single-threaded. Names of parts tell when they begin (nameOfPart()). A part is as long as a
// 24th of the whole, or as large as an eighth of what all may take, whichever comes first; the next begins
// before it ends, so that nothing is missed.
class RollingRecording final {
 public:
  // Makes the folder, for its owner alone, and the first part. Failure where it cannot, or the cluster cannot
  // be asked. `cluster` outlives it.
  RollingRecording(Cluster& cluster, std::string folder, RollingBounds bounds);
  KJ_DISALLOW_COPY(RollingRecording);

  // To be called each second. Throws as Recorder::look().
  void look();
  void end(const std::string& why) { part_->recorder.end(why); }

 private:
  struct Part {
    Part(Cluster& cluster, GrowingFile whereTo) : file(std::move(whereTo)), recorder(cluster, file) {}

    GrowingFile file;
    Recorder recorder;
    WallTime began = kNever;
  };

  std::unique_ptr<Part> begin();
  bool isTimeForTheNext() const;
  void removeOldest() const;

  Cluster& cluster_;
  const std::string folder_;
  const RollingBounds bounds_;
  std::unique_ptr<Part> part_;
};

}  // namespace tarcil
