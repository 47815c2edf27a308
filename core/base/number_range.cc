#include "core/base/number_range.h"

#include <charconv>

namespace tarcil {
namespace {

// As C++ prints it by default: 0.95, 99, 1.
std::string plain(double number) {
  char buffer[32];
  auto [end, failure] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  return failure == std::errc() ? std::string(buffer, end) : std::string();
}

}  // namespace

bool NumberRange::holds(double number) const {
  const bool aboveLeast = included == Ends::kBoth ? number >= least : number > least;
  const bool belowMost = included == Ends::kNone ? number < most : number <= most;
  return aboveLeast && belowMost;
}

std::string NumberRange::describe() const {
  switch (included) {
    case Ends::kBoth:
      return "from " + plain(least) + " to " + plain(most);
    case Ends::kMaxOnly:
      return "above " + plain(least) + " and at most " + plain(most);
    case Ends::kNone:
      return "above " + plain(least) + " and below " + plain(most);
  }
  return "";
}

}  // namespace tarcil
