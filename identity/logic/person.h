// The people of a cluster, and what they may do together, as the master stores it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/job.h"
#include "core/state/caller.h"
#include "identity/logic/join_word.h"

namespace tarcil {

// A user whom an operator has made known. Others may be let in as well: by the master's file of tokens, or by
// an agent that vouches for everybody.
struct UserRecord {
  std::string name;
  std::string account{};  // empty: none
  Role role = Role::kSubmit;
  std::vector<std::string> runAs{};  // as Caller has it
  std::string changedBy{};           // the operator

  bool operator==(const UserRecord&) const = default;
};

// What the members of an account may have together, on top of what each may. Nothing: no bound.
struct AccountBounds {
  std::optional<uint32_t> runningUnits{};        // that tasks hold
  std::optional<uint32_t> waitingTasks{};        // that have not started
  std::optional<uint64_t> specificationBytes{};  // of unfinished jobs, in the master's memory
  uint8_t highestPriority = kMaxPriority;        // of a job
  // Whether jobs may leave their neighbours unheeded (quality.protect_neighbours: false), or have a server
  // to themselves for the price of their units (a tolerated pressure of 0).
  bool mayOptOut = true;

  bool operator==(const AccountBounds&) const = default;
};

struct AccountRecord {
  std::string name;
  uint32_t shares = 1;  // as of a user (core/state/usage.h), of all its members together
  AccountBounds bounds{};
  std::string changedBy{};  // the operator

  bool operator==(const AccountRecord&) const = default;
};

// Of a user who is in no account, where there is one of this name.
inline constexpr const char* kDefaultAccount = "default";

// A token that expires. Of the secret nothing is kept but its digest.
struct TokenRecord {
  uint64_t id = 0;  // random, never 0
  Sha256 digest{};  // of the token's text
  std::string user;
  Role role = Role::kSubmit;         // of a user who is not known, as runAs
  std::vector<std::string> runAs{};  // as Caller has it
  WallTime made{}, until{};
  std::string madeBy{};  // a user

  bool operator==(const TokenRecord&) const = default;
};

}  // namespace tarcil
