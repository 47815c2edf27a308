// Writes an audit log to its files, in order and each line once, and erases old files within its bounds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/chain.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace tarcil::audit {

// What is kept: the newest file always.
struct LogOptions {
  uint64_t fileBytes = uint64_t{16} << 20;  // of a file, after which the next one begins
  uint64_t keepBytes = uint64_t{1} << 30;   // of all files
  uint32_t keepFiles = 10'000;
  Duration keepFor = std::chrono::days(365);  // after the file's last entry

  bool operator==(const LogOptions&) const = default;
};

// Used by one thread at a time.
class LogWriter {
 public:
  virtual ~LogWriter() noexcept(false) = default;

  // Makes the folder, for its owner only, where it is missing. Takes the half line off that a crash may have
  // left at the end. Writes those of `lines` (the last ones of the log, each with its end) that are not there
  // yet. Where these do not follow what is there, a new file begins. Invalid where the folder cannot be used.
  static Result<std::unique_ptr<LogWriter>> open(const std::string& folder, const LogOptions& options,
                                                 std::string_view lines);

  // Lines, each with its end, that follow what is there; on disk when it returns. After an error nothing of
  // them is there, and it may be tried again.
  virtual Status append(std::string_view lines) = 0;

  // Up to which entry there are files to be erased for being too many, too large or too old.
  virtual std::optional<uint64_t> dispensable(WallTime now) = 0;
  // Erases those files.
  virtual Status erase(uint64_t through) = 0;

  // What it found to be otherwise than a master leaves it, for people; empty where nothing was.
  virtual const std::string& finding() const = 0;
};

}  // namespace tarcil::audit
