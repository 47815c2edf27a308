#include "monitor/logic/performance/blame_text.h"

#include <cmath>
#include <cstdio>

namespace tarcil {
namespace {

std::string percent(double share) {
  return std::to_string(std::lround(share * 100)) + " %";
}

std::string whole(double value) {
  return std::to_string(std::lround(value));
}

// "1.5"
std::string tenths(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string nameOf(Resource resource) {
  return std::string(kResourceNames[static_cast<size_t>(resource)]);
}

std::string waiting(const PressureEvidence& evidence) {
  if (!evidence.waited) return "";
  return "; the task waited for it " + percent(*evidence.waited) + " of the time";
}

}  // namespace

std::string textOf(const PressureEvidence& evidence) {
  const size_t more = evidence.tasks - 1;
  const std::string with =
      more == 0 ? ""
                : "with " + std::to_string(more) + " more " + (more == 1 ? "task" : "tasks") + " of its job ";
  return with + "presses on " + nameOf(evidence.resource) + " with " + whole(evidence.pressure) + " of 99 (" +
         (evidence.measured ? "measured" : "by its profile") + "), all others of the server with " +
         whole(evidence.foreign) + "; the task bears " + whole(evidence.tolerated) + waiting(evidence);
}

std::string textOfCores(const Feelings& feels) {
  std::string text = "it uses " + tenths(feels.coresUsed.value_or(0));
  if (feels.coresHeld > 0) text += " of its " + tenths(feels.coresHeld);
  text += " cores";
  if (feels.waitedForCore) text += " and waited for one " + percent(*feels.waitedForCore) + " of the time";
  if (feels.throttled.value_or(0) > 0) text += ", held back by a quota " + percent(*feels.throttled);
  return text;
}

std::string textOfMemoryLimit(const Feelings& feels) {
  std::string text = "it uses " + percent(feels.memoryShare.value_or(0)) + " of its memory limit, reached " +
                     std::to_string(feels.limitHits) + " times";
  if (feels.oomKills > 0) {
    text += ", " + std::to_string(feels.oomKills) + " of its processes killed for it in the last minute";
  }
  if (feels.waitedForMemory) text += "; it waited for memory " + percent(*feels.waitedForMemory);
  return text;
}

std::string textOfHypervisor(double stolen) {
  return "the hypervisor gave " + percent(stolen) + " of the server's processor time to others";
}

std::string textOfOwnTraffic(const PressureEvidence& evidence) {
  return "its own traffic is " + whole(evidence.pressure) + " of 99 of " + nameOf(evidence.resource) +
         ", that of all others " + whole(evidence.foreign) + waiting(evidence);
}

std::string textOfUnknown() {
  return "nothing that is measured on this server explains it";
}

}  // namespace tarcil
