// The numbers that a field or an option takes.
#pragma once

#include <string>

namespace tarcil {

struct NumberRange {
  double least = 0;
  double most = 1;
  enum class Ends { kBoth, kMaxOnly, kNone } included = Ends::kBoth;  // which ends belong to it

  bool holds(double number) const;  // false for what is no number
  std::string describe() const;     // "above 0 and at most 1"
};

}  // namespace tarcil
