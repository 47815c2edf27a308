// One task whose performance violation is being handled: what the steps for it work with.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Lives for one event. Requires: the allocation is in use.
struct ViolationCase {
  ViolationCase(EventContext& handling, AllocationId allocation, DegradedTask& entry)
      : context(handling),
        tables(handling.tables),
        degraded(entry),
        hold(*tables.jobs.holder(allocation)),
        job(*hold.job),
        task(job.tasks[hold.task]),
        server(tables.servers.at(hold.server)) {}

  EventContext& context;
  Tables& tables;
  DegradedTask& degraded;
  const Hold hold;
  Job& job;
  TaskRecord& task;
  Server& server;
};

// The task with this allocation, on a server that the session stands for; null where there is none.
inline const Hold* holderFor(const Tables& tables, AllocationId allocation, SessionId session) {
  const Hold* hold = tables.jobs.holder(allocation);
  return hold != nullptr && tables.servers.at(hold->server).session == session ? hold : nullptr;
}

}  // namespace tarcil::master
