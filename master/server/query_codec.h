// Views of the master's state on the wire.
#pragma once

#include "master/logic/master_logic.h"
#include "master/logic/queue/forecast.h"
#include "schema/master.capnp.h"

namespace tarcil {

void write(const JobDetails& value, wire::JobDetails::Builder to);
void write(const JobSummary& value, wire::JobSummary::Builder to);
void write(const WaitingJob& value, WallTime expectedStart, wire::WaitingJob::Builder to);
void write(const Forecast::NamedBucket& value, wire::Bucket::Builder to);
void write(const ServerView& value, wire::ServerDetails::Builder to);
void write(const JobPosition& value, wire::JobPosition::Builder to);
JobPosition read(wire::JobPosition::Reader from);
// Throws where a state in the filter is unknown.
JobQuery readQuery(uint32_t limit, wire::JobFilter::Reader from);
void write(const CronView& value, wire::CronDetails::Builder to);
void write(const AgentView& value, wire::AgentDetails::Builder to);

}  // namespace tarcil
