#include "monitor/task_output.h"

#include <fcntl.h>
#include <kj/io.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <system_error>

namespace tarcil {
namespace {

Error failure(const std::string& file) {
  return {ErrorCode::kInternal, "cannot read '" + file + "': " + std::generic_category().message(errno)};
}

Result<std::string> readPart(const std::string& file, int fd, uint64_t offset, size_t max) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return failure(file);
  const uint64_t size = static_cast<uint64_t>(info.st_size);
  max = offset >= size ? 0 : std::min<uint64_t>(max, size - offset);
  std::string text(max, '\0');
  size_t got = 0;
  while (got < max) {
    const ssize_t count = ::pread(fd, text.data() + got, max - got, static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(file);
    if (count == 0) break;
    got += static_cast<size_t>(count);
  }
  text.resize(got);
  return text;
}

}  // namespace

Result<std::string> readOutput(const std::string& dataDirectory, AllocationId allocation, Stream stream,
                               uint64_t offset, size_t max) {
  const char* name = stream == Stream::kStdout ? "/stdout" : "/stderr";
  for (const char* place : {"/tasks/", "/done/"}) {
    const std::string directory = dataDirectory + place + std::to_string(allocation);
    const std::string file = directory + name;
    kj::AutoCloseFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (fd.get() >= 0) return readPart(file, fd, offset, max);
    if (errno != ENOENT) return failure(file);
    // The file comes with the first byte.
    if (::access(directory.c_str(), F_OK) == 0) return std::string();
  }
  return notFound("the output of allocation " + std::to_string(allocation) + " is not kept here (any more)");
}

}  // namespace tarcil
