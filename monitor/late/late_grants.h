// Whose late-bound tasks an agent may have run here, by the grants that it shows (rpc/late_grant.h). Nothing
// here does I/O.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "rpc/late_grant.h"

namespace tarcil {

// By which masters sign: the one that leads, and those before it, whose grants hold until they end.
class GrantKeys final {
 public:
  // Of the master that has just been attached to; none: it is of an earlier version, and nothing is checked.
  void set(const std::optional<PublicKey>& key);
  bool areNone() const { return keys_.empty(); }
  bool haveSigned(const LateGrant& grant) const;

  static constexpr size_t kMaxKeys = 8;

 private:
  std::deque<PublicKey> keys_;  // the newest first
};

// What one agent has shown in its session.
class ShownGrants final {
 public:
  // `agent`: that the session's certificate names; empty where there is none, and any agent's grants count.
  explicit ShownGrants(std::string agent) : agent_(std::move(agent)) {}

  // Holds beside what was shown of the user before. Looked at only when a task is to run by it. Dropped where
  // it is another agent's, and where too many users' are held that have not ended.
  void add(LateGrant grant, WallTime now);

  enum class Verdict {
    kGranted,
    kNotYet,  // it may be by a master that this monitor has not attached to yet
    kDenied,
  };
  Verdict judge(const std::string& user, const std::string& runAs, WallTime now, const GrantKeys& keys);

  static constexpr size_t kMaxUsers = 10'000;

 private:
  struct Held {
    WallTime until = kNever;         // of what was found to be signed
    std::optional<LateGrant> shown;  // the latest, until it is found to be signed

    bool hasEnded(WallTime now) const { return until <= now && (!shown || shown->until <= now); }
  };

  const std::string agent_;
  std::map<std::pair<std::string, std::string>, Held> held_;  // by user and system user
};

}  // namespace tarcil
