// What a command says: data to stdout, messages to stderr.
#pragma once

#include <string>
#include <string_view>

#include "env/messages.h"
#include "formats/json.h"

namespace tarcil {

// What the cluster warns of, if anything.
inline void sayWarning(std::string_view warning) {
  if (!warning.empty()) say("warning: " + std::string(warning));
}

// Data, to stdout. Failure where it cannot be written.
void print(std::string_view text);

// The one JSON value of a command under --json, indented, with a newline.
void printJson(const Json& value);

// While it is there, what is printed goes to its text: JSON as one line. One at a time in the process.
class PrintedText final {
 public:
  PrintedText();
  ~PrintedText();
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Everything printed so far is out. Failure where it cannot be written; to be called before the process ends.
void flushOutput();

}  // namespace tarcil
