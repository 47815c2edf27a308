// The tasks that hold units and countable things of one server, and the status that follows from them.
#pragma once

#include <vector>

#include "core/base/ids.h"
#include "core/model/profile.h"
#include "core/state/server.h"
#include "core/state/server_pressure.h"

namespace tarcil {

struct Resident {
  AllocationId allocation = 0;
  std::vector<RuIndex> rus;
  Pressure caused{};  // that it is charged for
  Pressure tolerated{};
  ExtraNumbers extras{};
  ByteRequest request{};
  ResourceSet measured{};  // of `caused`; the others are its profile's
  Pressure most{};         // that it was charged for, of what is measured
  bool isStrict = false;   // JobSpec::isStrict()

  bool operator==(const Resident&) const = default;
};

// Adds the resident: takes its units, extras and bytes, adds to the sum, tightens the bound, raises the
// version. O(kResources). Requires: its units and extras are free.
void occupy(ServerStatus& status, std::vector<Resident>& residents, Resident resident,
            const ServerFacts& facts, const Share& share);

// Removes the resident with this allocation, if there; the bound is formed anew from those left. What it held
// and `facts` no longer has does not become free. O(residents).
void vacate(ServerStatus& status, std::vector<Resident>& residents, AllocationId allocation,
            const ServerFacts& facts, const Share& share);

// Sum, bound, free units and extras from scratch, as they must be for these residents of a server with these
// facts; version, flags and background stay. For start-up, for changed facts, for a changed share, and for
// tests.
void rebuild(ServerStatus& status, const std::vector<Resident>& residents, const ServerFacts& facts,
             const Share& share);

// What a task with this profile does to G of its server (docs/design.md).
PressureSum boundOf(const Pressure& caused, const Pressure& tolerated, const Share& share);

// What occupy() does to the status, without the version, bytes and extras: for claims that are not granted
// yet. Units that are not free stay so.
void layOn(ServerStatus& status, const std::vector<RuIndex>& rus, const Pressure& caused,
           const Pressure& tolerated, const Share& share, bool isStrict = false);

}  // namespace tarcil
