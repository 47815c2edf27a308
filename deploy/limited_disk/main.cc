// tarcil-limited-disk IMAGE FILE BYTES_PER_SECOND: shows IMAGE as FILE, which is there already, through FUSE,
// so that reading and writing together pass at no more than so many bytes a second, whoever does it. Returns
// when FILE can be used, and says the number of the process that goes on in the background until FILE is
// unmounted. Started by deploy/slices.
#define FUSE_USE_VERSION 31

#include <fcntl.h>
#include <fuse3/fuse.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
  // `whenReady` is written to, and closed, once FILE can be used.
  LimitedDisk(int image, uint64_t bytesPerSecond, int whenReady)
      : image_(image), bytesPerSecond_(bytesPerSecond), whenReady_(whenReady) {}

  int image() const { return image_; }

  // From here on it says nothing to anybody.
  void ready() const {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
    [[maybe_unused]] const ssize_t written = ::write(whenReady_, "r", 1);
    ::close(whenReady_);
  }

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
  const int whenReady_;
  Clock::time_point free_;
};

LimitedDisk& disk() {
  return *static_cast<LimitedDisk*>(fuse_get_context()->private_data);
}

int orError(ssize_t result) {
  return result < 0 ? -errno : static_cast<int>(result);
}

void* startDisk(fuse_conn_info*, fuse_config*) {
  disk().ready();
  return &disk();
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

int serve(char** words, int image, uint64_t bytesPerSecond, int whenReady) {
  ::setsid();
  // Memory that is to be freed may have to be written through here first. Where the kernel does not know
  // that, it is as before.
  ::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0);
  fuse_operations operations{};
  operations.init = startDisk;
  operations.getattr = attributesOf;
  operations.open = openImage;
  operations.read = readImage;
  operations.write = writeImage;
  operations.fsync = syncImage;
  LimitedDisk limited(image, bytesPerSecond, whenReady);
  char one[] = "-s", here[] = "-f", options[] = "-ofsname=tarcil-limited-disk";
  char* arguments[] = {words[0], one, here, options, words[2]};
  return fuse_main(5, arguments, &operations, &limited);
}

// Waits until it serves, or has failed, which it has said then.
int announce(pid_t server, int whenReady) {
  char byte = 0;
  if (::read(whenReady, &byte, 1) == 1) {
    std::printf("%d\n", server);
    return 0;
  }
  int status = 0;
  ::waitpid(server, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1;
}

int usage(const char* problem) {
  std::fprintf(stderr, "tarcil-limited-disk: %s; usage: tarcil-limited-disk IMAGE FILE BYTES_PER_SECOND\n",
               problem);
  return 2;
}

int failed(const char* what) {
  std::fprintf(stderr, "tarcil-limited-disk: %s: %s\n", what, std::strerror(errno));
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
  if (image < 0) return failed(words[1]);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("pipe");
  const pid_t server = ::fork();
  if (server < 0) return failed("fork");
  ::close(ends[server == 0 ? 0 : 1]);
  return server == 0 ? serve(words, image, bytesPerSecond, ends[1]) : announce(server, ends[0]);
}
