#include "cli/output/progress_line.h"

#include <unistd.h>

#include <cstdio>

#include "cli/output/screen.h"
#include "cli/output/table.h"

namespace tarcil {
namespace {

// With nothing broken at the right edge. The cursor goes back to the start, so that a message takes the
// line's place.
constexpr const char* kBegin = "\r\033[?7l";
constexpr const char* kEnd = "\033[K\033[?7h\r";

void put(const std::string& text) {
  const std::string line = kBegin + text + kEnd;
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

bool ProgressLine::isPossible() {
  return canMoveCursor(STDERR_FILENO);
}

ProgressLine::~ProgressLine() {
  if (!shown_.empty()) put("");
}

void ProgressLine::show(const std::string& text) {
  if (text == shown_) return;
  shown_ = text;
  put(withoutControls(text));
}

}  // namespace tarcil
