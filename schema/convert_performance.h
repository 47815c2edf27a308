// Wire <-> core for tasks that fall short; as convert.h.
#pragma once

#include "core/model/performance.h"
#include "schema/master.capnp.h"
#include "schema/performance.capnp.h"

namespace tarcil {

void write(const Trouble& value, wire::Trouble::Builder to);
Trouble read(wire::Trouble::Reader from);

void write(const TaskTrouble& value, wire::TaskTrouble::Builder to);
TaskTrouble read(wire::TaskTrouble::Reader from);
void write(const std::vector<TaskTrouble>& value, capnp::List<wire::TaskTrouble>::Builder to);
std::vector<TaskTrouble> read(capnp::List<wire::TaskTrouble>::Reader from);

void write(const std::vector<AdjustingStep>& value, capnp::List<wire::Step>::Builder to);
std::vector<AdjustingStep> read(capnp::List<wire::Step>::Reader from);

}  // namespace tarcil
