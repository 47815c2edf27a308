#include "core/base/ids.h"

namespace tarcil {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

int hexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string toString(const JobId& id) {
  std::string text;
  text.reserve(2 * id.bytes.size());
  for (uint8_t byte : id.bytes) {
    text += kHexDigits[byte >> 4];
    text += kHexDigits[byte & 15];
  }
  return text;
}

std::optional<JobId> parseJobId(std::string_view text) {
  JobId id;
  if (text.size() != 2 * id.bytes.size()) return std::nullopt;
  for (size_t i = 0; i < id.bytes.size(); ++i) {
    const int high = hexValue(text[2 * i]);
    const int low = hexValue(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    id.bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return id;
}

}  // namespace tarcil
