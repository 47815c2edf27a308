// Aligned text for people: one object as "Key = value" lines, many as columns under a header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tarcil {

// What stands where there is no value.
inline constexpr const char* kNone = "<none>";

// Columns as wide as their widest cell, two spaces between them, nothing after the last. Empty cells show
// kNone. Control characters show as '?', so that nobody's job name steers a terminal. Where the process
// prints colours (cli/output/color.h) the header is a heading, and what stands below "State" has its state's.
class Table {
 public:
  explicit Table(std::vector<std::string> header);

  // Requires: as many cells as the header has.
  void add(std::vector<std::string> cells);

  bool empty() const { return rows_.size() == 1; }
  // On a terminal no line is longer than it is wide, as far as that takes away from the last column only.
  std::string text() const;
  // The same for a terminal of so many columns; 0: for none.
  std::string text(size_t width, bool colored = false) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the header first
};

// The text with '?' for each control character, those of C1 too, and for each byte that is not UTF-8.
std::string withoutControls(std::string_view text);

using Fields = std::vector<std::pair<std::string, std::string>>;

// "Key = value" lines with the signs below each other. Empty values show kNone. Colours as in a table.
std::string aligned(const Fields& fields);

}  // namespace tarcil
