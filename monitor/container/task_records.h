// The small files of a task's directory (task_store.h): their contents, written and read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/launch.h"

namespace tarcil {

// `launch`: what was to be started, kept for the monitor's successor. A flat Cap'n Proto message of the
// wire's LaunchSpec, which only ever grows: any build reads any other's.
std::string encodeLaunch(const LaunchSpec& spec);
// nullopt for anything but a whole record of this allocation.
std::optional<LaunchSpec> decodeLaunch(std::string_view bytes, AllocationId allocation);

// `units`: the resource units that the task has, where those are not the ones it was launched with. Numbers
// with a blank after each, and a newline.
std::string unitsRecord(const std::vector<RuIndex>& rus);
// nullopt for anything but a whole record of some units.
std::optional<std::vector<RuIndex>> parseUnitsRecord(std::string_view text);

// `reason`: "cancelled" or "timed-out", and a newline. Requires: kCancelled or kTimedOut.
std::string reasonRecord(EndCause reason);
// nullopt for anything but a whole record.
std::optional<EndCause> parseReasonRecord(std::string_view text);

// `started`: microseconds since 1970. kNever for anything else.
WallTime parseStarted(std::string_view text);

// `exit`, which tarcil-shim leaves (format: shim/exit_record.h). nullopt for anything but a whole record.
std::optional<TaskEnd> parseExitRecord(std::string_view text);
// The record of a task whose end nobody saw.
std::string lostRecord(WallTime started, const std::string& problem);

// Adds to what is said of the end for people.
void addProblem(TaskEnd& end, std::string_view text);

}  // namespace tarcil
