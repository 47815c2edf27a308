// An executor: a process that runs one short task after the other (docs/late-binding.md, "Executors"). A task
// of this one is a number of microseconds to compute for, as text.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

namespace {

// Numbers travel with the lowest byte first.
uint64_t numberAt(const std::string& bytes, size_t at, size_t count) {
  uint64_t number = 0;
  for (size_t i = count; i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

void append(std::string& to, uint64_t number, int count) {
  for (int i = 0; i < count; ++i) to += static_cast<char>(number >> (8 * i) & 0xff);
}

bool readAll(int socket, std::string& bytes) {
  for (size_t got = 0; got < bytes.size();) {
    const ssize_t size = ::read(socket, bytes.data() + got, bytes.size() - got);
    if (size <= 0) return false;
    got += static_cast<size_t>(size);
  }
  return true;
}

bool send(int socket, char kind, const std::string& body) {
  std::string message;
  append(message, 1 + body.size(), 4);
  message += kind + body;
  return ::write(socket, message.data(), message.size()) == static_cast<ssize_t>(message.size());
}

// Runs one task; its exit code.
int32_t work(const std::string& what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(std::atol(what.c_str()));
  while (std::chrono::steady_clock::now() < end) {
  }
  return 0;
}

int connectTo(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? socket : -1;
}

}  // namespace

int main() {
  const char* path = std::getenv("TARCIL_EXECUTOR_SOCKET");
  const char* key = std::getenv("TARCIL_EXECUTOR_KEY");
  if (path == nullptr || key == nullptr) {
    std::cerr << "to be started by a monitor, as the executor of a late-bound job\n";
    return 2;
  }
  const int socket = connectTo(path);
  if (socket < 0 || !send(socket, 'H', key)) return 1;
  for (std::string head(4, '\0'); readAll(socket, head);) {
    std::string message(numberAt(head, 0, 4), '\0');
    if (!readAll(socket, message)) break;
    if (message[0] != 'T') continue;
    // After the kind: number of the task, its index, tasks of the job, what to do.
    std::string end = message.substr(1, 8);
    append(end, static_cast<uint32_t>(work(message.substr(17))), 4);
    if (!send(socket, 'E', end)) break;
  }
  return 0;
}
