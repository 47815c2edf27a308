#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "classifier/kernels/kernels.h"
#include "classifier/kernels/mapping.h"

namespace tarcil {
namespace {

constexpr size_t kPieceBytes = size_t{64} << 10;
constexpr int kPiecesOfABurst = 4;

void require(bool isDone, const char* what) {
  if (!isDone)
    throw std::runtime_error(std::string(what) + " on the loopback interface: " + std::strerror(errno));
}

// A file descriptor, closed at the end.
class Socket final {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

int connected(int listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  require(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0, "an address");
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(fd >= 0, "a socket");
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
    ::close(fd);
    require(false, "connecting");
  }
  return fd;
}

int listening() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(fd >= 0, "a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(fd, 1) != 0) {
    ::close(fd);
    require(false, "listening");
  }
  return fd;
}

class NetworkKernel final : public Kernel {
 public:
  NetworkKernel()
      : listener_(listening()),
        from_(connected(listener_.fd())),
        to_(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC)),
        piece_(kPieceBytes) {
    require(to_.fd() >= 0, "a connection");
    const int on = 1;
    ::setsockopt(from_.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  void set(int) override {}

  // Sends what the connection takes, then receives all of it: one thread is both ends, and never waits
  // for itself.
  double burst() override {
    double bytes = 0;
    for (int i = 0; i < kPiecesOfABurst; ++i) {
      const ssize_t sent = ::send(from_.fd(), piece_.data(), piece_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      require(sent > 0, "sending");
      for (ssize_t left = sent; left > 0;) {
        const ssize_t got = ::recv(to_.fd(), piece_.data(), static_cast<size_t>(left), 0);
        require(got > 0, "receiving");
        left -= got;
      }
      bytes += static_cast<double>(sent);
    }
    return bytes;
  }

 private:
  const Socket listener_, from_, to_;
  std::vector<char> piece_;
};

}  // namespace

std::unique_ptr<Kernel> makeNetworkKernel() {
  return std::make_unique<NetworkKernel>();
}

}  // namespace tarcil
