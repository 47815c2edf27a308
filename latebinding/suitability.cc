#include "latebinding/suitability.h"

#include <string>

namespace tarcil::late {

Status checkJob(const JobSpec& spec, bool hasFiles) {
  const auto refuse = [](const char* field, const char* why) {
    return invalid(std::string(field) + ": a late-bound job " + why);
  };
  if (spec.rusPerTask != 1) return refuse("rus_per_task", "has one unit for each task; leave it out");
  if (!spec.extras.empty()) return refuse("extras", "cannot have any; use policy: quality");
  if (spec.schedule != Schedule::kIncremental) return refuse("schedule", "starts task by task; leave it out");
  if (spec.mostAtOnce() < spec.tasks) return refuse("concurrency", "has no bound; submit smaller jobs");
  if (spec.placement.spread != Spread::kNone) return refuse("placement.spread", "cannot be spread");
  if (spec.placement.pack != Pack::kNone) return refuse("placement.pack", "cannot be packed");
  if (spec.restart.attempts > 0)
    return refuse("restart.attempts", "is not restarted when it fails; submit it again");
  if (spec.exclusive) return refuse("exclusive", "knows at_most_once instead");
  if (spec.performance) return refuse("performance", "is not watched; use policy: quality");
  if (spec.adjust != Adjusting{}) return refuse("adjust", "is not adjusted; use policy: quality");
  if (hasFiles) return refuse("files", "ships no files; put them where the servers can read them");
  return {};
}

UserNumber numberOf(std::string_view user) {
  // FNV-1a: the same at every agent, whatever it was built with.
  uint32_t hash = 2'166'136'261u;
  for (const char c : user) hash = (hash ^ static_cast<uint8_t>(c)) * 16'777'619u;
  return hash;
}

}  // namespace tarcil::late
