// A cron: a job that the master makes again and again at the times of a schedule, and what became of these.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time_zones.h"
#include "core/state/job_state.h"

namespace tarcil {

// What becomes of a planned time while the last job has not ended.
enum class IfRunning : uint8_t {
  kSkip,     // nothing
  kWait,     // its job is made when the last one ends; one time waits, and later ones pass meanwhile
  kStart,    // its job is made all the same
  kReplace,  // the last job is cancelled, and its job is made when that has ended
};

inline constexpr NamesOf<IfRunning, 4> kIfRunningNames = {{{"skip", IfRunning::kSkip},
                                                           {"wait", IfRunning::kWait},
                                                           {"start", IfRunning::kStart},
                                                           {"replace", IfRunning::kReplace}}};

inline constexpr Duration kDefaultCronDeadline = std::chrono::hours(1);
inline constexpr Duration kMinCronDeadline = std::chrono::minutes(1);
inline constexpr Duration kMaxCronDeadline = std::chrono::days(7);
// Between two jobs of a cron, of which the later one is not planned.
inline constexpr Duration kMinBetweenCronJobs = std::chrono::minutes(1);

// Why a cron's job has no `after`.
inline constexpr const char* kNoCronAfter =
    "after: names jobs that have ended when its second job is made; leave it out, and have the command do "
    "what is to come first";

inline constexpr size_t kMaxCrons = 1'000;
inline constexpr size_t kMaxCronsOfUser = 100;
inline constexpr size_t kMaxCronRuns = 10;  // that are kept of one
// Of a job, by sizeOf(): the record of its cron is written at each of its times.
inline constexpr size_t kMaxCronJobBytes = size_t{64} << 10;
inline constexpr size_t kMaxScheduleCharacters = 256;
inline constexpr size_t kMaxZoneCharacters = 100;

// What a user asks for.
struct CronSpec {
  JobId id{};              // made by the client, so that a repeated call finds the first
  std::string name{};      // a plain one (core/base/names.h), unique among its user's
  std::string schedule{};  // core/model/cron_schedule.h
  std::string zone{};      // by whose clock: core/base/time_zones.h
  IfRunning ifRunning = IfRunning::kSkip;
  Duration deadline = kDefaultCronDeadline;  // behind its time that a job may still be made
  JobSpec job{};

  bool operator==(const CronSpec&) const = default;
};

// What became of one planned time, or of several in a row that had no job.
struct CronRun {
  WallTime planned = kNever;
  // Of all planned times from `planned` on that are before this one; kNever: of `planned` alone.
  WallTime before = kNever;
  bool isByHand = false;  // not planned: a user had it made then
  JobId job{};
  JobNumber number = 0;                // 0: no job was made
  RunState state = RunState::kQueued;  // of the job as it ended; until then kQueued
  std::string reason{};                // why none was made; for people

  bool operator==(const CronRun&) const = default;
};

struct Cron {
  CronSpec spec{};
  std::string user{};   // whose it is
  std::string runAs{};  // system user of its jobs' tasks, decided when it was added
  WallTime added = kNever;
  bool isHeld = false;  // makes no jobs until it is released
  // The latest planned time that was taken up: none up to it is taken up again, whatever the clock says.
  WallTime takenUp = kNever;
  WallTime pending = kNever;  // a planned time whose job is still to be made; kNever: there is none
  std::string problem{};      // why it has not been made; for people
  std::optional<CronRun> lastJob{};
  WallTime lastMade = kNever;   // when that job was made
  std::vector<CronRun> runs{};  // what became of the last times, the newest last; at most kMaxCronRuns

  bool operator==(const Cron&) const = default;
};

// Error: kInvalid where it is out of bounds; the message begins with `what` (a flag, a field).
Status checkCronDeadline(const std::string& what, Duration deadline);

// Whether it can be taken: names, schedule, zone, bounds, and a job that can be made again and again. Error:
// kInvalid, "field: text; remedy".
Status checkCron(const CronSpec& cron, const TimeZones& zones);

// What of a job keeps it from being made again and again, as "field: text; remedy"; empty where nothing does.
std::string whyNotAgain(const JobSpec& job);

// Ids that the job of a planned time may have: others are taken where somebody's job has the first.
inline constexpr uint32_t kMaxCronJobIds = 8;

// Of the job that a cron makes for a planned time, the `choice`-th: the same whenever that is asked, and
// another for each. Whoever knows it can choose the cron's id so that it is that of any job.
JobId jobIdOf(const JobId& cron, WallTime planned, uint32_t choice = 0);

// Whether the cron made the job. Its id says nothing of that.
bool isJobOf(const Cron& cron, const JobRecord& job);

}  // namespace tarcil
