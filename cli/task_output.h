// Copies what a task writes, from its agent to wherever it is wanted.
#pragma once

#include <functional>
#include <string_view>

#include "client/client.h"
#include "core/base/ids.h"

namespace tarcil {

// When a sink takes more without making its caller wait.
class Pace {
 public:
  virtual ~Pace() noexcept(false) = default;
  virtual size_t room() = 0;  // bytes that it takes at once; 0: none now
  virtual kj::Promise<void> untilRoom() = 0;
  virtual kj::Timer& timer() = 0;
};

struct OutputSource {
  JobId job;
  TaskIndex task = 0;
  wire::Stream stream = wire::Stream::STDOUT;
  // Of a task that waits for what is copied (TaskSpec::streamed): when the sink takes it. It is told from
  // time to time that somebody is there, however long that takes. Else null.
  Pace* pace = nullptr;
  // Of this attempt alone, also where another one followed; 0: of the present one.
  AllocationId only = 0;
};

enum class Follow {
  kWhatIsThere,  // until nothing more is there now
  kToTheEnd,     // until the task has ended and all of its output is copied
};

using Sink = std::function<void(std::string_view)>;

// Where the task starts again, its output begins anew, and what was copied of the attempt before stays. The
// end of an attempt is not that of the task.
// The bytes that were dropped, which it says where they are missing. Fails as NotFound where the output is
// gone. Requires: `client` outlives the promise.
kj::Promise<uint64_t> copyOutput(Client& client, const OutputSource& source, Follow follow, Sink sink);

// The same of a late-bound job, from the one agent that `client` goes to: all that there is comes when the
// task is over. Fails as NotFound too where the agent does not know the job.
kj::Promise<void> copyLateOutput(Client& client, const OutputSource& source, Follow follow, Sink sink);

}  // namespace tarcil
