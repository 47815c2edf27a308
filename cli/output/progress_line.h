// How far something is, in a line of the terminal that is written over and over.
#pragma once

#include <string>

namespace tarcil {

// On stderr; the line is empty again when this is destroyed.
class ProgressLine final {
 public:
  // Whether stderr is a terminal that can move its cursor.
  static bool isPossible();

  ProgressLine() = default;
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // In place of what it showed before, cut where the terminal ends. Requires: isPossible().
  void show(const std::string& text);

 private:
  std::string shown_;
};

}  // namespace tarcil
