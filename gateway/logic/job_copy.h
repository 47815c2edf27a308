// What a gateway knows of jobs by itself: how each was listed last. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/ids.h"
#include "core/state/caller.h"

namespace tarcil::gateway {

// Of so many jobs; the first that came go first. Single-threaded.
class JobCopy final {
 public:
  explicit JobCopy(size_t most) : most_(most) {}

  struct Entry {
    std::string owner;
    std::string json;
  };
  void put(const JobId& id, JobNumber number, Entry entry);
  void clear();

  // Null where it is not known, or the caller may not see it. Holds until the next put() or clear().
  const std::string* find(const JobId& id, const Caller& caller) const;

  // Of a job that it has, whoever asks.
  std::optional<JobId> idOf(JobNumber number) const;

  size_t size() const { return entries_.size(); }
  bool isFull() const { return entries_.size() >= most_; }

 private:
  const size_t most_;
  std::unordered_map<JobId, Entry> entries_;
  std::unordered_map<JobNumber, JobId> byNumber_;
  std::deque<std::pair<JobId, JobNumber>> inOrder_;  // as they came
};

}  // namespace tarcil::gateway
