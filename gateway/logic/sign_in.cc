#include "gateway/logic/sign_in.h"

#include <charconv>

namespace tarcil::gateway {

std::string Ticket::text() const {
  return std::string(1, static_cast<char>(kind)) + ' ' + id + ' ' +
         std::to_string(expires.time_since_epoch().count()) + ' ' + token;
}

std::optional<Ticket> Ticket::parse(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'w' && text[0] != 's') || text[1] != ' ') return std::nullopt;
  Ticket ticket{.kind = static_cast<Kind>(text[0])};
  text.remove_prefix(2);
  const size_t idEnd = text.find(' ');
  if (idEnd == 0 || idEnd == std::string_view::npos) return std::nullopt;
  ticket.id = text.substr(0, idEnd);
  text.remove_prefix(idEnd + 1);
  const size_t timeEnd = text.find(' ');
  if (timeEnd == std::string_view::npos) return std::nullopt;
  int64_t microseconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + timeEnd, microseconds);
  if (read.ec != std::errc() || read.ptr != text.data() + timeEnd) return std::nullopt;
  ticket.expires = WallTime(Duration(microseconds));
  ticket.token = text.substr(timeEnd + 1);
  if (ticket.token.empty()) return std::nullopt;
  return ticket;
}

bool SpentTickets::spend(const Ticket& ticket, WallTime now) {
  dropExpired(now);
  if (ids_.size() >= most_) return false;
  if (!ids_.insert(ticket.id).second) return false;
  byTime_.emplace(ticket.expires, ticket.id);
  return true;
}

void SpentTickets::dropExpired(WallTime now) {
  while (!byTime_.empty() && byTime_.begin()->first <= now) {
    ids_.erase(byTime_.begin()->second);
    byTime_.erase(byTime_.begin());
  }
}

}  // namespace tarcil::gateway
