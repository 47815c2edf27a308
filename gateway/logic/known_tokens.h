// Tokens that the cluster was asked about lately, and whose they are.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/base/time.h"
#include "core/state/caller.h"

namespace tarcil::gateway {

// Of so many the one that was asked about longest ago is forgotten. Pure; each call is O(1).
class KnownTokens final {
 public:
  struct Answer {
    std::optional<Caller> caller;  // none: it is wrong
    MonotonicTime until;           // it holds
  };

  explicit KnownTokens(size_t most) : most_(most) {}

  void remember(const std::string& token, Answer answer);
  // Null where it was not asked about, or that no longer holds. Valid until the next remember().
  const Answer* at(const std::string& token, MonotonicTime now) const;

 private:
  struct Known {
    std::string token;
    Answer answer;
  };

  const size_t most_;
  std::list<Known> inOrder_;  // as they were asked about
  std::unordered_map<std::string, std::list<Known>::iterator> byToken_;
};

}  // namespace tarcil::gateway
