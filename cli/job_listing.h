// The jobs that there are, newest first: those of the cluster's state and, among them, those that are bound
// late.
#pragma once

#include <capnp/message.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/late_agents.h"
#include "core/base/time.h"
#include "formats/point_in_time.h"
#include "schema/convert.h"

namespace tarcil {

// --state, --user, --name, --since: which jobs.
struct JobFilterFlags {
  std::vector<std::string> states{};
  std::string user{}, name{}, since{};

  bool empty() const { return states.empty() && user.empty() && name.empty() && since.empty(); }
};
void addJobFilterFlags(CLI::App& command, JobFilterFlags& flags);

// The same, read.
struct JobFilter {
  std::vector<RunState> states{};  // empty: any
  std::string user{}, name{};      // empty: any
  WallTime since = kNever;         // never: whenever
};
// Throws Failure with kExitBadInput for what cannot be read.
JobFilter jobFilterOf(const JobFilterFlags& flags, const LocalClock& clock);

// Fetched page by page as it is gone through. Single-threaded.
class JobListing final {
 public:
  using Summary = wire::JobSummary::Reader;
  struct Entry {
    Summary job;  // valid until the next call of next()
    bool isLate = false;
  };

  // `cluster` outlives it. About `limit` jobs are wanted: so many and one more make a page. With `after`, a
  // job's id: only those that were submitted before that one.
  JobListing(Cluster& cluster, const JobFilter& filter, size_t limit, const std::optional<JobId>& after);

  // Nothing when there are no more.
  std::optional<Entry> next();

 private:
  using Page = capnp::Response<wire::UserPort::JobsResults>;
  // Where a job stands in the order of submission.
  struct Position {
    WallTime submitted = kNever;
    JobId id{};
  };

  Position positionOf(const JobId& id);
  void fetchPage();

  Cluster& cluster_;
  capnp::MallocMessageBuilder message_;
  wire::JobFilter::Reader filter_;
  uint32_t pageSize_;
  std::optional<Position> after_;
  std::optional<Page> page_;
  capnp::List<wire::JobSummary>::Reader jobs_;  // of the page: each time it is asked for them it counts them
  uint32_t nextOfPage_ = 0;
  std::vector<LateAgents::Jobs> lateLists_;
  std::vector<Summary> late_;
  size_t nextLate_ = 0;
};

}  // namespace tarcil
