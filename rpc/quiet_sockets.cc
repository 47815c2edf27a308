#include "rpc/quiet_sockets.h"

#include <fcntl.h>
#include <kj/debug.h>
#include <kj/io.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tarcil {
namespace {

using Observer = kj::UnixEventPort::FdObserver;

constexpr kj::uint kOurs = kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
                           kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC |
                           kj::LowLevelAsyncIoProvider::ALREADY_NONBLOCK;

// A message of Cap'n Proto has one for its table and one for each segment.
constexpr size_t kPiecesAtOnce = 16;

// Of a socket whose buffer was full. The epoll set has one entry for a descriptor: this is another one.
struct Room {
  Room(kj::UnixEventPort& events, int socket)
      : fd(::fcntl(socket, F_DUPFD_CLOEXEC, 0)), observer(events, fd.get(), Observer::OBSERVE_WRITE) {}

  kj::AutoCloseFd fd;
  Observer observer;
};

class QuietStream final : public kj::AsyncIoStream {
 public:
  QuietStream(kj::UnixEventPort& events, int fd)
      : events_(events), fd_(fd), observer_(events, fd, Observer::OBSERVE_READ) {}

  kj::Promise<size_t> tryRead(void* to, size_t least, size_t most) override {
    return readMore(static_cast<kj::byte*>(to), least, most, 0);
  }

  kj::Promise<void> write(const void* data, size_t size) override {
    const auto* bytes = static_cast<const kj::byte*>(data);
    while (size > 0) {
      ssize_t sent = 0;
      KJ_NONBLOCKING_SYSCALL(sent = ::send(fd_.get(), bytes, size, MSG_NOSIGNAL));
      if (sent < 0) return writeLater(bytes, size);
      bytes += sent;
      size -= static_cast<size_t>(sent);
    }
    return kj::READY_NOW;
  }

  // In one call where the socket takes it: the peer is not woken by a part of a message.
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    if (pieces.size() == 0) return kj::READY_NOW;
    std::array<iovec, kPiecesAtOnce> parts;
    const size_t count = std::min(pieces.size(), parts.size());
    for (size_t i = 0; i < count; ++i)
      parts[i] = {const_cast<kj::byte*>(pieces[i].begin()), pieces[i].size()};
    const msghdr message{.msg_name = nullptr,
                         .msg_namelen = 0,
                         .msg_iov = parts.data(),
                         .msg_iovlen = count,
                         .msg_control = nullptr,
                         .msg_controllen = 0,
                         .msg_flags = 0};
    ssize_t sent = 0;
    KJ_NONBLOCKING_SYSCALL(sent = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL));
    size_t done = 0;                                         // pieces
    size_t more = sent < 0 ? 0 : static_cast<size_t>(sent);  // of the next
    while (done < count && more >= pieces[done].size()) more -= pieces[done++].size();
    if (done == pieces.size()) return kj::READY_NOW;
    const auto next = pieces[done].slice(more, pieces[done].size());
    const auto rest = pieces.slice(done + 1, pieces.size());
    return write(next.begin(), next.size()).then([this, rest]() { return write(rest); });
  }

  kj::Promise<void> whenWriteDisconnected() override { return observer_.whenWriteDisconnected(); }
  void shutdownWrite() override { KJ_SYSCALL(::shutdown(fd_.get(), SHUT_WR)); }
  void abortRead() override { ::shutdown(fd_.get(), SHUT_RD); }
  void getsockopt(int level, int option, void* value, kj::uint* length) override {
    socklen_t size = *length;
    KJ_SYSCALL(::getsockopt(fd_.get(), level, option, value, &size));
    *length = size;
  }
  void setsockopt(int level, int option, const void* value, kj::uint length) override {
    KJ_SYSCALL(::setsockopt(fd_.get(), level, option, value, length));
  }
  kj::Maybe<int> getFd() const override { return fd_.get(); }

 private:
  // There is one edge for all that came since the last look: it waits for one only where there is nothing.
  kj::Promise<size_t> readMore(kj::byte* to, size_t least, size_t most, size_t before) {
    while (true) {
      ssize_t got = 0;
      KJ_NONBLOCKING_SYSCALL(got = ::read(fd_.get(), to, most));
      if (got < 0) break;
      const auto size = static_cast<size_t>(got);
      before += size;
      if (size == 0 || size >= least) return before;  // the peer has ended; it is enough
      to += size;
      least -= size;
      most -= size;
    }
    return observer_.whenBecomesReadable().then(
        [this, to, least, most, before]() { return readMore(to, least, most, before); });
  }

  kj::Promise<void> writeLater(const kj::byte* bytes, size_t size) {
    auto room = kj::heap<Room>(events_, fd_.get());
    auto writable = room->observer.whenBecomesWritable();
    return writable.then([this, bytes, size, room = kj::mv(room)]() mutable {
      room = nullptr;
      return write(bytes, size);
    });
  }

  kj::UnixEventPort& events_;
  kj::AutoCloseFd fd_;
  Observer observer_;
};

class QuietReceiver final : public kj::ConnectionReceiver {
 public:
  QuietReceiver(kj::UnixEventPort& events, int fd)
      : events_(events), fd_(fd), observer_(events, fd, Observer::OBSERVE_READ) {}

  kj::Promise<kj::Own<kj::AsyncIoStream>> accept() override {
    const int accepted = ::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) return kj::Own<kj::AsyncIoStream>(kj::heap<QuietStream>(events_, accepted));
    switch (errno) {
      case EAGAIN:
        return observer_.whenBecomesReadable().then([this]() { return accept(); });
      case EINTR:
      case ECONNABORTED:
        return accept();
      default:
        KJ_FAIL_SYSCALL("accept4", errno);
    }
  }
  kj::uint getPort() override { return 0; }
  void getsockopt(int level, int option, void* value, kj::uint* length) override {
    socklen_t size = *length;
    KJ_SYSCALL(::getsockopt(fd_.get(), level, option, value, &size));
    *length = size;
  }
  void setsockopt(int level, int option, const void* value, kj::uint length) override {
    KJ_SYSCALL(::setsockopt(fd_.get(), level, option, value, length));
  }

 private:
  kj::UnixEventPort& events_;
  kj::AutoCloseFd fd_;
  Observer observer_;
};

}  // namespace

kj::Own<kj::AsyncIoStream> QuietSockets::wrapSocketFd(Fd fd, kj::uint flags) {
  if (flags != kOurs) return inner_.wrapSocketFd(fd, flags);
  return kj::heap<QuietStream>(events_, fd);
}

kj::Own<kj::ConnectionReceiver> QuietSockets::wrapListenSocketFd(Fd fd, NetworkFilter& filter,
                                                                 kj::uint flags) {
  if (flags != kOurs) return inner_.wrapListenSocketFd(fd, filter, flags);
  return kj::heap<QuietReceiver>(events_, fd);
}

}  // namespace tarcil
