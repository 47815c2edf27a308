// Answers that are given again while they are young. Pure.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/base/time.h"

namespace tarcil::gateway {

// Of so many bytes in all, keys included; those that were asked for longest ago go first. Single-threaded.
class AnswerCache final {
 public:
  AnswerCache(Duration fresh, size_t bytes) : fresh_(fresh), bytes_(bytes) {}

  struct Kept {
    std::shared_ptr<const std::string> body;
    MonotonicTime made;
  };
  // Null where there is none that is young enough. Holds until the next put() or forget().
  const Kept* find(const std::string& user, const std::string& question, MonotonicTime now);
  // One that is larger than all may be together is not kept.
  void put(const std::string& user, const std::string& question, Kept answer);
  // All of the user's: something was done that may show in them.
  void forget(const std::string& user);

  size_t bytes() const { return used_; }

 private:
  struct Entry {
    std::string user, key;
    Kept answer;
  };
  using Entries = std::list<Entry>;

  static std::string keyOf(const std::string& user, const std::string& question) {
    return user + '\n' + question;
  }
  static size_t bytesOf(const Entry& entry) {
    return entry.user.size() + 2 * entry.key.size() + entry.answer.body->size();
  }
  void erase(Entries::iterator entry);

  const Duration fresh_;
  const size_t bytes_;
  size_t used_ = 0;
  Entries entries_;  // the last asked for first
  std::unordered_map<std::string, Entries::iterator> byKey_;
};

}  // namespace tarcil::gateway
