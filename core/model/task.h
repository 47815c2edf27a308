// What is the same for each task of a job and goes with each launch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/performance.h"

namespace tarcil {

// Zero means: no limit of its own.
struct Limits {
  uint64_t memoryBytes = 0;             // 0: the share of the task's resource units
  uint32_t pids = 0;                    // 0: the monitor's default
  uint64_t outputBytes = 100ull << 20;  // kept of each of stdout and stderr: the newest
  uint64_t diskBytesPerSecond = 0;
  uint64_t networkBytesPerSecond = 0;  // in each direction
  uint64_t diskBytes = 0;              // of working directory and /tmp together; 0: the monitor's default

  bool operator==(const Limits&) const = default;
};

// What a task sees of its server.
struct Container {
  enum class Network : uint8_t {
    kHost,
    kNone,  // loopback only
    kOwn,   // an interface of its own
  };

  std::string rootfs;  // folder on the server; empty: the server's own files
  std::string bundle;  // OCI bundle on the server, in place of rootfs
  Network network = Network::kHost;
  std::string image{};  // reference of an image (core/model/image.h), in place of both
  // Of the image's manifest: what the first task of the job to start found there. All others run it, or
  // nothing. Empty: none has started yet.
  std::string imageDigest{};

  // The server's own files, and no others.
  bool seesTheServer() const { return rootfs.empty() && bundle.empty() && image.empty(); }

  bool operator==(const Container&) const = default;
};

struct TaskSpec {
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  std::string workdir;  // empty: a private one
  std::string
      user;  // run as; of a job, empty: the submitter's default; of a launch: already allowed by policy
  Limits limits;
  Duration grace = std::chrono::seconds(10);  // between SIGTERM and SIGKILL
  Duration timeout{};                         // of one attempt; 0: none
  bool exclusive = false;                     // never two live copies of a task, even across a network cut
  Container container{};
  std::optional<PerformanceGoal> performance{};  // else the task is not watched
  // Files on the server that its output goes to besides; absolute. Empty: none.
  std::string output{}, error{};
  // File that its standard input is read from: absolute, or from the working directory on. Empty: /dev/null.
  std::string input{};
  // Somebody copies its output as it is written: what they have not yet is kept, and a task that is
  // limits.outputBytes ahead waits for them, as long as they are there.
  bool streamed = false;
  std::vector<std::string>
      results{};  // patterns of files below its working directory that are kept for its user
  // Of which its tasks get the values (task_secret.h), as its user names them.
  std::vector<std::string> secrets{};

  bool operator==(const TaskSpec&) const = default;
};

}  // namespace tarcil
