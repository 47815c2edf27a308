#include "audit/log_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "core/base/hex.h"
#include "core/base/units.h"

namespace tarcil::audit {
namespace {

constexpr std::string_view kEnding = ".jsonl";
constexpr size_t kDigits = 8;

// Nothing but exactly what nameOfFile() writes.
std::optional<uint64_t> numberOf(const std::string& name) {
  uint64_t number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  if (read.ec != std::errc() || number == 0 || nameOfFile(number) != name) return std::nullopt;
  return number;
}

Error unreadable(const std::filesystem::path& path, const std::string& why) {
  return invalid(path.string() + ": cannot be read: " + why);
}

// What one read may give: lines, of which the last may go on beyond it.
Result<std::string> piece(const std::filesystem::path& path, uint64_t offset, size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(offset))) return unreadable(path, "it cannot be opened");
  std::string text(bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  if (file.bad()) return unreadable(path, "the disk failed");
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

bool beginsBefore(const std::filesystem::path& path, WallTime time) {
  const auto text = piece(path, 0, kMaxLineBytes);
  const auto fields = text ? fieldsOf(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
  return fields && fields->time < formatTime(time);
}

bool isAny(const Filter& filter) {
  return filter.since == kNever && filter.until == kNever && filter.user.empty() && filter.action.empty();
}

}  // namespace

std::string nameOfFile(uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return digits + std::string(kEnding);
}

Result<std::vector<LogFile>> filesOf(const std::string& folder) {
  std::vector<LogFile> files;
  std::error_code problem;
  std::filesystem::directory_iterator it(folder, problem);
  for (; !problem && it != std::filesystem::directory_iterator(); it.increment(problem)) {
    if (const auto number = numberOf(it->path().filename().string())) files.push_back({*number, it->path()});
  }
  if (problem) return unreadable(folder, problem.message());
  std::ranges::sort(files, {}, &LogFile::number);
  return files;
}

Status eachLine(const std::filesystem::path& path, const std::function<bool(std::string_view)>& take) {
  std::string rest;
  uint64_t offset = 0;
  while (true) {
    const auto read = piece(path, offset, kBytesOfPage);
    if (!read) return read.error();
    if (read->empty()) break;
    offset += read->size();
    rest += *read;
    std::string_view left = rest;
    for (size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
      if (!take(left.substr(0, end))) return {};
      left.remove_prefix(end + 1);
    }
    // Of a line without an end no more is kept than shows that it is none.
    rest = left.substr(0, kMaxLineBytes + 1);
  }
  if (!rest.empty()) take(rest);
  return {};
}

std::string headText(const Link& head) {
  std::string digits = std::to_string(head.sequence);
  return std::string(20 - digits.size(), '0') + digits + " " + hexOf(std::span(head.hash)) + "\n";
}

Result<std::optional<Link>> headIn(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / "head";
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) return std::optional<Link>();
  const auto text = piece(path, 0, 1024);
  if (!text) return text.error();
  Link head;
  const std::string_view digits = std::string_view(*text).substr(0, 20);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), head.sequence);
  const bool hasHash = text->size() > 21 && readHex(std::string_view(*text).substr(21, 64), head.hash);
  if (read.ec != std::errc() || !hasHash || headText(head) != *text)
    return invalid(path.string() + ":1: is no number and hash of an entry, as a master writes them");
  return std::optional(head);
}

Result<Page> readPage(const std::string& folder, Position from, const Filter& filter) {
  const auto files = filesOf(folder);
  if (!files) return files.error();
  auto file = std::ranges::lower_bound(*files, from.file, {}, &LogFile::number);
  // All of a file is from before the first entry of the next.
  while (filter.since != kNever && file != files->end() && file + 1 != files->end() &&
         beginsBefore((file + 1)->path, filter.since)) {
    ++file;
  }
  if (file == files->end()) return Page{.file = 0, .lines = {}, .next = from};
  const bool isLast = file + 1 == files->end();
  const uint64_t offset = file->number == from.file ? from.offset : 0;
  auto text = piece(file->path, offset, kBytesOfPage);
  if (!text) return text.error();
  Page page{.file = file->number, .lines = {}, .next = {file->number, offset}};
  std::string_view left = *text;
  const auto take = [&](std::string_view line) {
    if (isAny(filter) || passes(filter, line)) page.lines.emplace_back(line);
  };
  for (size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
    take(left.substr(0, end));
    left.remove_prefix(end + 1);
  }
  const bool isEnd = text->size() < kBytesOfPage;
  if (!left.empty() && (isEnd ? !isLast : left.size() == text->size())) {
    take(left.substr(0, kMaxLineBytes + 1));
    left = {};
  }
  page.next.offset += text->size() - left.size();
  page.more = !isEnd || !isLast;
  if (isEnd && !isLast) page.next = {(file + 1)->number, 0};
  return page;
}

}  // namespace tarcil::audit
