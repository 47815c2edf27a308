#include "monitor/exit_record.h"

#include <charconv>
#include <map>
#include <string>

namespace tarcil {
namespace {

int64_t number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

WallTime wallTime(std::string_view text) {
  return WallTime(Duration(number(text)));
}

void addProblem(TaskEnd& end, std::string_view text) {
  if (!end.problem.empty()) end.problem += "; ";
  end.problem += text;
}

// In the largest unit that keeps it whole.
std::string bytesText(uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{30, " GiB"}, std::pair{20, " MiB"}, std::pair{10, " KiB"}}) {
    if (bytes >> shift << shift == bytes) return std::to_string(bytes >> shift) + unit;
  }
  return std::to_string(bytes) + " bytes";
}

EndCause causeNamed(std::string_view name) {
  if (name == "exited") return EndCause::kExited;
  return name == "lost" ? EndCause::kLost : EndCause::kNeverStarted;
}

void addLine(TaskEnd& end, std::string_view key, std::string_view value) {
  if (key == "cause") end.cause = causeNamed(value);
  if (key == "code") end.exitCode = static_cast<int>(number(value));
  if (key == "signal") end.signal = static_cast<int>(number(value));
  if (key == "oom") end.oomKilled = value == "1";
  if (key == "started") end.started = wallTime(value);
  if (key == "ended") end.ended = wallTime(value);
  if (key == "problem" || key == "cut") addProblem(end, value);
}

}  // namespace

std::optional<TaskEnd> parseExitRecord(std::string_view text, uint64_t memoryLimit) {
  TaskEnd end;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline + 1);
    if (line == "complete") {
      if (end.oomKilled) {
        addProblem(end, "the kernel killed a process of the task");
        end.problem += memoryLimit > 0 ? " at its memory limit of " + bytesText(memoryLimit) : " for memory";
      }
      return end;
    }
    const size_t blank = line.find(' ');
    if (blank != std::string_view::npos) addLine(end, line.substr(0, blank), line.substr(blank + 1));
  }
  return std::nullopt;
}

std::string lostRecord(WallTime started, const std::string& problem) {
  return "cause lost\nstarted " + std::to_string(started.time_since_epoch().count()) + "\nproblem " +
         problem + "\ncomplete\n";
}

WallTime parseStarted(std::string_view text) {
  return wallTime(text);
}

}  // namespace tarcil
