// Launches on their way to a start: recorded, then waiting for their input files.
#pragma once

#include "monitor/logic/tables.h"

namespace tarcil::monitor {

// Records a new launch and answers it; a repeated one is only answered, one of an allocation that is over is
// answered as revoked.
void takeLaunch(EventContext& context, const LaunchArrived& event);

// A recorded launch becomes a task, which is ready once its files are there.
void admit(EventContext& context, const LaunchSpec& spec);

// Asks the master for what the task lacks: input files, secrets. Requires: attached; the task is in
// kFetching.
void fetch(EventContext& context, const Task& task);

// The task is ready where it lacks nothing more, or over if this cannot be had; while the master is merely
// out of reach it is requested again, later or after the next attachment.
void takeFiles(EventContext& context, const FilesArrived& event);
void takeSecrets(EventContext& context, const SecretsArrived& event);

}  // namespace tarcil::monitor
