// Lines of a trace cut into fields, and what is wrong with them told with file, line, column and field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/number_range.h"
#include "core/base/result.h"

namespace tarcil::sim {

// How fields are kept apart.
enum class Separator : uint8_t {
  kBlanks,  // any number of blanks and tabs; none at the ends
  kTab,     // one tab
  kComma,   // one comma; no quotes
};

// Reads line by line. Text and names outlive it. A problem does not end the reading, so that one run shows
// several of them.
class TraceText {
 public:
  TraceText(std::string_view text, std::string file, Separator separator);

  // Goes to the next line that is neither empty nor, where `comment` is given, begins with it. False at
  // the end.
  bool next(std::optional<char> comment = std::nullopt);

  size_t fields() const { return fields_.size(); }
  std::string_view field(size_t index) const { return fields_[index].text; }

  // Reports where the line does not have so many fields: false then.
  bool require(size_t count);
  // Reports where the field is no whole number in the range. Requires: index < fields().
  std::optional<int64_t> integer(size_t index, std::string_view name, int64_t least, int64_t most);
  std::optional<double> number(size_t index, std::string_view name, const NumberRange& range);
  // "file:line:column: field: problem". Of the whole line where `index` is not one of its fields.
  void problem(size_t index, std::string_view name, std::string_view text);

  // kInvalid with what was found, at most kMaxProblems lines of it; success where nothing was.
  Status verdict() const;

  static constexpr size_t kMaxProblems = 10;

 private:
  struct Field {
    std::string_view text;
    size_t column;  // from 1
  };

  void cut(std::string_view line);

  std::string_view rest_;
  const std::string file_;
  const Separator separator_;
  size_t line_ = 0;
  std::vector<Field> fields_;
  size_t problems_ = 0;
  std::string found_;
};

// A text of a file for a message: in quotes, short, and nothing in it that steers a terminal.
std::string inQuotes(std::string_view text);

}  // namespace tarcil::sim
