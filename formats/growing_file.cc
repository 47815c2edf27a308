#include "formats/growing_file.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace tarcil {

Result<GrowingFile> GrowingFile::make(const std::string& path) {
  errno = 0;
  // "x": never another's file. "T": as it is, unpacked.
  File file(gzopen(path.c_str(), path.ends_with(".gz") ? "wbxe" : "wbxeT"), &gzclose);
  if (file) return GrowingFile(path, std::move(file));
  if (errno == EEXIST) return invalid(path + ": is there already; name another file, or remove it");
  return invalid(path + ": cannot be made: " + std::strerror(errno) + "; check the path and its permissions");
}

void GrowingFile::add(std::string_view line) {
  if (failed_) return;
  const auto size = static_cast<unsigned>(line.size());
  const bool isWritten = size == 0 || gzwrite(file_.get(), line.data(), size) == static_cast<int>(size);
  failed_ = !isWritten || gzputc(file_.get(), '\n') < 0;
  bytes_ += line.size() + 1;
  dirty_ = true;
}

Status GrowingFile::flush() {
  if (!failed_ && dirty_) failed_ = gzflush(file_.get(), Z_SYNC_FLUSH) != Z_OK;
  dirty_ = false;
  if (failed_) return failure();
  return {};
}

Status GrowingFile::close() {
  if (Status status = flush(); !status) return status;
  errno = 0;
  if (gzclose(file_.release()) == Z_OK) return {};
  failed_ = true;
  return failure();
}

Error GrowingFile::failure() const {
  return {ErrorCode::kInternal,
          path_ + ": cannot be written: " + (errno != 0 ? std::strerror(errno) : "unknown reason") +
              "; make room, and record to another file"};
}

}  // namespace tarcil
