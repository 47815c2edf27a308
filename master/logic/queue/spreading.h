// How far a job's tasks are spread over servers or racks (placement.spread).
#pragma once

#include <map>
#include <string>

#include "master/logic/jobs/job_table.h"
#include "master/logic/servers/server_table.h"

namespace tarcil::master {

// Counts the job's tasks that start or run by the server or rack that they are on. The job outlives it.
class Spreading {
 public:
  Spreading(const ServerTable& servers, const Job& job);

  // As if one more of them, or one less, were there.
  void add(const Server& server) { ++placed_[siteOf(server)]; }
  void remove(const Server& server) { --placed_[siteOf(server)]; }

  // Whether the job lets no other of its tasks go there.
  bool isFull(const Server& server) const;

 private:
  // What tasks are spread over that the server is, or is in; empty where they are not spread.
  std::string siteOf(const Server& server) const;

  const Placement& placement_;
  std::map<std::string, uint32_t> placed_;
};

}  // namespace tarcil::master
