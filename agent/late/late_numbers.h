// The numbers that late-bound jobs of this agent get, in the order of their submission: leased from the
// master, a few at first and more where they go fast.
#pragma once

#include <kj/async.h>

#include <functional>
#include <vector>

#include "core/base/ids.h"
#include "latebinding/late_job.h"

namespace tarcil {

// Single-threaded.
class LateNumbers {
 public:
  // Asks the master for so many; the first of them.
  using Lease = std::function<kj::Promise<JobNumber>(uint32_t count)>;
  // A job that had to wait for its number has this one.
  using Give = std::function<void(late::JobNumber job, JobNumber number)>;
  LateNumbers(Lease lease, Give give) : lease_(std::move(lease)), give_(std::move(give)) {}
  KJ_DISALLOW_COPY(LateNumbers);

  // 0 where there is none at hand: the job gets one as soon as the master gives more, or as the next job
  // comes.
  JobNumber take(late::JobNumber job);
  // Until the master has answered, where it is asked.
  kj::Promise<void> settled();

  static constexpr uint32_t kFirstLease = 8, kLargestLease = 100'000;
  // Jobs that wait for one; others do without.
  static constexpr size_t kMostWaiting = 10'000;

 private:
  void ask();

  const Lease lease_;
  const Give give_;
  JobNumber next_ = 0, end_ = 0;
  uint32_t size_ = kFirstLease;  // of the next lease
  bool isAsking_ = false;
  std::vector<late::JobNumber> waiting_;
  kj::ForkedPromise<void> asked_ = kj::Promise<void>(kj::READY_NOW).fork();
};

}  // namespace tarcil
