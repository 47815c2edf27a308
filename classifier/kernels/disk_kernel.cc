#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "classifier/kernels/kernels.h"
#include "classifier/kernels/mapping.h"

namespace tarcil {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

// A file that never has a name: it is gone with the process, whatever ends it.
int openScratch(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);
  if (file < 0) {
    fail(folder +
         ": no file without a name and with direct I/O can be made here; choose a folder on a disk"
         " with --scratch");
  }
  return file;
}

class DiskKernel final : public Kernel {
 public:
  explicit DiskKernel(const std::string& folder) : file_(openScratch(folder)), buffer_(kPieceBytes) {
    struct statvfs space {};
    const bool isKnown = ::fstatvfs(file_, &space) == 0;
    const uint64_t free = isKnown ? uint64_t{space.f_bavail} * space.f_frsize : 0;
    bytes_ = std::min(kScratchBytes, free / 10) / kPieceBytes * kPieceBytes;
    if (bytes_ == 0) {
      ::close(file_);
      throw std::runtime_error(folder +
                               ": too little space is left here; choose another folder with --scratch");
    }
    std::memset(buffer_.data(), 0x5a, kPieceBytes);
  }
  ~DiskKernel() override { ::close(file_); }

  void set(int) override {
    if (isFull_) return;
    for (uint64_t at = 0; at < bytes_; at += kPieceBytes) write(at);
    isFull_ = true;
  }

  // One piece is written, the next one read, through the file from end to end.
  double burst() override {
    if (isWriteNext_) {
      write(at_);
    } else if (::pread(file_, buffer_.data(), kPieceBytes, static_cast<off_t>(at_)) != kPieceBytes) {
      fail("reading the scratch file");
    }
    isWriteNext_ = !isWriteNext_;
    at_ = (at_ + kPieceBytes) % bytes_;
    return kPieceBytes;
  }

 private:
  void write(uint64_t at) {
    if (::pwrite(file_, buffer_.data(), kPieceBytes, static_cast<off_t>(at)) != kPieceBytes) {
      fail("writing the scratch file");
    }
  }

  const int file_;
  Mapping buffer_;  // as direct I/O wants it: at the start of a page
  uint64_t bytes_ = 0, at_ = 0;
  bool isFull_ = false, isWriteNext_ = true;
};

}  // namespace

std::unique_ptr<Kernel> makeDiskKernel(const std::string& folder) {
  return std::make_unique<DiskKernel>(folder);
}

}  // namespace tarcil
