// Names of the files of a recording in parts: a folder of them is what `tarcil record --last` keeps.
#pragma once

#include <string>

#include "core/base/time.h"

namespace tarcil {

// What names of the parts of a recording end in that is a folder (cli/tarcild/rolling_recording.h).
inline constexpr const char* kRecordingEnding = ".rec.gz";
// Of a part that begins then, such as 2026-01-05T09-00-00.123456Z.rec.gz; and when one of that name does,
// kNever where it is the name of none.
std::string nameOfPart(WallTime begins);
WallTime beginOfPart(const std::string& name);

}  // namespace tarcil
