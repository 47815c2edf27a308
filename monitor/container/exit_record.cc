#include "monitor/container/exit_record.h"

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

void addProblem(TaskEnd& end, std::string_view text) {
  if (!end.problem.empty()) end.problem += "; ";
  end.problem += text;
}

std::optional<TaskEnd> parseExitRecord(std::string_view text) {
  TaskEnd end;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline + 1);
    if (line == "complete") return end;
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
