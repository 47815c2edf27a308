// What words and sessions say, and which of them count no more. Pure; that nobody else has made them is for a
// seal to show (gateway/server/seal.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "core/base/time.h"

namespace tarcil::gateway {

// A word signs a browser in once; a session is what it has from then on, in a cookie. Both carry the user's
// token, so that any gateway with the same key takes them, and nothing is kept of them until they are used or
// ended.
struct Ticket {
  enum class Kind : char { kWord = 'w', kSession = 's' };

  Kind kind = Kind::kWord;
  std::string id{};  // random
  WallTime expires = kNever;
  std::string token{};  // of the user

  std::string text() const;
  static std::optional<Ticket> parse(std::string_view text);

  bool operator==(const Ticket&) const = default;
};

// Ids that count no more, until they would have expired anyway. Single-threaded.
class SpentTickets final {
 public:
  explicit SpentTickets(size_t most) : most_(most) {}

  // False where it was spent before, or there is no room to remember it.
  bool spend(const Ticket& ticket, WallTime now);
  bool isSpent(const Ticket& ticket) const { return ids_.contains(ticket.id); }

  size_t size() const { return ids_.size(); }

 private:
  void dropExpired(WallTime now);

  const size_t most_;
  std::unordered_set<std::string> ids_;
  std::multimap<WallTime, std::string> byTime_;
};

}  // namespace tarcil::gateway
