// The files of an audit log, as whoever reads them finds them: NUMBER.jsonl, eight digits, in the order in
// which they were written; and `head`, which names the last entry.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/chain.h"
#include "core/base/result.h"

namespace tarcil::audit {

struct LogFile {
  uint64_t number = 0;
  std::filesystem::path path;
};

// By number. Invalid where the folder cannot be read.
Result<std::vector<LogFile>> filesOf(const std::string& folder);

std::string nameOfFile(uint64_t number);

// Calls `take` with each line, without its end, also with what stands behind the last end; until it says
// false. Longer lines than a log has come cut. Invalid where the file cannot be read.
Status eachLine(const std::filesystem::path& file, const std::function<bool(std::string_view)>& take);

// Nothing where there is none. Invalid where it cannot be read.
Result<std::optional<Link>> headIn(const std::string& folder);
std::string headText(const Link& head);

// Where in a log to read on: a byte of a file. {} is its beginning.
struct Position {
  uint64_t file = 0;
  uint64_t offset = 0;

  bool operator==(const Position&) const = default;
};

// What one look at a file gives.
struct Page {
  uint64_t file = 0;               // 0: there are no files
  std::vector<std::string> lines;  // those that pass
  Position next;
  bool more = false;  // is there now
};

// Of one file at most, and bounded: what passes need not be much, and there may be none. What stands behind
// the last end of the last file may be half of a line that is being written, and is none.
inline constexpr size_t kBytesOfPage = 1 << 20;
Result<Page> readPage(const std::string& folder, Position from, const Filter& filter);

}  // namespace tarcil::audit
