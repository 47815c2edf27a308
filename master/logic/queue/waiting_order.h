// The order of the waiting jobs: priority with ageing, fair share between users, age; and the mode of each.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace tarcil::master {

using UserNumber = uint32_t;

// Jobs of one class compete for the same slots: where one finds none, none of the others
// does (equivalence_class.h).
using EquivalenceClass = uint64_t;

// A waiting job, by what does not change while it waits.
struct QueueKey {
  UserNumber user = 0;
  uint8_t priority = 0;
  EquivalenceClass equivalenceClass = 0;
  WallTime submitted = kNever;
  JobId job;

  auto operator<=>(const QueueKey&) const = default;
};

enum class Mode : uint8_t {
  kToBeTried,
  kOffered,    // its agent is trying it
  kResting,    // was tried; new capacity has to appear first
  kUntriable,  // its agent is away
};
inline constexpr size_t kModes = 4;

// Jobs of one user and one priority form a line, the oldest first. Lines go
//   1. by rank: their priority, plus 1 for each interval `ageing` in which they got nothing;
//   2. by the units that the tasks of the user's account count for (counted_units.h), per share of that: the
//   account with the least
//      comes first (weighted max-min fairness, as in fair-share schedulers and dominant resource fairness of
//      one resource); a user in none is an account of one. Within an account by those of the user, likewise;
//   3. by how long they have got nothing.
// The order of jobs follows: the first of the first line comes first; the next is the first of what is left,
// as if what the job wants counted for that user, and so on.
//
// Time is cut into steps of `ageing` for the rank, which is (step since which the line has got nothing) -
// priority, the lowest first. So it does not change while time passes, and waiting costs no work. A line that
// gets nothing is at the head after at most (101 - its priority) steps and the grants of the lines that were
// ahead: no line starves.
//
// Within a line jobs are kept by class, so that a walk skips all of a class at once.
//
// Single-threaded. Changes take O(log jobs + log lines), those of a user O(log lines) for each line of the
// account's users.
class WaitingOrder {
 public:
  // `ageing` of zero: never.
  explicit WaitingOrder(Duration ageing) : ageing_(ageing) {}

  // --- Users
  // The same for the same name, always.
  UserNumber numberOf(const std::string& user);
  // At least 1; 1 where never set.
  void setShares(UserNumber user, uint32_t shares);
  // So many more units count for the user; fewer where negative.
  void addUnits(UserNumber user, int64_t units);
  int64_t unitsOf(UserNumber user) const { return users_[user].units; }
  // The user shares what the account gets; an empty name: is in none.
  void setAccount(UserNumber user, const std::string& account);
  // At least 1; 1 where never set.
  void setSharesOfAccount(const std::string& account, uint32_t shares);

  // --- Jobs
  // Adds the job, or changes its mode.
  void put(const QueueKey& key, Mode mode);
  void erase(const QueueKey& key);
  // A task of the job got its units, or gave them back (a task that ran until now was no waiting). Counts for
  // all jobs of the user with that priority, also later ones.
  void noteGrant(const QueueKey& key, WallTime now);
  // Every job of the one mode gets the other.
  void changeAll(Mode from, Mode to);

  std::optional<Mode> modeOf(const QueueKey& key) const;
  size_t size(Mode mode) const { return sizes_[static_cast<size_t>(mode)]; }
  size_t size() const;

  // Lower comes first. Requires: it waits.
  int64_t rank(const QueueKey& key) const;
  // Whether the one comes first as things are, without what jobs visited on the way would get. Requires:
  // both wait.
  bool isBefore(const QueueKey& one, const QueueKey& other) const;
  // Its priority after ageing, 0 to 100. Requires: it waits.
  uint8_t liftedPriority(const QueueKey& key, WallTime now) const { return lifted(rank(key), now); }
  // The lowest priority at which a new job would have this rank now.
  uint8_t lifted(int64_t rank, WallTime now) const;

  // Visits the jobs of these modes in order, except those of the classes in `without` up to a priority each,
  // until `visit` returns nullopt; it returns the units that the job wants. Nothing may be changed meanwhile.
  // O(visited * log lines + lines and classes skipped).
  using Visit = std::function<std::optional<uint64_t>(const QueueKey&)>;
  using SkippedClasses = std::unordered_map<EquivalenceClass, uint8_t>;
  void walk(std::initializer_list<Mode> modes, const SkippedClasses& without, const Visit& visit) const;
  // All of them.
  void walk(const Visit& visit) const;

  // Jobs of the mode in some fixed order: at most `atMost` of one class and line behind this key, or the
  // first ones where there are none.
  std::vector<QueueKey> behind(const QueueKey& key, Mode mode, size_t atMost) const;

 private:
  struct Age {
    WallTime submitted = kNever;
    JobId job;
    auto operator<=>(const Age&) const = default;
  };
  using Ages = std::set<Age>;
  using Modes = std::array<bool, kModes>;
  // Jobs of one line and one class.
  struct ClassMembers {
    std::array<Ages, kModes> jobs;
    Age oldest{};  // as in Line::byAge

    const Age* first() const;
    std::optional<Mode> modeOf(const Age& age) const;
  };
  using ClassMap = std::map<EquivalenceClass, ClassMembers>;
  struct Key {
    int64_t rank = 0;
    double unitsOfAccount = 0, units = 0;  // for each share
    WallTime since = kNever;
    uint8_t urgency = 0;  // 255 - priority
    UserNumber user = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Line {
    ClassMap classes;                               // none is empty
    std::map<Age, ClassMap::const_iterator> byAge;  // by the oldest job of each
    WallTime granted = kNever;                      // last
    Key key;                                        // in order_
  };
  using LineId = std::pair<UserNumber, uint8_t>;  // and priority
  using Lines = std::map<LineId, Line>;
  struct Account {
    uint32_t shares = 1;
    int64_t units = 0;
    std::set<UserNumber> users{};
  };
  struct User {
    uint32_t shares = 1;
    int64_t units = 0;
    Account* account = nullptr;  // null: none
  };
  class ClassCursor;
  class LineCursor;

  static LineId lineOf(const QueueKey& key) { return {key.user, key.priority}; }
  static Age ageOf(const QueueKey& key) { return {key.submitted, key.job}; }
  static QueueKey queueKeyOf(const Lines::value_type& line, EquivalenceClass equivalenceClass,
                             const Age& age);
  int64_t step(WallTime time) const;
  // kNever where it got nothing.
  WallTime grantedTo(const LineId& line) const;
  Key keyOf(const Lines::value_type& line) const;
  // Updates the order after a change of the class's jobs; removes an empty class or line.
  void refresh(Lines::iterator line, ClassMap::iterator equivalenceClass);
  void reorder(Lines::iterator line);
  void reorderLines(UserNumber user);
  void reorderLines(const Account& account);
  const ClassMembers* find(const QueueKey& key) const;
  void walk(const Modes& modes, const SkippedClasses& without, const Visit& visit) const;

  const Duration ageing_;
  std::unordered_map<std::string, UserNumber> numbers_;
  std::vector<User> users_;                  // by number
  std::map<std::string, Account> accounts_;  // that users are in, or were
  Lines lines_;                              // none is empty
  std::map<Key, Lines::const_iterator> order_;
  std::map<LineId, WallTime> granted_;  // last, also of lines without jobs
  std::array<size_t, kModes> sizes_{};
};

}  // namespace tarcil::master
