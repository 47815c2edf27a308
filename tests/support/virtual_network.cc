#include "tests/support/virtual_network.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "tests/support/process.h"

namespace tarcil {
namespace {

constexpr char kIp[] = "/usr/sbin/ip";
constexpr char kTun[] = "/dev/net/tun";
constexpr size_t kLargestFrame = 65'536;

void ip(std::vector<std::string> words) {
  words.insert(words.begin(), kIp);
  const ProcessResult result = runProcess(words, {});
  if (result.exitCode == 0) return;
  std::string line;
  for (const std::string& word : words) line += word + " ";
  throw std::runtime_error(line + "failed: " + result.err);
}

int openTap(const std::string& device) {
  const int fd = ::open(kTun, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error(std::string(kTun) + ": " + strerror(errno));
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(fd, TUNSETIFF, &request) != 0) {
    const int error = errno;
    ::close(fd);
    throw std::runtime_error("TUNSETIFF " + device + ": " + strerror(error));
  }
  return fd;
}

}  // namespace

VirtualNetwork::VirtualNetwork(const std::vector<std::string>& hosts) : wake_(::eventfd(0, EFD_CLOEXEC)) {
  for (size_t i = 0; i < hosts.size(); ++i) add(hosts[i], i);
  thread_ = std::thread([this]() { forward(); });
}

VirtualNetwork::~VirtualNetwork() {
  const uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) == sizeof one) thread_.join();
  for (const Host& host : hosts_) {
    ::close(host.tap);
    runProcess({kIp, "netns", "delete", host.space}, {});
  }
  ::close(wake_);
}

void VirtualNetwork::add(const std::string& name, size_t number) {
  const std::string id = std::to_string(::getpid()) + "-" + std::to_string(number);
  const std::string device = "tt" + id;  // short: 15 letters at most
  Host& host = hosts_.emplace_back(Host{name, "tarcil-" + id, "10.77.0." + std::to_string(number + 1)});
  ip({"netns", "add", host.space});
  host.tap = openTap(device);
  ip({"link", "set", device, "netns", host.space});
  ip({"-n", host.space, "addr", "add", host.address + "/24", "dev", device});
  ip({"-n", host.space, "link", "set", device, "up"});
  ip({"-n", host.space, "link", "set", "lo", "up"});
}

std::string VirtualNetwork::addressOf(const std::string& name) const {
  return hosts_[indexOf(name)].address;
}

// `ip netns exec` would hide the cgroups below /sys.
std::vector<std::string> VirtualNetwork::runOn(const std::string& name) const {
  return {"/usr/bin/nsenter", "--net=/run/netns/" + hosts_[indexOf(name)].space};
}

size_t VirtualNetwork::indexOf(const std::string& name) const {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].name == name) return i;
  }
  throw std::runtime_error("no host is called " + name);
}

void VirtualNetwork::cut(const std::string& name) {
  const std::lock_guard lock(mutex_);
  hosts_[indexOf(name)].isCut = true;
}

void VirtualNetwork::heal(const std::string& name) {
  const std::lock_guard lock(mutex_);
  hosts_[indexOf(name)].isCut = false;
}

void VirtualNetwork::degrade(std::chrono::milliseconds delay, double loss) {
  const std::lock_guard lock(mutex_);
  delay_ = delay;
  loss_ = loss;
}

// --- The switch -------------------------------------------------------------------------------------------

void VirtualNetwork::forward() {
  std::vector<pollfd> watched{{wake_, POLLIN, 0}};
  for (const Host& host : hosts_) watched.push_back({host.tap, POLLIN, 0});
  while (true) {
    int patience = -1;
    if (!onTheirWay_.empty()) {
      const auto left = onTheirWay_.top().due - std::chrono::steady_clock::now();
      patience = std::max(0, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
    }
    if (::poll(watched.data(), watched.size(), patience) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (watched[i + 1].revents != 0) receive(i);
    }
    while (!onTheirWay_.empty() && onTheirWay_.top().due <= std::chrono::steady_clock::now()) {
      deliver(onTheirWay_.top());
      onTheirWay_.pop();
    }
  }
}

void VirtualNetwork::receive(size_t from) {
  std::vector<uint8_t> bytes(kLargestFrame);
  for (ssize_t size; (size = ::read(hosts_[from].tap, bytes.data(), bytes.size())) > 0;) {
    if (hosts_[from].isCut || rng_.unit() < loss_) continue;
    const auto end = bytes.begin() + size;
    onTheirWay_.push({std::chrono::steady_clock::now() + delay_, ++frames_, from, {bytes.begin(), end}});
  }
}

// A host's kernel drops what is not for it. What does not fit into a host's queue is lost, as on a real wire.
void VirtualNetwork::deliver(const Frame& frame) {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (i == frame.from || hosts_[i].isCut) continue;
    if (::write(hosts_[i].tap, frame.bytes.data(), frame.bytes.size()) < 0) continue;
  }
}

std::string whyNoVirtualNetwork() {
  if (::geteuid() != 0) return "making network namespaces takes root";
  if (::access(kIp, X_OK) != 0) return std::string(kIp) + " is not there: install iproute2";
  try {
    const VirtualNetwork network({"only"});
    return "";
  } catch (const std::runtime_error& problem) {
    return std::string("no virtual network can be made here: ") + problem.what();
  }
}

}  // namespace tarcil
