// Wire <-> core for tasks that fall short; as convert.h.
#pragma once

#include "core/model/performance.h"
#include "schema/master.capnp.h"
#include "schema/performance.capnp.h"

namespace tarcil {

void write(const Violation& value, wire::Violation::Builder to);
Violation read(wire::Violation::Reader from);

void write(const Reached& value, wire::Reached::Builder to);
Reached read(wire::Reached::Reader from);

void write(const PerformanceSample& value, wire::Sample::Builder to);
PerformanceSample read(wire::Sample::Reader from);

void write(const TaskViolation& value, wire::TaskViolation::Builder to);
TaskViolation read(wire::TaskViolation::Reader from);
void write(const std::vector<TaskViolation>& value, capnp::List<wire::TaskViolation>::Builder to);
std::vector<TaskViolation> read(capnp::List<wire::TaskViolation>::Reader from);

void write(const std::vector<AdjustingStep>& value, capnp::List<wire::Step>::Builder to);
std::vector<AdjustingStep> read(capnp::List<wire::Step>::Reader from);

}  // namespace tarcil
