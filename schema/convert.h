// Wire <-> core, nowhere else. write() fills a builder; read() gives the value or throws a kj::Exception
// that says which field is malformed: peers and stores are not trusted to be well formed. Vectors keep
// their order.
#pragma once

#include "core/decide/job_plan.h"
#include "core/decide/options.h"
#include "core/state/caller.h"
#include "core/state/commit.h"
#include "core/state/job_state.h"
#include "core/state/usage.h"
#include "schema/types.capnp.h"

namespace tarcil {

// --- Small values ---
kj::ArrayPtr<const kj::byte> bytesOf(const JobId& id);
JobId readJobId(capnp::Data::Reader data);
void writeJobIds(const std::vector<JobId>& ids, capnp::List<capnp::Data>::Builder to);
std::vector<JobId> readJobIds(capnp::List<capnp::Data>::Reader from);
kj::ArrayPtr<const kj::byte> bytesOf(const Pressure& pressure);
Pressure readPressure(capnp::Data::Reader data);
inline int64_t toWire(WallTime time) {
  return time.time_since_epoch().count();
}
inline WallTime wallTime(int64_t micros) {
  return WallTime(Duration(micros));
}

wire::RunState toWire(RunState state);
RunState fromWire(wire::RunState state);

void write(const Caller& value, wire::Caller::Builder to);
Caller read(wire::Caller::Reader from);

// Kinds are not empty and counts are 1..kMaxExtra; at most kMaxExtraKinds of them.
void write(const Extras& value, capnp::List<wire::Extra>::Builder to);
Extras read(capnp::List<wire::Extra>::Reader from);
void write(const ExtraNumbers& value, capnp::List<wire::HeldExtra>::Builder to);
ExtraNumbers read(capnp::List<wire::HeldExtra>::Reader from);

// --- Jobs ---
void write(const Profile& value, wire::Profile::Builder to);
Profile read(wire::Profile::Reader from);
void write(const Container& value, wire::Container::Builder to);
Container read(wire::Container::Reader from);
void write(const PerformanceGoal& value, wire::PerformanceGoal::Builder to);
PerformanceGoal read(wire::PerformanceGoal::Reader from);
void write(const JobSpec& value, wire::JobSpec::Builder to);
JobSpec read(wire::JobSpec::Reader from);
void write(const std::vector<InputFile>& value, capnp::List<wire::InputFile>::Builder to);
std::vector<InputFile> read(capnp::List<wire::InputFile>::Reader from);
void write(const TaskEnd& value, wire::TaskEnd::Builder to);
TaskEnd read(wire::TaskEnd::Reader from);
void write(const JobRecord& value, wire::JobRecord::Builder to);
JobRecord read(wire::JobRecord::Reader from);
void write(const JobProgress& value, wire::JobProgress::Builder to);
JobProgress read(wire::JobProgress::Reader from);
void write(const TaskRecord& value, wire::TaskRecord::Builder to);
TaskRecord read(wire::TaskRecord::Reader from);
void write(const Explanation& value, wire::Explanation::Builder to);
// Throws where there are more candidates than `mostCandidates`, which bounds what is stored.
Explanation read(wire::Explanation::Reader from, size_t mostCandidates = Explanation::kMaxCandidates);
void write(const DecisionRecord& value, wire::DecisionRecord::Builder to);
DecisionRecord read(wire::DecisionRecord::Reader from);
void write(const JobAssignment& value, wire::JobAssignment::Builder to);
JobAssignment read(wire::JobAssignment::Reader from);

// --- Servers ---
void write(const ServerFacts& value, wire::ServerFacts::Builder to);
ServerFacts read(wire::ServerFacts::Reader from);
void write(const ServerStatus& value, wire::ServerStatus::Builder to);
ServerStatus read(wire::ServerStatus::Reader from);
void write(const ServerUpdate& value, wire::ServerUpdate::Builder to);
ServerUpdate read(wire::ServerUpdate::Reader from);
void write(const std::string& platform, const Share& share, wire::Platform::Builder to);
Share readShare(wire::Platform::Reader from);
void write(const QualitySettings& value, wire::QualitySettings::Builder to);
QualitySettings read(wire::QualitySettings::Reader from);
void write(const Usage& value, wire::Usage::Builder to);
Usage read(wire::Usage::Reader from);

// --- Commits and launches ---
void write(const Commit& value, wire::Commit::Builder to);
Commit read(wire::Commit::Reader from);
void write(const CommitAnswer& value, wire::CommitAnswer::Builder to);
CommitAnswer read(wire::CommitAnswer::Reader from);
void write(const ServerName& value, wire::ServerName::Builder to);
ServerName read(wire::ServerName::Reader from);
void write(const JobPlan& value, wire::Plan::Builder to);
JobPlan read(wire::Plan::Reader from);
void write(const GangHosts& value, wire::GangHosts::Builder to);
GangHosts read(wire::GangHosts::Reader from);
void write(const LaunchSpec& value, wire::LaunchSpec::Builder to);
LaunchSpec read(wire::LaunchSpec::Reader from);
void write(const TaskReport& value, wire::TaskReport::Builder to);
TaskReport read(wire::TaskReport::Reader from);
// Throws where it says neither a profile nor why there is none.
void write(const Measurement& value, wire::Measurement::Builder to);
Measurement read(wire::Measurement::Reader from);
void write(const KnownTask& value, wire::KnownTask::Builder to);
KnownTask read(wire::KnownTask::Reader from);

}  // namespace tarcil
