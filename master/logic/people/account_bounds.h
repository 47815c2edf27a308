// What the jobs of an account's members may have together (identity/logic/person.h), and what they get beside
// those of other accounts.
#pragma once

#include "master/logic/tables.h"

namespace tarcil::master {

// Why a job like this is never taken of its user: its priority, or an opt-out; empty where it may be.
std::string whyNotByAccount(const Tables& tables, const JobRecord& record);

// Why no such job is taken of its user for now: too many tasks wait, or jobs take too much memory; empty
// where one is. O(users with jobs) where the account bounds these.
std::string tooManyOfAccount(const Tables& tables, const JobRecord& record);

// What a task of the job keeps from others on the server (counted_units.h). 0 where it is balanced: others
// may take what it would keep, where that is worth it (core/decide/price.h).
uint32_t unitsKept(const Tables& tables, const JobSpec& spec, const Server& server);

// Of an account that bounds none.
inline constexpr uint64_t kUnbounded = UINT64_MAX;

// How many more units the tasks of accounts may count for, as of one event. Single-threaded.
class UnitsLeft final {
 public:
  explicit UnitsLeft(const Tables& tables) : tables_(tables) {}

  // For a job of the user. The first call for an account with a bound takes O(users with jobs).
  uint64_t of(const std::string& user);

 private:
  const Tables& tables_;
  std::map<std::string, uint64_t> left_;  // by account
};

// That a waiting job has to get at once.
uint64_t unitsToStart(const Job& job);

// Whether the account lets a waiting job start. O(users with jobs) where the account bounds its units.
bool mayStart(const Tables& tables, const Job& job);

// Why one may not that mayStart() does not let, or whose tasks would count for more units than are left.
std::string whyNoUnits(const Tables& tables, const Job& job);

// The queue orders the user's jobs with those of the account that they are in now.
void placeInAccount(Tables& tables, const std::string& user);
// The same for everybody who has jobs: an account has changed. Jobs that waited for units are tried again.
void placeAllInAccounts(Tables& tables);

}  // namespace tarcil::master
