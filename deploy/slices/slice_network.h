// The networks of slices: a network namespace for each, whose one interface leads to a bridge of this machine
// and has a token bucket in each direction.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// Of the slices of one cluster. Names and addresses follow from `data`, so that two clusters have different
// ones and the next start of a cluster finds what the last one left.
class SliceNetworks final {
 public:
  explicit SliceNetworks(const std::string& data);

  // The bridge; this machine is 198.18.x.1 on it (RFC 2544: addresses for measurements).
  Status make() const;
  // A slice on it, from 0 and below kMaxSlices: at 198.18.x.(number + 2).
  Status makeSlice(uint32_t number, double bytesPerSecond) const;

  // Path that setns() takes.
  std::string namespacePath(uint32_t number) const;
  // Of the slice's interface, in its namespace.
  std::string interface(uint32_t number) const;

  // Takes the bridge and all slices away; nothing where they are not there.
  Status remove() const;

 private:
  std::string namespaceName(uint32_t number) const;
  std::string bridge() const;
  std::string otherEnd(uint32_t number) const;  // of the slice's interface, at the bridge
  std::string address(uint32_t last) const;

  const uint32_t tag_;
};

}  // namespace tarcil
