#include "tests/fuzz/text_errors.h"

#include <algorithm>

#include "tests/fuzz/target.h"

namespace tarcil::fuzz {
namespace {

// Takes it off the front.
bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

// A number from 1 on.
bool takeNumber(std::string_view& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || text.front() == '0') return false;
  text.remove_prefix(digits);
  return true;
}

void requirePrintable(const Error& error) {
  require(error.code == ErrorCode::kInvalid, "it is refused, but not as invalid: " + error.message);
  const bool isPrintable = std::ranges::all_of(
      error.message, [](char c) { return static_cast<unsigned char>(c) >= 0x20 ? c != 0x7f : c == '\n'; });
  require(isPrintable, "the error has a control character: " + error.message);
  require(!error.message.ends_with('\n') && error.message.find("\n\n") == std::string::npos,
          "the error has an empty line: " + error.message);
}

}  // namespace

void requireNamesPlace(const Error& error, std::string_view file) {
  requirePrintable(error);
  std::string_view line = std::string_view(error.message).substr(0, error.message.find('\n'));
  const bool hasPlace = take(line, file) && take(line, ":") && takeNumber(line) && take(line, ":") &&
                        takeNumber(line) && take(line, ": ");
  require(hasPlace, "the error names no place: " + error.message);
  const size_t end = line.find(": ");
  require(end != std::string_view::npos && end > 0 && end + 2 < line.size(),
          "the error names no field: " + error.message);
}

void requireBegins(const Error& error, std::string_view beginning) {
  requirePrintable(error);
  require(error.message.starts_with(beginning) && error.message.size() > beginning.size(),
          "the error does not begin with " + std::string(beginning) + ": " + error.message);
}

}  // namespace tarcil::fuzz
