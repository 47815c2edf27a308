#include "monitor/container/task_output.h"

#include <fcntl.h>
#include <kj/debug.h>
#include <kj/io.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <system_error>

#include "monitor/container/own_files.h"
#include "shim/plan.h"

namespace tarcil {
namespace {

Error failure(const std::string& file) {
  return {ErrorCode::kInternal, "cannot read '" + file + "': " + std::generic_category().message(errno)};
}

// Where the file's data begins, at or behind `offset`: older output is a hole in front of it. Beyond the end,
// and on file systems that know no holes: `offset` itself.
uint64_t dataFrom(int fd, uint64_t offset) {
  const off_t found = ::lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
  return found < 0 ? offset : static_cast<uint64_t>(found);
}

// What is read while its beginning is dropped may have the hole's zeros in it, so it is looked at again.
Result<OutputPart> readPart(const std::string& file, int fd, uint64_t offset, size_t max) {
  for (;;) {
    offset = dataFrom(fd, offset);
    auto text = readBytes(file, fd, offset, max);
    if (!text) return text.error();
    if (dataFrom(fd, offset) == offset) return OutputPart{offset, std::move(*text)};
  }
}

}  // namespace

Result<OutputPart> readOutput(const std::string& dataDirectory, AllocationId allocation, Stream stream,
                              uint64_t offset, size_t max) {
  const char* name = stream == Stream::kStdout ? "/stdout" : "/stderr";
  for (const char* place : {"/tasks/", "/done/"}) {
    const std::string directory = dataDirectory + place + std::to_string(allocation);
    const std::string file = directory + name;
    kj::AutoCloseFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (fd.get() >= 0) return readPart(file, fd, offset, max);
    if (errno != ENOENT) return failure(file);
    // The file comes with the first byte.
    if (::access(directory.c_str(), F_OK) == 0) return OutputPart{offset, {}};
  }
  return notFound("the output of allocation " + std::to_string(allocation) + " is not kept here (any more)");
}

void tellTaken(const std::string& dataDirectory, AllocationId allocation, Stream stream, uint64_t offset) {
  const std::string fifo = dataDirectory + "/tasks/" + std::to_string(allocation) + "/" + kTakenFifo;
  const kj::AutoCloseFd fd(::open(fifo.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  const OutputTaken news{stream == Stream::kStdout ? 0u : 1u, 0, offset};
  if (fd.get() < 0 || ::write(fd, &news, sizeof news) == sizeof news) return;
  KJ_LOG(WARNING, "a task was not told that its output has arrived", allocation,
         std::generic_category().message(errno));
}

}  // namespace tarcil
