// Watches a cluster and writes what happens there into a file: servers, settings, jobs and their tasks.
#pragma once

#include <kj/async.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster.h"
#include "cli/output/job_status.h"
#include "cli/settings.h"
#include "cli/tarcild/late_recorder.h"
#include "formats/growing_file.h"

namespace tarcil {

// What has been recorded so far.
struct RecorderCounts {
  size_t servers = 0;
  size_t jobs = 0, unfinished = 0;
};

// Single-threaded. Jobs are found by looking once a second, so none is missed that the master keeps for so
// long after its end; how they end is told by the master at once, of a thousand of them, and of others seen
// each minute. Nothing is missed while the cluster is out
// of reach either: the next look that succeeds finds it. Late-bound jobs are the agents' (late_recorder.h).
class Recorder final : private kj::TaskSet::ErrorHandler {
 public:
  // Both outlive it.
  Recorder(Cluster& cluster, GrowingFile& file);
  ~Recorder() noexcept(false);
  KJ_DISALLOW_COPY(Recorder);

  // Writes what is there now: to be called first. Failure or kj::Exception where the cluster cannot be asked.
  void begin();
  // Writes what is new since the last look, and flushes. Throws as begin(), and where the file cannot
  // be written.
  void look();
  // Writes how far unfinished jobs have got, where the cluster can be asked, and the end of the file.
  void end(const std::string& why);

  const RecorderCounts& counts() const { return counts_; }

 private:
  void taskFailed(kj::Exception&& exception) override;

  void write(Json&& line);
  void flush();
  void lookAtServers();
  void lookAtSettings();
  void lookForJobs(bool unfinishedOnly);
  void askForJobs(const std::vector<JobId>& ids);
  template <typename Job>
  void writeProgress(const Job& job, RunState state);
  kj::Promise<void> fetchAndWrite(const JobId& id);
  kj::Promise<void> follow(const JobId& id);
  void forget(const JobId& id);
  void count();

  Cluster& cluster_;
  GrowingFile& file_;
  kj::Maybe<kj::Exception> failure_;

  uint64_t looks_ = 0;
  WallTime began_ = kNever, lastLook_ = kNever;
  std::string settings_;                                    // as written last
  std::map<std::string, std::string> platforms_, servers_;  // by name, as written last
  std::set<JobId> known_, unfinished_;
  size_t followed_ = 0;               // of these, whose end is waited for
  std::optional<LateRecorder> late_;  // from begin() on
  size_t jobs_ = 0;                   // the master's
  RecorderCounts counts_;
  kj::TaskSet following_;
};

}  // namespace tarcil
