#include "cli/output/output.h"

#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/failure.h"

namespace tarcil {
namespace {

std::string*& collected() {
  static std::string* text = nullptr;  // of the PrintedText that there is
  return text;
}

void requireWritten(bool written) {
  if (written) return;
  // Nobody reads any more, as after `| head`: no reason to complain.
  if (errno == EPIPE) throw Failure(kExitSignal + SIGPIPE, "");
  throw Failure(kExitFailed, std::string("cannot write to stdout: ") + strerror(errno));
}

}  // namespace

PrintedText::PrintedText() {
  collected() = &text_;
}

PrintedText::~PrintedText() {
  collected() = nullptr;
}

void print(std::string_view text) {
  if (collected() != nullptr) {
    collected()->append(text);
    return;
  }
  requireWritten(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void printJson(const Json& value) {
  // Texts of others may hold anything; what is not UTF-8 is replaced, since JSON cannot say it.
  const int indent = collected() != nullptr ? -1 : 2;
  print(value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n");
}

void flushOutput() {
  requireWritten(std::fflush(stdout) == 0);
}

}  // namespace tarcil
