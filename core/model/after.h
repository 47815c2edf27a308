// What a job waits for before its tasks start: other jobs of the same user, accepted before it. As a job
// names only jobs that are there already, none waits for itself, nor do several in a circle.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/ids.h"

namespace tarcil {

inline constexpr size_t kMaxAfter = 1'000;  // jobs that one waits for

struct After {
  // What becomes of what waits for something that will not come: a job in `ok` that failed, one in `failed`
  // that is done, a task of `each` that failed.
  enum class Unmet : uint8_t {
    kCancel,  // it is cancelled, and with it what waits for it in turn
    kHold,    // it waits on, for the other job to be run again or for its user to release or cancel it
  };

  std::vector<JobId> ok;      // all of them done
  std::vector<JobId> any;     // all of them ended, however
  std::vector<JobId> failed;  // all of them ended, and none is done
  std::optional<JobId> each;  // task i starts once task i of this job is done
  Unmet unmet = Unmet::kCancel;

  bool operator==(const After&) const = default;

  size_t size() const { return ok.size() + any.size() + failed.size() + (each ? 1 : 0); }
  bool empty() const { return size() == 0; }
};

// What would become of a job if it were submitted now, because of those that it starts after.
struct AfterOutlook {
  bool isCancelled = false;
  std::string reason;  // why it is, or why tasks of it wait; empty where none does

  bool operator==(const AfterOutlook&) const = default;
};

inline constexpr std::array<std::pair<std::string_view, After::Unmet>, 2> kUnmetNames = {
    {{"cancel", After::Unmet::kCancel}, {"hold", After::Unmet::kHold}}};

}  // namespace tarcil
