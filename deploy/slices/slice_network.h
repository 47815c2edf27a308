// The networks of slices: a network namespace for each, whose one interface leads to a bridge of this machine
// and has a token bucket in each direction.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// Of the slices of one cluster. Names and addresses follow from `data`, so that the next start of a cluster
// finds what the last one left.
class SliceNetworks final {
 public:
  explicit SliceNetworks(const std::string& data);

  // The bridge, with this machine on it. kInvalid: its addresses are taken.
  Status make() const;
  // A slice on it, from 0 and below kMaxSlices.
  Status makeSlice(uint32_t number, double bytesPerSecond) const;

  // Of this machine, and of a slice: of 198.18.0.0/15 (RFC 2544: addresses for measurements).
  std::string machineAddress() const { return host(1); }
  std::string sliceAddress(uint32_t number) const { return host(number + 2); }

  // Names of interfaces of this machine begin with the bridge's.
  std::string bridge() const;

  // Path that setns() takes.
  std::string namespacePath(uint32_t number) const;
  // Of the slice's interface, in its namespace.
  std::string interface(uint32_t number) const;

  // Takes the bridge and all slices away; nothing where they are not there.
  Status remove() const;

 private:
  std::string namespaceName(uint32_t number) const;
  std::string otherEnd(uint32_t number) const;  // of the slice's interface, at the bridge
  std::string host(uint32_t last) const;

  const uint32_t tag_;
};

}  // namespace tarcil
