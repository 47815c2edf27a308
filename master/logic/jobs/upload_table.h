// Input files that have come ahead of the commits that are to name them, and what they count for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/time.h"
#include "core/model/file_pieces.h"
#include "master/logic/deadlines.h"
#include "master/logic/events.h"

namespace tarcil::master {

// It is forgotten when nothing has come of it for so long: neither a piece nor the commit.
inline constexpr Duration kUploadTimeout = std::chrono::minutes(1);

struct Upload {
  SessionId session;  // of the agent that sends it
  std::string user;
  PieceCounter counter;
};

// What an upload counts for: none for less than a piece, which bounds their number.
inline uint64_t countedBytes(uint64_t announced) {
  return std::max(announced, kMaxPieceBytes);
}

// By the job that is to have the files. What was announced counts from the beginning on, so that no two
// uploads are let in for room that only one of them can have.
class UploadTable {
 public:
  // Those that an earlier master left; nobody goes on with them.
  explicit UploadTable(const std::vector<UploadRecord>& left);

  // nullptr where there is none. Valid until it is erased.
  Upload* find(const JobId& job);
  // Requires: there is none for this job.
  Upload& begin(const JobId& job, SessionId session, const std::string& user, uint64_t announced);
  // Requires: there is one.
  void erase(const JobId& job);

  // Something has come of it.
  void touch(const JobId& job, MonotonicTime now) { due_.set(job, now + kUploadTimeout); }
  std::vector<JobId> takeDue(MonotonicTime now) { return due_.takeDue(now); }
  std::optional<MonotonicTime> nextDue() const { return due_.next(); }

  // O(uploads).
  std::vector<JobId> ofSession(SessionId session) const;

  // What they count for.
  uint64_t bytes() const { return bytes_; }
  uint64_t bytesOf(const std::string& user) const;

 private:
  std::unordered_map<JobId, Upload> uploads_;
  std::map<std::string, uint64_t> bytesOf_;  // of users who have some
  uint64_t bytes_ = 0;
  DeadlinesOf<JobId> due_;
};

}  // namespace tarcil::master
