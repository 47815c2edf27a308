// A file of lines that grows while it is written: what was flushed is there, whatever becomes of the writer.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

struct gzFile_s;

namespace tarcil {

class GrowingFile final {
 public:
  // Makes the file, packed by gzip where its name ends in ".gz". Error: kInvalid, with what to do, where it
  // is there already or cannot be made.
  static Result<GrowingFile> make(const std::string& path);

  const std::string& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }  // written so far, unpacked

  // Adds the line and a newline; it may stay in memory until flush().
  void add(std::string_view line);
  // Everything that was added is the operating system's now, and can be read. Error: kInternal, for good:
  // something could not be written.
  Status flush();
  // The same, and the end of the file. Nothing may be added after it.
  Status close();

 private:
  using File = std::unique_ptr<gzFile_s, int (*)(gzFile_s*)>;

  GrowingFile(std::string path, File file) : path_(std::move(path)), file_(std::move(file)) {}
  Error failure() const;

  std::string path_;
  File file_;
  uint64_t bytes_ = 0;
  bool failed_ = false;
  bool dirty_ = false;  // something was added since the last flush
};

}  // namespace tarcil
