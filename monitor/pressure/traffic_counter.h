// Counts the network traffic of all processes in a cgroup, which share the machine's interfaces with
// everybody else: by two small programs in the kernel (BPF, attached to the cgroup).
#pragma once

#include <kj/io.h>

#include <string>
#include <vector>

#include "core/base/result.h"
#include "monitor/logic/pressure/counters.h"

namespace tarcil {

// Counts as long as it lives; the kernel takes the programs away with the process.
class TrafficCounter final {
 public:
  // `cgroup`: a directory of version 2; counted is all below it. `interfaces`: indexes of those whose packets
  // count, at most 64.
  // kNotFound: this kernel cannot, or does not let us.
  static Result<TrafficCounter> open(const std::string& cgroup, const std::vector<uint32_t>& interfaces);

  // Bytes of IP packets: without the link's headers, a few per cent less than the interface counts.
  Result<TransferBytes> read() const;

 private:
  TrafficCounter() = default;

  kj::AutoCloseFd counters_;
  kj::AutoCloseFd programs_[2];
};

}  // namespace tarcil
