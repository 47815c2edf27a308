// Texts that users wrote: what is in them, and how messages show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tarcil {

// Length in bytes of the UTF-8 character at the front of `text`; 0 where there is none (RFC 3629: shortest
// form, no surrogates, nothing above U+10FFFF).
size_t utf8Length(std::string_view text);

// The number of characters of a UTF-8 text.
size_t characters(std::string_view text);

// UTF-8 without control characters.
bool isPrintable(std::string_view text);

// A text fit for a message: quoted, clipped to 60 characters, everything that is not printable escaped.
std::string shown(std::string_view text);

// "did you mean X? " for the candidate that a slip of the finger turns into `text`, else "".
std::string didYouMean(std::string_view text, const std::vector<std::string_view>& candidates);

// "a, b, c", of texts of any kind.
template <typename Words>
std::string joined(const Words& words, std::string_view separator = ", ") {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : separator).append(word);
  return text;
}

}  // namespace tarcil
