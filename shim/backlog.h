// How far a task's output may be ahead of whoever copies it.
#pragma once

#include <cstdint>

namespace tarcil {

// One stream of a task whose output is taken as it is written (TaskSpec::streamed): it is full when as much
// as the limit is not taken yet, and then nothing more of it is moved, so that the task waits at its pipe. If
// nobody takes any of a full one for as long as the patience, nobody is waited for until somebody does again.
// Times are seconds of one clock.
class Backlog {
 public:
  // Of an output that nobody takes: never full.
  Backlog() = default;
  Backlog(uint64_t limit, int64_t patience) : limit_(limit), patience_(patience), waits_(true) {}

  // Whoever copies it has what is before `offset`, of `written` bytes; a repeat says that they are there.
  void take(uint64_t offset, uint64_t written, int64_t now) {
    if (offset > written) offset = written;
    if (offset > taken_) taken_ = offset;
    since_ = now;
    waits_ = patience_ > 0;
  }

  // `lacksRoom`: nothing more of it can be kept.
  bool isFull(uint64_t written, int64_t now, bool lacksRoom = false) {
    const bool isOver = written - taken_ >= limit_ || lacksRoom;
    if (!waits_ || !isOver) {
      isFull_ = false;
      return false;
    }
    if (!isFull_) since_ = now;
    isFull_ = now < since_ + patience_;
    waits_ = isFull_;
    wasGivenUp_ |= !isFull_;
    return isFull_;
  }

  // How long to wait for news of a full one.
  int64_t secondsLeft(int64_t now) const { return since_ + patience_ - now; }

  // What may be dropped of `older` bytes at the beginning that are beyond the limit.
  uint64_t droppable(uint64_t older) const { return waits_ && older > taken_ ? taken_ : older; }

  // Whether it is kept for whoever takes it, and what they have of it.
  bool isKept() const { return waits_; }
  uint64_t taken() const { return taken_; }

  // Some may be missing where it was to arrive.
  bool wasGivenUp() const { return wasGivenUp_; }

 private:
  uint64_t limit_ = 0;
  int64_t patience_ = 0;
  uint64_t taken_ = 0;
  int64_t since_ = 0;  // that it is full, or the last news
  bool waits_ = false;
  bool isFull_ = false;
  bool wasGivenUp_ = false;
};

}  // namespace tarcil
