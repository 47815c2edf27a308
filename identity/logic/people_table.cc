#include "identity/logic/people_table.h"

#include <algorithm>

#include "core/base/names.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/state/usage.h"

namespace tarcil {
namespace {

constexpr size_t kNamedMembers = 3;

Error exhausted(std::string message) {
  return {ErrorCode::kExhausted, std::move(message)};
}

Error noSuchUser(const std::string& name) {
  return invalid("there is no user " + shown(name) + "; `tarcil user list` shows those that there are");
}

Error noSuchAccount(const std::string& name) {
  return invalid("account: there is no account " + shown(name) +
                 "; `tarcil account list` shows those that there are");
}

Error lastOperator(const std::string& name) {
  return invalid(name +
                 " is the last operator, without whom nobody could change anything; make somebody "
                 "else one first: tarcil user set NAME --role operate");
}

// Of what is there by now, and of what was seen when the change was made up.
template <typename Record>
Status checkSeen(const char* what, const std::map<std::string, Record>& all, const std::string& name,
                 const std::optional<Record>& seen) {
  const auto found = all.find(name);
  if (!seen && found == all.end()) return {};
  if (!seen) {
    return invalid("there is " + std::string(what) + " " + shown(name) + " already; change it with `tarcil " +
                   what + " set`");
  }
  if (found == all.end()) {
    return invalid("there is no " + std::string(what) + " " + shown(name) + "; `tarcil " + what +
                   " list` shows those that there are");
  }
  if (found->second == *seen) return {};
  return Error{ErrorCode::kConflict,
               std::string(what) + " " + name + " was changed by somebody else meanwhile; try again"};
}

}  // namespace

Status checkUser(const UserRecord& user) {
  if (Status named = checkName("name", user.name); !named) return named;
  if (user.role != Role::kRead && user.role != Role::kSubmit && user.role != Role::kOperate)
    return invalid("role: is none of a user; write read, submit or operate");
  if (!user.account.empty()) {
    if (Status named = checkName("account", user.account); !named) return named;
  }
  if (user.runAs.size() > kMaxRunAs) {
    return invalid("run-as: has " + std::to_string(user.runAs.size()) + " users; write at most " +
                   std::to_string(kMaxRunAs));
  }
  for (const std::string& each : user.runAs) {
    if (Status named = checkName("run-as", each); !named) return named;
  }
  return {};
}

Status checkAccount(const AccountRecord& account) {
  if (Status named = checkName("name", account.name); !named) return named;
  if (account.shares < 1 || account.shares > kMaxShares) {
    return invalid("shares: " + std::to_string(account.shares) + " is out of range; write 1 to " +
                   std::to_string(kMaxShares));
  }
  if (account.bounds.highestPriority <= kMaxPriority) return {};
  return invalid("max-priority: " + std::to_string(account.bounds.highestPriority) +
                 " is out of range; write 0 to " + std::to_string(kMaxPriority));
}

PeopleTable::PeopleTable(std::vector<UserRecord> users, std::vector<AccountRecord> accounts,
                         std::vector<TokenRecord> tokens) {
  for (UserRecord& user : users) users_.insert_or_assign(user.name, user);
  for (AccountRecord& account : accounts) accounts_.insert_or_assign(account.name, account);
  for (TokenRecord& token : tokens) {
    byExpiry_.emplace(token.until, token.id);
    tokens_.insert_or_assign(token.id, token);
  }
}

void PeopleTable::erase(std::map<uint64_t, TokenRecord>::iterator token) {
  byExpiry_.erase({token->second.until, token->first});
  tokens_.erase(token);
}

bool PeopleTable::hasOperatorBut(const std::string& user) const {
  return std::ranges::any_of(
      users_, [&user](const auto& each) { return each.first != user && each.second.role == Role::kOperate; });
}

std::vector<std::string> PeopleTable::membersOf(const std::string& account) const {
  std::vector<std::string> members;
  for (const auto& [name, user] : users_) {
    if (user.account == account) members.push_back(name);
  }
  return members;
}

Status PeopleTable::setUser(const std::optional<UserRecord>& seen, const UserRecord& next, bool hasOther) {
  if (Status good = checkUser(next); !good) return good;
  if (Status good = checkSeen("user", users_, next.name, seen); !good) return good;
  if (!next.account.empty() && !accounts_.contains(next.account)) return noSuchAccount(next.account);
  const bool wasOperator = seen && seen->role == Role::kOperate;
  if (wasOperator && next.role != Role::kOperate && !hasOther && !hasOperatorBut(next.name))
    return lastOperator(next.name);
  if (!seen && users_.size() >= kMaxKnownUsers)
    return exhausted("the cluster knows " + std::to_string(kMaxKnownUsers) + " users, as many as it takes");
  users_.insert_or_assign(next.name, next);
  return {};
}

Result<std::vector<uint64_t>> PeopleTable::removeUser(const std::string& name, bool hasOther) {
  const auto found = users_.find(name);
  if (found == users_.end()) return noSuchUser(name);
  const bool isOperator = found->second.role == Role::kOperate;
  if (isOperator && !hasOther && !hasOperatorBut(name)) return lastOperator(name);
  users_.erase(found);
  return revokeTokensOf(name);
}

Status PeopleTable::setAccount(const std::optional<AccountRecord>& seen, const AccountRecord& next) {
  if (Status good = checkAccount(next); !good) return good;
  if (Status good = checkSeen("account", accounts_, next.name, seen); !good) return good;
  if (!seen && accounts_.size() >= kMaxAccounts)
    return exhausted("the cluster has " + std::to_string(kMaxAccounts) + " accounts, as many as it takes");
  accounts_.insert_or_assign(next.name, next);
  return {};
}

Status PeopleTable::removeAccount(const std::string& name) {
  if (!accounts_.contains(name)) return noSuchAccount(name);
  if (std::vector<std::string> members = membersOf(name); !members.empty()) {
    const size_t count = members.size();
    members.resize(std::min(count, kNamedMembers));
    return invalid("account " + name + " has " + std::to_string(count) + " member" + (count == 1 ? "" : "s") +
                   (count > kNamedMembers ? ", among them " : ": ") + joined(members) +
                   "; move them first: tarcil user set NAME --account OTHER");
  }
  accounts_.erase(name);
  return {};
}

Status PeopleTable::addToken(const TokenRecord& token, WallTime now) {
  if (token.until <= now) return invalid("ttl: is over already; write a longer one");
  const auto ofUser =
      std::ranges::count_if(tokens_, [&token](const auto& each) { return each.second.user == token.user; });
  if (static_cast<size_t>(ofUser) >= kMaxTokensOfUser) {
    return exhausted(token.user + " has " + std::to_string(kMaxTokensOfUser) +
                     " tokens that have not expired, as many as one may have; `tarcil token list` shows "
                     "them, and `tarcil token revoke` takes one back");
  }
  if (tokens_.size() >= kMaxTokens)
    return exhausted("there are " + std::to_string(kMaxTokens) + " tokens, as many as the cluster takes");
  if (!tokens_.try_emplace(token.id, token).second)
    return Error{ErrorCode::kConflict, "a token has this id by chance; try again"};
  byExpiry_.emplace(token.until, token.id);
  return {};
}

Status PeopleTable::revokeToken(uint64_t id, const std::string& of) {
  const auto found = tokens_.find(id);
  if (found == tokens_.end() || (!of.empty() && found->second.user != of))
    return notFound("there is no such token; `tarcil token list` shows those that there are");
  erase(found);
  return {};
}

std::vector<uint64_t> PeopleTable::revokeTokensOf(const std::string& user) {
  std::vector<uint64_t> revoked;
  for (const auto& [id, token] : tokens_) {
    if (token.user == user) revoked.push_back(id);
  }
  for (const uint64_t id : revoked) erase(tokens_.find(id));
  return revoked;
}

std::vector<uint64_t> PeopleTable::forgetExpired(WallTime now) {
  std::vector<uint64_t> expired;
  for (const auto& [until, id] : byExpiry_) {
    if (until > now) break;
    expired.push_back(id);
  }
  for (const uint64_t id : expired) erase(tokens_.find(id));
  return expired;
}

Result<Caller> PeopleTable::holderOf(uint64_t id, const Sha256& digest, WallTime now) const {
  const auto found = tokens_.find(id);
  if (found == tokens_.end() || !isSameSecret(found->second.digest, digest)) {
    return denied(
        "the token is not one of this cluster's, or was revoked, or expired long ago; get one with "
        "`tarcil login`, or from an operator");
  }
  const TokenRecord& token = found->second;
  if (token.until <= now) {
    return denied("the token expired at " + formatTime(token.until) +
                  "; get another with `tarcil login`, or from an operator");
  }
  const UserRecord* known = user(token.user);
  return known != nullptr ? callerOf(*known) : Caller{token.user, token.role, token.runAs};
}

const UserRecord* PeopleTable::user(const std::string& name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : &found->second;
}

const AccountRecord* PeopleTable::accountOf(const std::string& user) const {
  const auto known = users_.find(user);
  const bool isMember = known != users_.end() && !known->second.account.empty();
  const auto found = accounts_.find(isMember ? known->second.account : kDefaultAccount);
  return found == accounts_.end() ? nullptr : &found->second;
}

bool PeopleTable::boundsUnits() const {
  return std::ranges::any_of(accounts_,
                             [](const auto& each) { return each.second.bounds.runningUnits.has_value(); });
}

std::vector<std::string> PeopleTable::expiring(WallTime from, WallTime to) const {
  std::vector<std::string> users;
  for (auto it = byExpiry_.upper_bound({from, UINT64_MAX}); it != byExpiry_.end() && it->first <= to; ++it)
    users.push_back(tokens_.at(it->second).user);
  return users;
}

}  // namespace tarcil
