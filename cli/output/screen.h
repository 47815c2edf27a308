// A whole terminal for something that is shown again and again.
#pragma once

#include <string>

#include "core/base/time.h"

namespace tarcil {

// Whether the descriptor is a terminal that can move its cursor, as TERM says.
bool canMoveCursor(int fd);

// The terminal's alternate screen: what was there before is there again when this is destroyed, and when a
// signal ends or stops the process. Requires: one at a time in the process, used by one thread.
class Screen final {
 public:
  // Requires: stdout can move its cursor.
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // From the top, over what was shown before; lines that have no room are counted in the last one.
  void show(const std::string& text);

  // Waits for the duration; false when the user pressed q meanwhile. Shows the text again where the terminal
  // has got another size.
  bool pause(Duration duration);

 private:
  void draw() const;

  std::string text_;
};

// The first lines of a text, each with its end, for a terminal of so many rows, as bytes that draw them in
// place: each line clears what was behind it, the last one what was below.
std::string frameOf(const std::string& text, size_t rows);

}  // namespace tarcil
