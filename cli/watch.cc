#include "cli/watch.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/command.h"
#include "cli/output/color.h"
#include "cli/output/output.h"
#include "cli/output/screen.h"
#include "cli/user_clock.h"
#include "core/base/failure.h"
#include "formats/point_in_time.h"

namespace tarcil {
namespace {

constexpr std::array<std::string_view, 9> kWatchable = {
    "tarcil status",      "tarcil queue",       "tarcil usage",      "tarcil job list", "tarcil job status",
    "tarcil server list", "tarcil server show", "tarcil agent list", "tarcil cron list"};

constexpr double kMinSeconds = 0.5, kMaxSeconds = 86'400;

std::optional<double> secondsOf(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool isNumber = error == std::errc() && end == text.data() + text.size();
  if (!isNumber || !(seconds >= kMinSeconds && seconds <= kMaxSeconds)) return std::nullopt;
  return seconds;
}

// What is said on a terminal while this is there, which would disturb the screen.
class SaidText final {
 public:
  SaidText() {
    if (::isatty(STDERR_FILENO) != 1) return;  // nobody sees it here
    file_ = ::memfd_create("said", MFD_CLOEXEC);
    terminal_ = file_ < 0 ? -1 : ::dup(STDERR_FILENO);
    if (terminal_ >= 0) ::dup2(file_, STDERR_FILENO);
  }
  ~SaidText() {
    if (terminal_ >= 0) ::dup2(terminal_, STDERR_FILENO);
    for (const int fd : {terminal_, file_}) {
      if (fd >= 0) ::close(fd);
    }
  }
  SaidText(const SaidText&) = delete;
  SaidText& operator=(const SaidText&) = delete;

  std::string text() const {
    std::string text;
    std::array<char, 4096> piece{};
    for (ssize_t count = 1; file_ >= 0 && count > 0;) {
      count = ::pread(file_, piece.data(), piece.size(), static_cast<off_t>(text.size()));
      if (count > 0) text.append(piece.data(), static_cast<size_t>(count));
    }
    return text;
  }

 private:
  int file_ = -1, terminal_ = -1;
};

// One look at what is watched.
struct Look {
  Outcome outcome;
  std::string printed;
  std::string said{};  // where that is kept from the terminal
};

Look lookBy(const std::function<int()>& body, bool onScreen) {
  const PrintedText printed;
  std::optional<SaidText> said;
  if (onScreen) said.emplace();
  Outcome outcome = outcomeOf(body);
  return {std::move(outcome), printed.text(), said ? said->text() : ""};
}

// "2026-05-01T14:34:56+02:00".
std::string timeNow() {
  constexpr size_t kSecondsEnd = 19, kFraction = 7;
  const LocalClock clock = userClock();
  return formatLocalTime(clock.now, clock.zone ? *clock.zone : TimeZone()).erase(kSecondsEnd, kFraction);
}

std::string messageLine(const Outcome& outcome) {
  return outcome.message.empty() ? "" : "tarcil: " + outcome.message + "\n";
}

// --- On a terminal ---

std::string headerOf(const Watched& watched) {
  const std::string title = isColored() ? painted(watched.title, Paint::kHeading) : watched.title;
  return title + "  " + timeNow() + "  (q ends)\n\n";
}

int watchOnScreen(const Watched& watched, const std::function<int()>& body, Look look) {
  Screen screen;
  for (;; look = lookBy(body, true)) {
    screen.show(headerOf(watched) + look.printed + look.said + messageLine(look.outcome));
    if (!screen.pause(watched.period)) return kExitDone;
  }
}

// --- Elsewhere ---

// Returns early where nobody reads stdout any more: the next write says so.
void pauseFor(Duration period) {
  pollfd reader{STDOUT_FILENO, 0, 0};
  ::poll(&reader, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(period).count()));
}

std::string textOf(const Look& look, bool isJson) {
  if (!isJson) return timeNow() + "\n" + look.printed + messageLine(look.outcome) + "\n";
  if (look.outcome.message.empty()) return look.printed;
  const Json error = {{"error", look.outcome.message}};
  return error.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

[[noreturn]] void watchInLines(const Watched& watched, const std::function<int()>& body, Look look) {
  for (;; look = lookBy(body, false)) {
    print(textOf(look, watched.isJson));
    flushOutput();
    pauseFor(watched.period);
  }
}

}  // namespace

bool isWatchable(std::string_view command) {
  return std::ranges::find(kWatchable, command) != kWatchable.end();
}

CLI::Validator watchPeriod() {
  CLI::Validator check("");
  check.operation([](std::string& text) -> std::string {
    if (secondsOf(text)) return "";
    return "'" + text +
           "' does not fit; write a number of seconds from 0.5 to 86400, or --watch at the end for every 2";
  });
  return check;
}

Duration periodOf(const std::string& seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(secondsOf(seconds).value_or(0)));
}

int watch(const Watched& watched, const std::function<int()>& body) {
  const bool onScreen = !watched.isJson && canMoveCursor(STDOUT_FILENO);
  Look first = lookBy(body, onScreen);
  if (first.outcome.code != kExitDone) {
    print(first.printed);
    (void)std::fwrite(first.said.data(), 1, first.said.size(), stderr);
    throw Failure(first.outcome.code, first.outcome.message);
  }
  if (onScreen) return watchOnScreen(watched, body, std::move(first));
  watchInLines(watched, body, std::move(first));
}

}  // namespace tarcil
