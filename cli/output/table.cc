#include "cli/output/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "cli/output/color.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

std::string cell(std::string_view text) {
  return text.empty() ? kNone : withoutControls(text);
}

// Letters of the last column that a terminal has to have room for; in a narrower one lines are broken.
constexpr size_t kLeastShown = 12;

// 0 where stdout is no terminal.
size_t terminalWidth() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// At most so many letters, the last of them a mark where some are missing.
std::string cut(const std::string& text, size_t most) {
  if (characters(text) <= most) return text;
  size_t end = 0;
  for (size_t letters = 0; letters < most; ++end) {
    const bool isFollowing = (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80;
    if (!isFollowing && ++letters == most) break;
  }
  return text.substr(0, end) + "…";
}

Paint paintOf(std::string_view heading, std::string_view value) {
  return heading == "State" ? paintOfState(value) : Paint::kPlain;
}

}  // namespace

std::string withoutControls(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(utf8Length(text), 1);
    const std::string_view character = text.substr(0, length);
    shown += isPrintable(character) ? character : "?";
    text.remove_prefix(length);
  }
  return shown;
}

Table::Table(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> cells) {
  for (std::string& text : cells) text = cell(text);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  return text(terminalWidth(), isColored());
}

std::string Table::text(size_t width, bool colored) const {
  std::vector<size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  }
  size_t before = 0;  // the last column
  for (size_t i = 0; i + 1 < widths.size(); ++i) before += widths[i] + 2;
  const size_t last = width > before + kLeastShown ? width - before : SIZE_MAX;
  std::string text;
  for (const auto& row : rows_) {
    const bool isHeader = &row == &rows_.front();
    for (size_t i = 0; i < row.size(); ++i) {
      const Paint paint = isHeader ? Paint::kHeading : paintOf(rows_.front()[i], row[i]);
      const std::string shown = i + 1 < row.size() ? row[i] : cut(row[i], last);
      text += colored ? painted(shown, paint) : shown;
      if (i + 1 < row.size()) text.append(widths[i] - characters(row[i]) + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string aligned(const Fields& fields) {
  size_t width = 0;
  for (const auto& [key, value] : fields) width = std::max(width, characters(key));
  std::string text;
  for (const auto& [key, value] : fields) {
    const std::string shown = isColored() ? painted(cell(value), paintOf(key, value)) : cell(value);
    text.append(key).append(width - characters(key), ' ').append(" = ").append(shown).append("\n");
  }
  return text;
}

}  // namespace tarcil
