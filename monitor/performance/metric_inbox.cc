#include "monitor/performance/metric_inbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "monitor/logic/performance/metric_text.h"

namespace tarcil {
namespace {

// Of one call: what a flood can cost.
constexpr int kMaxRead = 8;
constexpr int kMaxThrown = 1024;
// Of datagrams that wait: what a flood can take of the kernel's memory.
constexpr int kSocketBytes = 64 << 10;

Error failedTo(const std::string& what) {
  return notFound("cannot " + what + ": " + std::generic_category().message(errno));
}

}  // namespace

// It is made where nobody else can write, so that its rights are set on nothing but itself, and moved: that
// replaces whatever has its name, and follows nothing.
Result<std::unique_ptr<MetricInbox>> MetricInbox::open(const std::string& folder,
                                                       const std::string& scratch) {
  kj::AutoCloseFd to(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (to.get() < 0) return failedTo("open the task's folder");
  const kj::AutoCloseFd from(::open(scratch.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (from.get() < 0) return failedTo("open the task's folder");
  kj::AutoCloseFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failedTo("make a socket");
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &kSocketBytes, sizeof kSocketBytes);
  // The folder's own path may be longer than an address may be.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", from.get(), kMetricSocketName);
  ::unlinkat(from, kMetricSocketName, 0);
  if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::fchmodat(from, kMetricSocketName, 0666, 0) != 0 ||
      ::renameat(from, kMetricSocketName, to, kMetricSocketName) != 0) {
    return failedTo("put a socket into the task's folder");
  }
  return std::unique_ptr<MetricInbox>(new MetricInbox(kj::mv(to), kj::mv(socket)));
}

MetricInbox::MetricInbox(kj::AutoCloseFd folder, kj::AutoCloseFd socket)
    : folder_(kj::mv(folder)), socket_(kj::mv(socket)) {}

std::optional<double> MetricInbox::take() {
  const auto said = takeDatagrams();
  const auto written = takeFile();
  return said ? said : written;
}

std::optional<double> MetricInbox::takeDatagrams() {
  std::optional<double> latest;
  char text[kMaxMetricBytes + 1];
  for (int i = 0; i < kMaxRead + kMaxThrown; ++i) {
    const ssize_t size = ::recv(socket_, text, sizeof text, MSG_DONTWAIT);
    if (size < 0) break;
    if (i >= kMaxRead) {
      ++dropped_;
    } else if (const auto value = read("datagram", {text, static_cast<size_t>(size)})) {
      latest = value;
    }
  }
  return latest;
}

// Read when it was written since: a value that nobody has renewed says nothing of now.
std::optional<double> MetricInbox::takeFile() {
  const kj::AutoCloseFd file(
      ::openat(folder_, kMetricFileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat info {};
  if (file.get() < 0 || ::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const int64_t changed = info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
  if (changed == fileChanged_) return std::nullopt;
  char text[kMaxMetricBytes + 1];
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  // Empty: it is just being rewritten.
  if (size <= 0) return std::nullopt;
  fileChanged_ = changed;
  return read("file", {text, static_cast<size_t>(size)});
}

std::optional<double> MetricInbox::read(const char* from, std::string_view text) {
  const auto value = metricIn(text);
  if (value) return *value;
  if (!named_) problem_ = std::string("its metric's ") + from + ": " + value.error().message;
  named_ = true;
  return std::nullopt;
}

std::optional<std::string> MetricInbox::problem() {
  return std::exchange(problem_, std::nullopt);
}

}  // namespace tarcil
