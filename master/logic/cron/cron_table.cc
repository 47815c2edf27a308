#include "master/logic/cron/cron_table.h"

namespace tarcil::master {

std::optional<WallTime> LiveCron::nextTime() const {
  if (zone == nullptr) return std::nullopt;
  return tarcil::nextTime(schedule, *zone, cron.takenUp);
}

CronTable::CronTable(std::vector<Cron> crons, const TimeZones& zones) : zones_(zones) {
  for (Cron& cron : crons) add(std::move(cron));
}

LiveCron* CronTable::find(const std::string& user, const std::string& name) {
  const auto found = crons_.find({user, name});
  return found == crons_.end() ? nullptr : &found->second;
}

LiveCron* CronTable::find(const JobId& id) {
  const auto found = byId_.find(id);
  return found == byId_.end() ? nullptr : found->second;
}

size_t CronTable::sizeOf(const std::string& user) const {
  size_t count = 0;
  for (auto it = crons_.lower_bound({user, ""}); it != crons_.end() && it->first.first == user; ++it) ++count;
  return count;
}

LiveCron& CronTable::add(Cron cron) {
  LiveCron& live = crons_[{cron.user, cron.spec.name}];
  live.cron = std::move(cron);
  byId_[live.cron.spec.id] = &live;
  const auto schedule = parseCronSchedule(live.cron.spec.schedule);
  const auto zone = zones_.named(live.cron.spec.zone);
  if (!schedule) {
    live.unusable = "schedule: " + schedule.error().message;
  } else if (!zone) {
    live.unusable = "zone: " + zone.error().message;
  } else {
    live.schedule = *schedule;
    live.zone = *zone;
  }
  return live;
}

void CronTable::erase(const LiveCron& cron) {
  const Cron& record = cron.cron;
  unschedule(record.spec.id);
  retries_.clear(record.spec.id);
  again_.erase(record.spec.id);
  byId_.erase(record.spec.id);
  crons_.erase(crons_.find({record.user, record.spec.name}));
}

void CronTable::unschedule(const JobId& id) {
  const auto found = dueOf_.find(id);
  if (found == dueOf_.end()) return;
  due_.erase({found->second, id});
  dueOf_.erase(found);
}

void CronTable::awaitNext(const LiveCron& cron) {
  const JobId& id = cron.cron.spec.id;
  unschedule(id);
  if (!cron.isRunning()) return;
  const auto next = cron.nextTime();
  if (!next) return;
  due_.emplace(*next, id);
  dueOf_.emplace(id, *next);
}

std::optional<WallTime> CronTable::nextDue() const {
  return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

LiveCron* CronTable::takeDue(Now now) {
  if (!due_.empty() && due_.begin()->first <= now.wall) {
    const JobId id = due_.begin()->second;
    unschedule(id);
    return find(id);
  }
  const std::optional<JobId> id = retries_.takeFirstDue(now.steady);
  return id ? find(*id) : nullptr;
}

LiveCron* CronTable::takeAgain() {
  if (again_.empty()) return nullptr;
  const JobId id = *again_.begin();
  again_.erase(again_.begin());
  return find(id);
}

}  // namespace tarcil::master
