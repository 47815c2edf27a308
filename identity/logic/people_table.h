// The people of a cluster: users and accounts that operators made known, and tokens that expire. Decides, and
// does no I/O.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "identity/logic/person.h"

namespace tarcil {

inline constexpr size_t kMaxKnownUsers = 100'000;
inline constexpr size_t kMaxAccounts = 10'000;
inline constexpr size_t kMaxRunAs = 64;
inline constexpr size_t kMaxTokensOfUser = 32;
inline constexpr size_t kMaxTokens = 100'000;

// Whoever calls it stores what it gives, before the answer is told. Where something fails nothing has
// changed. Messages are for people.
class PeopleTable final {
 public:
  PeopleTable() = default;
  PeopleTable(std::vector<UserRecord> users, std::vector<AccountRecord> accounts,
              std::vector<TokenRecord> tokens);

  // --- Users and accounts. `seen`: as whoever changes it saw it; nothing where it is to be added. Conflict
  // where it is another by now; Invalid where a field is wrong, an account is not there, or nobody would be
  // an operator any more (`hasOther`: somebody is one who is not known here); Exhausted where there are too
  // many.
  Status setUser(const std::optional<UserRecord>& seen, const UserRecord& next, bool hasOther);
  // With their tokens, whose ids it gives.
  Result<std::vector<uint64_t>> removeUser(const std::string& name, bool hasOther);
  Status setAccount(const std::optional<AccountRecord>& seen, const AccountRecord& next);
  // Invalid while it has members.
  Status removeAccount(const std::string& name);

  // --- Tokens
  // Exhausted where the user, or all, have too many.
  Status addToken(const TokenRecord& token, WallTime now);
  // NotFound where there is none, or the token is another user's than `of`, unless that is empty.
  Status revokeToken(uint64_t id, const std::string& of);
  // Those that went.
  std::vector<uint64_t> revokeTokensOf(const std::string& user);
  std::vector<uint64_t> forgetExpired(WallTime now);
  // As whom a token lets its holder in. Denied where none has this id and digest, or its time is over; takes
  // the same time wherever the digests differ.
  Result<Caller> holderOf(uint64_t id, const Sha256& digest, WallTime now) const;

  // --- What there is
  // Null where nobody knows the user.
  const UserRecord* user(const std::string& name) const;
  // Null where nothing bounds the user's jobs together with others'.
  const AccountRecord* accountOf(const std::string& user) const;
  // Whether an account bounds the units that its members' tasks hold. O(accounts).
  bool boundsUnits() const;
  // Whose tokens expire after `from`, at `to` at the latest; a user may be there more than once.
  // O(log tokens) and those.
  std::vector<std::string> expiring(WallTime from, WallTime to) const;
  const std::map<std::string, UserRecord>& users() const { return users_; }
  const std::map<std::string, AccountRecord>& accounts() const { return accounts_; }
  const std::map<uint64_t, TokenRecord>& tokens() const { return tokens_; }

 private:
  bool hasOperatorBut(const std::string& user) const;
  std::vector<std::string> membersOf(const std::string& account) const;
  void erase(std::map<uint64_t, TokenRecord>::iterator token);

  std::map<std::string, UserRecord> users_;
  std::map<std::string, AccountRecord> accounts_;
  std::map<uint64_t, TokenRecord> tokens_;
  std::set<std::pair<WallTime, uint64_t>> byExpiry_;  // of all tokens
};

// Invalid, naming the field, where no user or account can be as this says.
Status checkUser(const UserRecord& user);
Status checkAccount(const AccountRecord& account);

// As whom a known user is let in.
inline Caller callerOf(const UserRecord& user) {
  return {user.name, user.role, user.runAs};
}

}  // namespace tarcil
