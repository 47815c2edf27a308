// Holds the network traffic of the processes in a cgroup to a rate, each direction by itself: by two small
// programs in the kernel (BPF, attached to the cgroup) that drop what comes too early. TCP slows down by it.
#pragma once

#include <kj/io.h>

#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil {

// Limits as long as it lives; the kernel takes the programs away with the process.
class TrafficLimit final {
 public:
  // As TrafficCounter::open(). `bytesPerSecond`: of IP packets, 1,000 or more; so many pass at once as are 50
  // ms of it, and one packet more.
  static Result<TrafficLimit> open(const std::string& cgroup, const std::vector<uint32_t>& interfaces,
                                   double bytesPerSecond);

 private:
  TrafficLimit() = default;

  kj::AutoCloseFd times_;  // from when on the next packet may pass, in ns of the kernel's clock
  kj::AutoCloseFd programs_[2];
};

}  // namespace tarcil
