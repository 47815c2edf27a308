#include "monitor/logic/pressure/kernel_text.h"

#include <algorithm>
#include <charconv>

namespace tarcil {
namespace {

// Of what stands in messages: a file may hold anything.
std::string shownText(std::string_view text) {
  std::string shown(text.substr(0, 40));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "\"" + shown + (text.size() > 40 ? "...\"" : "\"");
}

}  // namespace

Error malformed(const KernelFile& file, size_t line, const std::string& problem) {
  return invalid(std::string(file.name) + ":" + std::to_string(line) + ": " + problem);
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<std::string_view> fieldsOf(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> fields;
  for (size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return fields;
}

std::optional<uint64_t> numberIn(std::string_view text) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::map<std::string_view, uint64_t>> numbersByKey(const KernelFile& file,
                                                          const std::vector<std::string_view>& wanted) {
  std::map<std::string_view, uint64_t> found;
  size_t number = 0;
  for (std::string_view line : linesOf(file.text)) {
    ++number;
    const auto fields = fieldsOf(line);
    if (fields.empty()) continue;
    std::string_view key = fields[0];
    if (key.ends_with(':')) key.remove_suffix(1);
    if (std::find(wanted.begin(), wanted.end(), key) == wanted.end()) continue;
    const auto value = fields.size() < 2 ? std::nullopt : numberIn(fields[1]);
    if (!value) return malformed(file, number, std::string(key) + ": no number in " + shownText(line));
    const bool inKilobytes = fields.size() > 2 && fields[2] == "kB";
    if (inKilobytes && *value > UINT64_MAX / 1024) {
      return malformed(file, number, std::string(key) + ": more bytes than there can be");
    }
    found.insert_or_assign(key, inKilobytes ? *value * 1024 : *value);
  }
  for (std::string_view key : wanted) {
    if (!found.contains(key)) return malformed(file, number, std::string(key) + " is missing");
  }
  return found;
}

Result<uint64_t> onlyNumber(const KernelFile& file) {
  const auto lines = linesOf(file.text);
  const auto value = lines.size() == 1 ? numberIn(lines[0]) : std::nullopt;
  if (!value) return malformed(file, 1, "not one number: " + shownText(file.text));
  return *value;
}

}  // namespace tarcil
