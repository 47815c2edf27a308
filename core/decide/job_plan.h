// What would become of a job if it were submitted now. Not binding: what is free now may be taken a
// moment later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/state/claim.h"
#include "core/state/explain.h"

namespace tarcil {

struct ServerName {
  ServerId id = 0;
  std::string name;
  std::string platform;

  bool operator==(const ServerName&) const = default;
};

struct JobPlan {
  // Candidates in the explanation: more than are stored with a job, since a plan is not stored.
  static constexpr size_t kMaxCandidates = 64;

  std::vector<Claim> claims;  // one for each task that would get a slot at once, by task
  Explanation explanation;
  std::string waitReason;           // why the other tasks would wait; empty where none would
  std::vector<ServerName> servers;  // those that claims and explanation number, ascending
  uint64_t usableUnits = 0;         // of servers that are up and not cordoned
  uint64_t freeUnits = 0;           // of them, before this job

  bool operator==(const JobPlan&) const = default;
};

}  // namespace tarcil
