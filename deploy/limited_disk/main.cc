// tarcil-limited-disk IMAGE FILE BYTES_PER_SECOND: shows IMAGE as FILE, which is there already, through FUSE,
// so that reading and writing together pass at no more than so many bytes a second, whoever does it. Returns
// when FILE can be used; goes on in the background until FILE is unmounted. Started by deploy/slices.
#define FUSE_USE_VERSION 31

#include <fcntl.h>
#include <fuse3/fuse.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

// One request after another, as of a disk with one arm.
class LimitedDisk {
 public:
  LimitedDisk(int image, uint64_t bytesPerSecond) : image_(image), bytesPerSecond_(bytesPerSecond) {}

  int image() const { return image_; }

  // Returns when so many bytes more may have passed.
  void pass(size_t bytes) {
    const std::chrono::duration<double> takes(static_cast<double>(bytes) /
                                              static_cast<double>(bytesPerSecond_));
    free_ = std::max(free_, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
    std::this_thread::sleep_until(free_);
  }

 private:
  const int image_;
  const uint64_t bytesPerSecond_;
  Clock::time_point free_;
};

LimitedDisk& disk() {
  return *static_cast<LimitedDisk*>(fuse_get_context()->private_data);
}

int orError(ssize_t result) {
  return result < 0 ? -errno : static_cast<int>(result);
}

// What is mounted is one file: every path is its own.
int attributesOf(const char*, struct stat* attributes, fuse_file_info*) {
  return orError(::fstat(disk().image(), attributes));
}

int openImage(const char*, fuse_file_info* file) {
  // The kernel keeps nothing of it: what the loop device asks for comes here.
  file->direct_io = 1;
  return 0;
}

int readImage(const char*, char* to, size_t size, off_t offset, fuse_file_info*) {
  disk().pass(size);
  return orError(::pread(disk().image(), to, size, offset));
}

int writeImage(const char*, const char* from, size_t size, off_t offset, fuse_file_info*) {
  disk().pass(size);
  return orError(::pwrite(disk().image(), from, size, offset));
}

int syncImage(const char*, int, fuse_file_info*) {
  return orError(::fdatasync(disk().image()));
}

int usage(const char* problem) {
  std::fprintf(stderr, "tarcil-limited-disk: %s; usage: tarcil-limited-disk IMAGE FILE BYTES_PER_SECOND\n",
               problem);
  return 2;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return usage("three arguments are wanted");
  uint64_t bytesPerSecond = 0;
  const char* const end = words[3] + std::strlen(words[3]);
  if (const auto read = std::from_chars(words[3], end, bytesPerSecond);
      read.ptr != end || read.ec != std::errc() || bytesPerSecond == 0) {
    return usage("BYTES_PER_SECOND is no whole number above 0");
  }
  const int image = ::open(words[1], O_RDWR | O_CLOEXEC);
  if (image < 0) {
    std::fprintf(stderr, "tarcil-limited-disk: %s: %s\n", words[1], std::strerror(errno));
    return 2;
  }
  // Memory that is to be freed may have to be written through here first. Where the kernel does not know
  // that, it is as before.
  ::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
  fuse_operations operations{};
  operations.getattr = attributesOf;
  operations.open = openImage;
  operations.read = readImage;
  operations.write = writeImage;
  operations.fsync = syncImage;
  LimitedDisk limited(image, bytesPerSecond);
  char one[] = "-s", options[] = "-ofsname=tarcil-limited-disk";
  char* arguments[] = {words[0], one, options, words[2]};
  return fuse_main(4, arguments, &operations, &limited);
}
