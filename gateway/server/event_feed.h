// Follows what changes in the cluster (UserPort.changes), into the ring of events, the copy of the jobs, and
// what is remembered of how tasks perform.
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <functional>
#include <map>
#include <string>

#include "client/client.h"
#include "env/clock.h"
#include "gateway/logic/event_ring.h"
#include "gateway/logic/job_copy.h"
#include "gateway/logic/performance_log.h"
#include "schema/master.capnp.h"

namespace tarcil::gateway {

// On the event loop. Where the cluster does not answer, it goes on asking; what it then has missed is said as
// `reset`.
class EventFeed final {
 public:
  // `client`, logged in as an operator, and the others outlive it. `happened` is called when there is
  // something new in the ring.
  EventFeed(Client& client, kj::Timer& timer, const Clock& clock, EventRing& ring, JobCopy& jobs,
            PerformanceLog& performances, std::function<void()> happened);
  KJ_DISALLOW_COPY(EventFeed);

  // Until the promise is dropped.
  kj::Promise<void> run();

  // The copy has been whole for as long as the cluster answers.
  bool isWhole() const { return isWhole_; }

 private:
  using Changes = capnp::Response<wire::UserPort::ChangesResults>;
  using JobsPage = capnp::Response<wire::UserPort::JobsResults>;

  kj::Promise<void> follow();
  void take(const Changes& changes);
  void take(wire::JobSummary::Reader job, bool isNews);
  void take(wire::ServerDetails::Reader server);
  // The jobs that there are, newest first, behind the last of a page.
  kj::Promise<void> copyJobs(kj::Own<JobsPage> last);
  kj::Promise<void> copyJobs();

  Client& client_;
  kj::Timer& timer_;
  const Clock& clock_;
  EventRing& ring_;
  JobCopy& jobs_;
  PerformanceLog& performances_;
  const std::function<void()> happened_;
  uint64_t instance_ = 0, after_ = 0;
  bool isWhole_ = false;
  bool isFirst_ = true;
  int64_t waiting_ = -1;
  std::map<std::string, std::string>
      violations_;  // by server, what was told last; none where there were none
};

}  // namespace tarcil::gateway
