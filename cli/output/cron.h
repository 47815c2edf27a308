// Crons as commands show them.
#pragma once

#include <string>
#include <vector>

#include "cli/output/render.h"
#include "core/state/cron.h"
#include "formats/json.h"
#include "schema/master.capnp.h"

namespace tarcil {

// A cron as the cluster tells of it.
struct CronStatus {
  Cron cron;
  std::vector<WallTime> next;  // times that come
  std::string problem;         // why it cannot be run at all; empty where it can
};

CronStatus readCronStatus(wire::CronDetails::Reader from);

// Keys: name, user, schedule, zone, if_running, deadline (seconds), held, problem (null: it can be run),
// added, next (times), pending (null, or planned and reason), last (null, or as in runs), runs (the newest
// last; each with planned, before, by_hand, job, number, state, reason).
Json jsonOf(const CronStatus& cron);
// Whether it makes jobs, in a word or a few.
std::string stateText(const CronStatus& cron);
// A line each.
std::string tableOf(const std::vector<CronStatus>& crons, const Style& style);
// All of it, times by the clock of its zone.
std::string textOf(const CronStatus& cron, const Style& style);

}  // namespace tarcil
