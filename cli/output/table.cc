#include "cli/output/table.h"

#include <algorithm>

#include "core/base/text.h"

namespace tarcil {
namespace {

std::string cell(std::string text) {
  if (text.empty()) return kNone;
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

Table::Table(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void Table::add(std::vector<std::string> cells) {
  for (std::string& text : cells) text = cell(std::move(text));
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
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
    text.append(key).append(width - characters(key), ' ').append(" = ").append(cell(value)).append("\n");
  }
  return text;
}

}  // namespace tarcil
