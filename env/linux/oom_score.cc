#include "env/oom_score.h"

#include <fcntl.h>
#include <kj/io.h>
#include <unistd.h>

#include <string_view>

namespace tarcil {
namespace {

// Of -1000, which is never, to 1000.
constexpr std::string_view kLast = "-900";

}  // namespace

void protectFromOomKiller() {
  const kj::AutoCloseFd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return;
  [[maybe_unused]] const ssize_t written = ::write(file, kLast.data(), kLast.size());
}

}  // namespace tarcil
