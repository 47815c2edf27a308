#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

namespace tarcil {
namespace {

constexpr size_t kMaxShownCharacters = 60;

// Of the control characters beyond ASCII, U+0080 to U+009F.
bool isControl(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

void appendEscaped(std::string& to, std::string_view bytes) {
  for (char byte : bytes) {
    std::array<char, 8> escaped{};
    std::snprintf(escaped.data(), escaped.size(), "\\x%02x", static_cast<unsigned char>(byte));
    to += escaped.data();
  }
}

// Levenshtein distance: how many characters must be put in, taken out or replaced.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (char c : a) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (c == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

size_t utf8Length(std::string_view text) {
  const auto byte = [&text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto within = [&byte](size_t i, unsigned least, unsigned most) {
    return byte(i) >= least && byte(i) <= most;
  };
  const auto continues = [&within](size_t i) { return within(i, 0x80, 0xbf); };
  if (text.empty()) return 0;
  if (byte(0) < 0x80) return 1;
  if (within(0, 0xc2, 0xdf)) return continues(1) ? 2 : 0;
  if (within(0, 0xe0, 0xef)) {
    const bool isValid = within(1, byte(0) == 0xe0 ? 0xa0 : 0x80, byte(0) == 0xed ? 0x9f : 0xbf);
    return isValid && continues(2) ? 3 : 0;
  }
  if (within(0, 0xf0, 0xf4)) {
    const bool isValid = within(1, byte(0) == 0xf0 ? 0x90 : 0x80, byte(0) == 0xf4 ? 0x8f : 0xbf);
    return isValid && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // all but continuation bytes
  }));
}

bool isPrintable(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8Length(text);
    if (length == 0 || isControl(text)) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string shown(std::string_view text) {
  std::string result = "'";
  for (size_t count = 0; !text.empty() && count < kMaxShownCharacters; ++count) {
    const size_t length = std::max<size_t>(utf8Length(text), 1);
    const std::string_view character = text.substr(0, length);
    if (isPrintable(character)) {
      result.append(character);
    } else {
      appendEscaped(result, character);
    }
    text.remove_prefix(length);
  }
  return result + (text.empty() ? "'" : "...'");
}

std::string didYouMean(std::string_view text, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  size_t bestDistance = text.size() <= 4 ? 2 : 3;  // found means strictly closer than this
  for (std::string_view candidate : candidates) {
    const size_t longer = std::max(candidate.size(), text.size());
    if (longer - std::min(candidate.size(), text.size()) >= bestDistance) continue;
    const size_t distance = editDistance(text, candidate);
    if (distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best.empty() ? "" : "did you mean " + std::string(best) + "? ";
}

}  // namespace tarcil
