#include "monitor/container/task_records.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <string.h>

#include <charconv>

#include "schema/convert.h"

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
  if (name == "shut-down") return EndCause::kCancelled;
  return name == "lost" ? EndCause::kLost : EndCause::kNeverStarted;
}

void addLine(TaskEnd& end, std::string_view key, std::string_view value) {
  if (key == "cause") end.cause = causeNamed(value);
  if (key == "code") end.exitCode = static_cast<int>(number(value));
  if (key == "signal") end.signal = static_cast<int>(number(value));
  if (key == "oom") end.oomKilled = value == "1";
  if (key == "started") end.started = wallTime(value);
  if (key == "ended") end.ended = wallTime(value);
  if (key == "peak") end.peakMemoryBytes = static_cast<uint64_t>(number(value));
  if (key == "cpu") end.cpuTime = Duration(number(value));
  if (key == "lacks") end.lacksOutput = true;
  if (key == "problem" || key == "cut") addProblem(end, value);
}

}  // namespace

std::string encodeLaunch(const LaunchSpec& spec) {
  capnp::MallocMessageBuilder message;
  write(spec, message.initRoot<wire::LaunchSpec>());
  const kj::Array<capnp::word> words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  return std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

std::optional<LaunchSpec> decodeLaunch(std::string_view bytes, AllocationId allocation) {
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  if (words.size() == 0) return std::nullopt;
  ::memcpy(words.begin(), bytes.data(), words.size() * sizeof(capnp::word));
  std::optional<LaunchSpec> spec;
  const auto malformed = kj::runCatchingExceptions([&words, &spec] {
    capnp::FlatArrayMessageReader message(words);
    spec = read(message.getRoot<wire::LaunchSpec>());
  });
  return malformed == nullptr && spec->allocation == allocation ? spec : std::nullopt;
}

std::string unitsRecord(const std::vector<RuIndex>& rus) {
  std::string text;
  for (const RuIndex ru : rus) text += std::to_string(ru) + " ";
  return text + "\n";
}

std::optional<std::vector<RuIndex>> parseUnitsRecord(std::string_view text) {
  std::vector<RuIndex> rus;
  while (!text.empty() && text != "\n") {
    RuIndex ru = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ru);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (error != std::errc() || !text.starts_with(' ')) return std::nullopt;
    text.remove_prefix(1);
    rus.push_back(ru);
  }
  return text.empty() || rus.empty() ? std::nullopt : std::optional(std::move(rus));
}

std::string reasonRecord(EndCause reason) {
  return reason == EndCause::kTimedOut ? "timed-out\n" : "cancelled\n";
}

std::optional<EndCause> parseReasonRecord(std::string_view text) {
  for (const EndCause reason : {EndCause::kCancelled, EndCause::kTimedOut}) {
    if (text == reasonRecord(reason)) return reason;
  }
  return std::nullopt;
}

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
