#include "deploy/free_ports.h"

#include <arpa/inet.h>
#include <kj/io.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace tarcil {
namespace {

struct Held {
  kj::AutoCloseFd socket;
  uint16_t port = 0;
};

// 0: it is taken.
Held hold(uint16_t wanted) {
  Held held{kj::AutoCloseFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  const int yes = 1;
  // As those have it who are to listen there: a connection that has just ended does not keep the port.
  ::setsockopt(held.socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(wanted);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(held.socket.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      ::getsockname(held.socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0)
    held.port = ntohs(address.sin_port);
  return held;
}

Error none(const char* purpose) {
  return invalid(std::string("no port of 127.0.0.1 is free for ") + purpose);
}

}  // namespace

Result<uint16_t> freePort(uint16_t wanted, const char* purpose) {
  for (const uint16_t port : {wanted, uint16_t{0}}) {
    if (const Held held = hold(port); held.port != 0) return held.port;
  }
  return none(purpose);
}

Result<std::vector<uint16_t>> freePorts(size_t count, const char* purpose) {
  std::vector<Held> held;
  std::vector<uint16_t> ports;
  for (size_t i = 0; i < count; ++i) {
    held.push_back(hold(0));
    if (held.back().port == 0) return none(purpose);
    ports.push_back(held.back().port);
  }
  return ports;
}

}  // namespace tarcil
