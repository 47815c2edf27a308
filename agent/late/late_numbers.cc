#include "agent/late/late_numbers.h"

#include <algorithm>

namespace tarcil {

JobNumber LateNumbers::take(late::JobNumber job) {
  if (next_ < end_ && waiting_.empty()) return next_++;
  if (waiting_.size() < kMostWaiting) waiting_.push_back(job);
  if (!isAsking_) ask();
  return 0;
}

kj::Promise<void> LateNumbers::settled() {
  return asked_.addBranch();
}

void LateNumbers::ask() {
  isAsking_ = true;
  const uint32_t count = size_;
  asked_ = lease_(count)
               .then(
                   [this, count](JobNumber first) {
                     next_ = first;
                     end_ = first + count;
                     size_ = std::min(8 * size_, kLargestLease);
                     const size_t given = std::min<size_t>(waiting_.size(), count);
                     for (size_t i = 0; i < given; ++i) give_(waiting_[i], next_++);
                     waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(given));
                     isAsking_ = false;
                   },
                   // Out of reach: the next job asks again.
                   [this](kj::Exception&&) { isAsking_ = false; })
               .fork();
}

}  // namespace tarcil
