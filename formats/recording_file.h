// Reads what `tarcil record` wrote (cli/tarcild/recording_lines.h).
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "sim/replay/recording.h"

namespace tarcil {

// Rises when an older program could not read the file any more. Fields may be added without.
inline constexpr int kRecordingVersion = 1;

// The recording at `path`, unpacked where it is packed. Its end may be missing, as a recorder that was killed
// leaves it: a last line without its end is passed over. A folder is read part by part, in the order of their
// names; what jobs did between two parts is not known. Error: kInvalid with one line
// "path:line:column: field: problem; remedy" for every problem found.
Result<sim::Recording> readRecording(const std::string& path);
Result<sim::Recording> parseRecording(std::string_view text, const std::string& path);

}  // namespace tarcil
