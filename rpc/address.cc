#include "rpc/address.h"

#include <fcntl.h>
#include <kj/debug.h>
#include <kj/io.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr std::string_view kUnix = "unix:";
// Of a socket's file, so that it fits into sockaddr_un behind "/proc/self/fd/N/".
constexpr size_t kMaxFileName = 80;
constexpr unsigned long kLastPort = 65'535;

bool isUnix(const std::string& address) {
  return address.starts_with(kUnix);
}
std::string pathOf(const std::string& address) {
  return address.substr(kUnix.size());
}

// A sockaddr_un for any path: the directory is opened, and the socket named through /proc, which is
// always short.
struct UnixAddress {
  explicit UnixAddress(const std::string& path) {
    std::string name = path;
    if (name.size() >= sizeof(address.sun_path)) {
      const size_t slash = path.rfind('/');
      const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
      const int fd = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (fd < 0) KJ_FAIL_SYSCALL("open", errno, folder.c_str());
      directory = kj::AutoCloseFd(fd);
      name = "/proc/self/fd/" + std::to_string(fd) + path.substr(slash == std::string::npos ? 0 : slash);
      KJ_REQUIRE(name.size() < sizeof(address.sun_path), "the socket's name is too long", path.c_str());
    }
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, name.c_str(), name.size() + 1);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  }

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t size = 0;
  kj::AutoCloseFd directory;
};

kj::AutoCloseFd unixSocket() {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) KJ_FAIL_SYSCALL("socket", errno);
  return kj::AutoCloseFd(fd);
}

// What people are told of a failed system call or lookup: KJ's text without the call and its arguments.
std::string reasonOf(const kj::Exception& exception) {
  std::string text = exception.getDescription().cStr();
  text.resize(std::min(text.find(';'), text.size()));
  const size_t call = text.find("): ");
  return call == std::string::npos ? text : text.substr(call + 3);
}

kj::Exception cannotConnect(const std::string& address, const std::string& why) {
  return kj::Exception(kj::Exception::Type::DISCONNECTED, __FILE__, __LINE__,
                       kj::str("cannot connect to ", address.c_str(), ": ", why.c_str()));
}

kj::Exception cannotListen(const std::string& address, const std::string& why) {
  return toException(invalid("cannot listen at " + address + ": " + why));
}

// Throws DISCONNECTED where nobody listens.
kj::AutoCloseFd connectUnix(const std::string& path) {
  UnixAddress to(path);
  kj::AutoCloseFd fd = unixSocket();
  if (::connect(fd.get(), to.get(), to.size) == 0) return fd;
  const int error = errno;
  kj::throwFatalException(cannotConnect("unix:" + path, strerror(error)));
}

constexpr auto kTakeOwnership = kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
                                kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC |
                                kj::LowLevelAsyncIoProvider::ALREADY_NONBLOCK;

bool somebodyListens(const std::string& path) {
  UnixAddress to(path);
  kj::AutoCloseFd fd = unixSocket();
  return ::connect(fd.get(), to.get(), to.size) == 0;
}

Listener listenUnix(kj::LowLevelAsyncIoProvider& io, const std::string& address) {
  const std::string path = pathOf(address);
  if (::access(path.c_str(), F_OK) == 0 && somebodyListens(path)) {
    kj::throwFatalException(cannotListen(address, "somebody does already; is the cluster running?"));
  }
  ::unlink(path.c_str());
  UnixAddress at(path);
  kj::AutoCloseFd fd = unixSocket();
  // The socket file gets its permissions at bind; there must be no moment at which others may connect.
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(fd.get(), at.get(), at.size);
  const int error = errno;
  ::umask(mask);
  if (bound != 0) kj::throwFatalException(cannotListen(address, strerror(error)));
  KJ_SYSCALL(::listen(fd.get(), SOMAXCONN));
  return {io.wrapListenSocketFd(kj::mv(fd), kTakeOwnership), address};
}

// --- What is wrong with an address; empty where nothing is ---

std::string problemOfPath(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  if (file.empty()) return "has no path of a socket";
  if (path.find('\0') != std::string::npos) return "has a zero byte in its path";
  if (file.size() > kMaxFileName) {
    return "has a file name of " + std::to_string(file.size()) + " bytes, at most " +
           std::to_string(kMaxFileName) + " can be used";
  }
  return path.size() >= PATH_MAX ? "is longer than a path can be" : "";
}

std::string problemOfHost(const std::string& host) {
  if (host.empty()) return "has no host";
  const bool isBracketed = host.front() == '[' && host.back() == ']';
  if (host.find('/') != std::string::npos) return "has no usable host";
  if (!isBracketed && host.find(':') != std::string::npos) return "an IPv6 host stands in brackets";
  static constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_*:%";
  const std::string bare = isBracketed ? host.substr(1, host.size() - 2) : host;
  return bare.empty() || bare.find_first_not_of(kAllowed) != std::string::npos ? "has no usable host" : "";
}

std::string problemOfTcp(const std::string& address, AddressUse use) {
  const size_t colon = address.rfind(':');
  if (address.empty()) return "is empty";
  if (colon == std::string::npos || address.back() == ']') return "has no port";
  if (std::string problem = problemOfHost(address.substr(0, colon)); !problem.empty()) return problem;
  const std::string port = address.substr(colon + 1);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos ||
      std::stoul(port) > kLastPort) {
    return "has no port from 1 to " + std::to_string(kLastPort);
  }
  if (use == AddressUse::kConnect && std::stoul(port) == 0) return "nobody can be reached at port 0";
  return "";
}

}  // namespace

Status checkAddress(const std::string& address, AddressUse use) {
  const std::string problem = isUnix(address) ? problemOfPath(pathOf(address)) : problemOfTcp(address, use);
  if (problem.empty()) return {};
  return invalid("address '" + address + "': " + problem + "; write host:port or unix:/path/to/socket");
}

bool isTcp(const std::string& address) {
  return !isUnix(address);
}

bool staysOnThisMachine(const std::string& address) {
  return isUnix(address) || address.starts_with("127.") || address.starts_with("localhost:") ||
         address.starts_with("[::1]:");
}

Result<std::vector<std::string>> parseAddresses(const std::string& list) {
  std::vector<std::string> addresses;
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t end = std::min(list.find(',', begin), list.size());
    addresses.push_back(list.substr(begin, end - begin));
    if (Status status = checkAddress(addresses.back(), AddressUse::kConnect); !status.ok())
      return status.error();
    begin = end + 1;
  }
  return addresses;
}

kj::Promise<kj::Own<kj::AsyncIoStream>> connectTo(kj::Network& network, kj::LowLevelAsyncIoProvider& io,
                                                  const std::string& address) {
  if (isUnix(address)) {
    return kj::evalNow(
        [&io, &address]() { return io.wrapSocketFd(connectUnix(pathOf(address)), kTakeOwnership); });
  }
  return network.parseAddress(kj::StringPtr(address.c_str()))
      .then([](kj::Own<kj::NetworkAddress>&& parsed) {
        auto connected = parsed->connect();
        return connected.attach(kj::mv(parsed));
      })
      .catch_([address](kj::Exception&& exception) -> kj::Promise<kj::Own<kj::AsyncIoStream>> {
        return cannotConnect(address, reasonOf(exception));
      });
}

void openToAll(const Listener& listener) {
  const std::string path = pathOf(listener.address);
  if (::chmod(path.c_str(), 0666) != 0)
    kj::throwFatalException(cannotListen(listener.address, strerror(errno)));
}

kj::Promise<Listener> listenAt(kj::Network& network, kj::LowLevelAsyncIoProvider& io,
                               const std::string& address) {
  if (isUnix(address)) return listenUnix(io, address);
  return network.parseAddress(kj::StringPtr(address.c_str()))
      .then([address](kj::Own<kj::NetworkAddress>&& parsed) -> Listener {
        auto receiver = parsed->listen();
        const std::string host = address.substr(0, address.rfind(':'));
        std::string bound = host + ":" + std::to_string(receiver->getPort());
        return {kj::mv(receiver), kj::mv(bound)};
      })
      .catch_([address](kj::Exception&& exception) -> Listener {
        kj::throwFatalException(cannotListen(address, reasonOf(exception)));
      });
}

}  // namespace tarcil
