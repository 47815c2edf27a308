// Every cron that the master keeps, its schedule as it is read, and when it is to be looked at.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/cron_schedule.h"
#include "core/state/cron.h"
#include "master/logic/deadlines.h"

namespace tarcil::master {

struct LiveCron {
  Cron cron;
  CronSchedule schedule;
  std::shared_ptr<const ZoneRules> zone;  // null: it cannot be run
  std::string unusable;                   // why, for people

  // The next planned time that has not been taken up; nothing where there is none, or it cannot be run.
  std::optional<WallTime> nextTime() const;
  // Whether its next time is to be taken up when it comes.
  bool isRunning() const { return !cron.isHeld && zone != nullptr; }
};

// References to a cron hold until it is erased.
class CronTable {
 public:
  // `zones` outlives it. One whose zone is not known any more cannot be run.
  CronTable(std::vector<Cron> crons, const TimeZones& zones);
  CronTable(const CronTable&) = delete;
  CronTable& operator=(const CronTable&) = delete;

  // Null where there is none.
  LiveCron* find(const std::string& user, const std::string& name);
  LiveCron* find(const JobId& id);
  // By user and name.
  const std::map<std::pair<std::string, std::string>, LiveCron>& all() const { return crons_; }
  size_t size() const { return crons_.size(); }
  // O(crons of the user).
  size_t sizeOf(const std::string& user) const;
  const TimeZones& zones() const { return zones_; }

  // Requires: its name and its id are new.
  LiveCron& add(Cron cron);
  void erase(const LiveCron& cron);

  // It is to be looked at when its next time has come; not at all while it does not run.
  void awaitNext(const LiveCron& cron);
  // It is to be looked at then, too.
  void retryAt(const LiveCron& cron, MonotonicTime when) { retries_.set(cron.cron.spec.id, when); }
  // With the event that is being handled.
  void lookAgain(const LiveCron& cron) { again_.insert(cron.cron.spec.id); }

  std::optional<WallTime> nextDue() const;
  std::optional<MonotonicTime> nextRetry() const { return retries_.next(); }
  bool hasToGoOn() const { return !again_.empty(); }
  // Removes and returns the first one that is to be looked at by now, or again; null where there is none.
  LiveCron* takeDue(Now now);
  LiveCron* takeAgain();

 private:
  void unschedule(const JobId& id);

  const TimeZones& zones_;
  std::map<std::pair<std::string, std::string>, LiveCron> crons_;
  std::unordered_map<JobId, LiveCron*> byId_;
  std::set<std::pair<WallTime, JobId>> due_;
  std::unordered_map<JobId, WallTime> dueOf_;
  DeadlinesOf<JobId> retries_;
  std::set<JobId> again_;
};

}  // namespace tarcil::master
