// How far a store has been written, noted beside its log: a log whose end is missing (removed, emptied or
// cut) reads like one that was never written so far.
#pragma once

#include <kj/io.h>

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace tarcil {

// The number in the file `<folder>/written`: RocksDB's sequence number after the last write that was
// answered. Put there after the write is on disk, and not synced itself, which would take as long as the
// write: after a crash of the machine it may lag behind the log, and is never ahead of it. Single-threaded.
class WriteMark final {
 public:
  WriteMark(WriteMark&&) = default;
  ~WriteMark() noexcept = default;

  // Makes the file where there is none. Internal where it cannot be read or written.
  static Result<WriteMark> open(const std::string& folder);

  // Of an earlier process; 0 where nothing was noted.
  uint64_t found() const { return found_; }
  Status note(uint64_t sequence);

 private:
  WriteMark(kj::AutoCloseFd fd, std::string path, uint64_t found)
      : fd_(kj::mv(fd)), path_(std::move(path)), found_(found) {}

  kj::AutoCloseFd fd_;
  std::string path_;
  uint64_t found_;
};

// What open() would find; 0 where there is no mark.
uint64_t readWriteMark(const std::string& folder);

// Internal, with the remedy, where the store ends before its mark.
Status requireWhole(const std::string& folder, uint64_t sequence, uint64_t mark);

}  // namespace tarcil
