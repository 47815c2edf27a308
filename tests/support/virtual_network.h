// Several hosts on one machine: each has a network namespace, and this process is the switch between them,
// which can hold packets back, lose them, and cut a host off. So a network that fails is had on kernels
// without netem too.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "core/base/rng.h"

namespace tarcil {

// All of it is gone with the object. Throws std::runtime_error where it cannot be made.
class VirtualNetwork final {
 public:
  explicit VirtualNetwork(const std::vector<std::string>& hosts);
  ~VirtualNetwork();
  VirtualNetwork(const VirtualNetwork&) = delete;
  VirtualNetwork& operator=(const VirtualNetwork&) = delete;

  // The host's IPv4 address.
  std::string addressOf(const std::string& host) const;
  // What to put before the words of a command so that it runs on the host; files and processes are
  // this machine's.
  std::vector<std::string> runOn(const std::string& host) const;

  // From here on no packet comes from the host or gets there; nobody is told.
  void cut(const std::string& host);
  void heal(const std::string& host);
  // Each packet between two hosts takes so long, and is lost with this probability.
  void degrade(std::chrono::milliseconds delay, double loss);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Host {
    std::string name, space, address;
    int tap = -1;
    bool isCut = false;
  };
  // A frame on its way to all hosts but `from`.
  struct Frame {
    Time due;
    uint64_t number = 0;  // frames of the same time stay in order
    size_t from = 0;
    std::vector<uint8_t> bytes;
    bool operator>(const Frame& other) const {
      return due != other.due ? due > other.due : number > other.number;
    }
  };

  void add(const std::string& name, size_t number);
  size_t indexOf(const std::string& name) const;
  void forward();  // the thread's
  void receive(size_t from);
  void deliver(const Frame& frame);

  std::vector<Host> hosts_;
  int wake_ = -1;     // an eventfd: the thread is to end
  std::mutex mutex_;  // guards isCut of hosts, and what follows
  std::chrono::milliseconds delay_{0};
  double loss_ = 0;
  Rng rng_{1};  // of the thread alone, as the rest
  uint64_t frames_ = 0;
  std::priority_queue<Frame, std::vector<Frame>, std::greater<>> onTheirWay_;
  std::thread thread_;
};

// Why no such network can be made here; empty where it can.
std::string whyNoVirtualNetwork();

#define SKIP_WITHOUT_VIRTUAL_NETWORK() \
  if (const std::string reason = whyNoVirtualNetwork(); !reason.empty()) GTEST_SKIP() << reason

}  // namespace tarcil
