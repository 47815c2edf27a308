#include "cli/output/screen.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace tarcil {
namespace {

// Alternate screen, no cursor, no line broken at the right edge; and all of that back.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[?7l";
constexpr std::string_view kLeave = "\033[?7h\033[?25h\033[?1049l";
constexpr std::string_view kHome = "\033[H";
constexpr std::string_view kClearLine = "\033[K";
constexpr std::string_view kClearBelow = "\033[J";
constexpr size_t kUsualRows = 24;

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// What a signal handler needs: set while there is a Screen.
struct Terminal {
  bool readsKeys = false;  // stdin is a terminal, and this process in its foreground
  termios before{};
};
Terminal terminal;

// To the terminal itself: a handler may interrupt what is printed.
void putOnScreen(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return;  // it is gone, and SIGHUP on its way
    }
  }
}

// Also from the background, where the terminal would stop us for it.
void setKeys(const termios& keys) {
  sigset_t stops, before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &stops, &before);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void enter() {
  if (terminal.readsKeys) {
    termios keys = terminal.before;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    setKeys(keys);
  }
  putOnScreen(kEnter);
}

void leave() {
  putOnScreen(kLeave);
  if (terminal.readsKeys) setKeys(terminal.before);
}

// Keys are for whoever is in the foreground: under timeout(1), say, that is another.
bool hasKeys() {
  return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp() &&
         ::tcgetattr(STDIN_FILENO, &terminal.before) == 0;
}

// --- Signals: only what a handler may call ---

void endBy(int signal) {
  leave();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void stopBy(int) {
  const int error = errno;
  leave();
  ::raise(SIGSTOP);  // until the user continues it
  enter();
  errno = error;
}

void sizeChanged(int) {}  // poll() returns

void handle(int signal, void (*handler)(int)) {
  struct sigaction before {};
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // whoever started us wants it so
  struct sigaction action {};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

void handleSignals() {
  for (const int signal : kEndingSignals) handle(signal, endBy);
  handle(SIGTSTP, stopBy);
  handle(SIGWINCH, sizeChanged);
}

void unhandleSignals() {
  for (const int signal : kEndingSignals) handle(signal, SIG_DFL);
  handle(SIGTSTP, SIG_DFL);
  handle(SIGWINCH, SIG_DFL);
}

size_t rowsOfTerminal() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : kUsualRows;
}

// Whether q was among the keys, or there will be none any more.
bool readsQuit() {
  std::array<char, 64> keys{};
  const ssize_t count = ::read(STDIN_FILENO, keys.data(), keys.size());
  if (count < 0) return errno != EINTR && errno != EAGAIN;
  const std::string_view pressed(keys.data(), static_cast<size_t>(count));
  return count == 0 || pressed.find_first_of("qQ") != std::string_view::npos;
}

}  // namespace

bool canMoveCursor(int fd) {
  const char* name = std::getenv("TERM");
  return ::isatty(fd) == 1 && name != nullptr && *name != '\0' && std::string_view(name) != "dumb";
}

Screen::Screen() {
  terminal = {};
  terminal.readsKeys = hasKeys();
  handleSignals();
  enter();
}

Screen::~Screen() {
  leave();
  unhandleSignals();
}

void Screen::show(const std::string& text) {
  text_ = text.ends_with('\n') ? text : text + '\n';
  draw();
}

void Screen::draw() const {
  putOnScreen(frameOf(text_, rowsOfTerminal()));
}

bool Screen::pause(Duration duration) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + duration;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return true;
    pollfd keys{terminal.readsKeys ? STDIN_FILENO : -1, POLLIN, 0};
    const int ready = ::poll(&keys, 1, static_cast<int>(left.count()));
    if (ready < 0) draw();  // another size, or continued
    if (ready > 0 && readsQuit()) return false;
  }
}

std::string frameOf(const std::string& text, size_t rows) {
  const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
  const size_t shown = lines <= rows ? lines : rows - 1;
  std::string frame(kHome);
  size_t at = 0;
  for (size_t line = 0; line < shown; ++line) {
    const size_t end = text.find('\n', at);
    frame.append(text, at, end - at).append(kClearLine).append(line + 1 < rows ? "\r\n" : "");
    at = end + 1;
  }
  if (shown < lines) frame.append("and " + std::to_string(lines - shown) + " more lines").append(kClearLine);
  return frame.append(kClearBelow);
}

}  // namespace tarcil
