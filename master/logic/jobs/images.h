// Which image the tasks of a job run: the one that its first task to start has found under the job's
// reference.
#pragma once

#include <string>

#include "master/logic/tables.h"

namespace tarcil::master {

// A task of the job has started in the image of this digest (TaskReport::image; empty: in none). The first of
// a job decides for all; agents tell servers with each launch from then on. One that had begun to start
// before that was known and found another image is ended and placed again, which costs it no attempt.
// Requires: `hold` is of an allocation in use.
void keepToImage(EventContext& context, const Hold& hold, const std::string& digest);

}  // namespace tarcil::master
