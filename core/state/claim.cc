#include "core/state/claim.h"

namespace tarcil {

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGranted:
      return "granted";
    case Verdict::kUnknownServer:
      return "unknown_server";
    case Verdict::kServerDown:
      return "server_down";
    case Verdict::kCordoned:
      return "cordoned";
    case Verdict::kNotFree:
      return "not_free";
    case Verdict::kBelowFloor:
      return "below_floor";
    case Verdict::kBreaksNeighbour:
      return "breaks_neighbour";
    case Verdict::kTaskNotWaiting:
      return "task_not_waiting";
    case Verdict::kNotAll:
      return "not_all";
    case Verdict::kNoExtras:
      return "no_extras";
    case Verdict::kNoMemory:
      return "no_memory";
    case Verdict::kNoDisk:
      return "no_disk";
  }
  return "unknown";
}

}  // namespace tarcil
