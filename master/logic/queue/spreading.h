// How far a job's tasks are spread (placement.spread).
#pragma once

#include <string>

#include "core/decide/spread.h"
#include "master/logic/jobs/job_table.h"
#include "master/logic/servers/server_table.h"

namespace tarcil::master {

// Counts the job's tasks that start or run by the domain that they are in. The job outlives it.
class Spreading {
 public:
  // O(tasks) where they are spread, else O(1).
  Spreading(const ServerTable& servers, const Job& job);

  // As if one more of them, or one less, were there.
  void add(const Server& server);
  void remove(const Server& server);

  // Whether the job lets no other of its tasks go there.
  bool isFull(const Server& server) const;

 private:
  bool isLimited() const { return !placement_.spread.empty(); }
  std::string domainOf(const Server& server) const;

  const Placement& placement_;
  SpreadCounts<std::string> placed_;
};

}  // namespace tarcil::master
