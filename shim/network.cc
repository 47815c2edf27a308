#include "shim/network.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

#include <initializer_list>

namespace tarcil {
namespace {

constexpr uint32_t kFirstAddress = 100u << 24 | 64u << 16;  // 100.64.0.0, RFC 6598
constexpr uint32_t kNets = 1u << 20;                        // of four addresses each, up to /10
constexpr unsigned char kPrefix = 30;
constexpr int kLoopback = 1;  // the first interface of any namespace

uint32_t networkOrder(uint32_t value) {
  return __builtin_bswap32(value);
}

// One request to the routing tables, built in place.
class Request {
 public:
  template <typename Body>
  Request(uint16_t type, uint16_t flags, const Body& body) {
    header()->nlmsg_type = type;
    header()->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
    size_ = NLMSG_HDRLEN;
    append(&body, sizeof body);
  }

  void add(uint16_t type, const void* data, size_t size) {
    const rtattr attribute{static_cast<uint16_t>(RTA_LENGTH(size)), type};
    append(&attribute, sizeof attribute);
    append(data, size);
  }
  template <typename Value>
  void addValue(uint16_t type, const Value& value) {
    add(type, &value, sizeof value);
  }
  void addText(uint16_t type, const char* text) {
    size_t size = 1;
    for (const char* at = text; *at != '\0'; ++at) ++size;
    add(type, text, size);
  }

  // What is added until close() is inside this attribute.
  size_t open(uint16_t type) {
    const size_t at = size_;
    add(type, nullptr, 0);
    return at;
  }
  void close(size_t at) {
    reinterpret_cast<rtattr*>(bytes_ + at)->rta_len = static_cast<uint16_t>(size_ - at);
  }
  template <typename Body>
  void appendBody(const Body& body) {
    append(&body, sizeof body);
  }

  // 0, or an error number with its sign changed. The answer, if it is no such verdict, is in `reply`.
  long send(int fd, char* reply = nullptr, size_t room = 0, long* got = nullptr) {
    header()->nlmsg_len = static_cast<uint32_t>(size_);
    char verdict[1024];
    if (reply == nullptr) {
      header()->nlmsg_flags |= NLM_F_ACK;
      reply = verdict;
      room = sizeof verdict;
    }
    const long sent = sys::call(SYS_sendto, fd, bytes_, size_, 0, 0, 0);
    if (sent < 0) return sent;
    const long size = sys::call(SYS_recvfrom, fd, reply, room, 0, 0, 0);
    if (size < static_cast<long>(sizeof(nlmsghdr))) return size < 0 ? size : -EIO;
    if (got != nullptr) *got = size;
    const auto* answer = reinterpret_cast<const nlmsghdr*>(reply);
    if (answer->nlmsg_type != NLMSG_ERROR) return 0;
    return reinterpret_cast<const nlmsgerr*>(reply + NLMSG_HDRLEN)->error;
  }

 private:
  nlmsghdr* header() { return reinterpret_cast<nlmsghdr*>(bytes_); }
  void append(const void* data, size_t size) {
    const char* from = static_cast<const char*>(data);
    for (size_t i = 0; i < size; ++i) bytes_[size_ + i] = from[i];
    size_ += NLMSG_ALIGN(size);
  }

  alignas(8) char bytes_[512] = {};
  size_t size_ = 0;
};

constexpr ifinfomsg kAnyInterface{};

// eth0 here, and its other end in the host's namespace under the next free name.
long makePair(int requests, const HostNetwork& host) {
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, kAnyInterface);
  request.addText(IFLA_IFNAME, "eth0");
  const size_t info = request.open(IFLA_LINKINFO);
  request.addText(IFLA_INFO_KIND, "veth");
  const size_t data = request.open(IFLA_INFO_DATA);
  const size_t peer = request.open(VETH_INFO_PEER);
  request.appendBody(kAnyInterface);
  request.addText(IFLA_IFNAME, "tarcil%d");
  request.addValue(IFLA_NET_NS_FD, host.nameSpace);
  request.close(peer);
  request.close(data);
  request.close(info);
  return request.send(requests);
}

struct Pair {
  int here = 0;  // numbers of the interfaces, each in its own namespace
  int there = 0;
};

long findPair(int requests, Pair& pair) {
  Request request(RTM_GETLINK, 0, kAnyInterface);
  request.addText(IFLA_IFNAME, "eth0");
  alignas(8) static char reply[16 * 1024];
  long size = 0;
  const long asked = request.send(requests, reply, sizeof reply, &size);
  if (asked < 0) return asked;
  const auto* message = reinterpret_cast<const nlmsghdr*>(reply);
  const auto* info = reinterpret_cast<const ifinfomsg*>(reply + NLMSG_HDRLEN);
  pair.here = info->ifi_index;
  const auto length =
      static_cast<size_t>(size) < message->nlmsg_len ? static_cast<size_t>(size) : message->nlmsg_len;
  for (size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof *info); at + sizeof(rtattr) <= length;) {
    const auto* attribute = reinterpret_cast<const rtattr*>(reply + at);
    if (attribute->rta_type == IFLA_LINK)
      pair.there = *reinterpret_cast<const int*>(reply + at + RTA_LENGTH(0));
    if (attribute->rta_len < sizeof(rtattr)) break;
    at += RTA_ALIGN(attribute->rta_len);
  }
  return pair.here > 0 && pair.there > 0 ? 0 : -EIO;
}

long giveAddress(int requests, int interface, uint32_t address) {
  ifaddrmsg body{};
  body.ifa_family = AF_INET;
  body.ifa_prefixlen = kPrefix;
  body.ifa_index = static_cast<uint32_t>(interface);
  Request request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, body);
  request.addValue(IFA_LOCAL, networkOrder(address));
  request.addValue(IFA_ADDRESS, networkOrder(address));
  return request.send(requests);
}

long raise(int requests, int interface) {
  ifinfomsg body{};
  body.ifi_index = interface;
  body.ifi_flags = body.ifi_change = IFF_UP;
  return Request(RTM_NEWLINK, 0, body).send(requests);
}

long routeVia(int requests, uint32_t gateway) {
  rtmsg body{};
  body.rtm_family = AF_INET;
  body.rtm_table = RT_TABLE_MAIN;
  body.rtm_protocol = RTPROT_STATIC;
  body.rtm_scope = RT_SCOPE_UNIVERSE;
  body.rtm_type = RTN_UNICAST;
  Request request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, body);
  request.addValue(RTA_GATEWAY, networkOrder(gateway));
  return request.send(requests);
}

// A token bucket on what the interface sends: bursts of 10 ms and of a few large packets, and 50 ms
// of waiting.
long limitSending(int requests, int interface, uint64_t bytesPerSecond) {
  if (bytesPerSecond == 0) return 0;
  tcmsg body{};
  body.tcm_family = AF_UNSPEC;
  body.tcm_ifindex = interface;
  body.tcm_parent = TC_H_ROOT;
  const auto bounded = [](uint64_t value) {
    return value < UINT32_MAX ? static_cast<uint32_t>(value) : UINT32_MAX;
  };
  constexpr uint32_t kMinBurst = 256 * 1024;
  const uint32_t tenMilliseconds = bounded(bytesPerSecond / 100);
  const uint32_t burst = tenMilliseconds > kMinBurst ? tenMilliseconds : kMinBurst;
  tc_tbf_qopt parameters{};
  parameters.rate.linklayer = TC_LINKLAYER_ETHERNET;
  parameters.rate.rate = bounded(bytesPerSecond);
  parameters.limit = bounded(burst + bytesPerSecond / 20);
  Request request(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, body);
  request.addText(TCA_KIND, "tbf");
  const size_t options = request.open(TCA_OPTIONS);
  request.addValue(TCA_TBF_PARMS, parameters);
  request.addValue(TCA_TBF_RATE64, bytesPerSecond);
  request.addValue(TCA_TBF_BURST, burst);
  request.close(options);
  return request.send(requests);
}

long openRequests() {
  return sys::call(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

// The failure of the step that failed, or 0.
long connectToHost(int requests, const Plan& plan, const HostNetwork& host) {
  Pair pair;
  long result = makePair(requests, host);
  if (result >= 0) result = findPair(requests, pair);
  if (result < 0) return result;
  const uint32_t net = kFirstAddress + (static_cast<uint32_t>(pair.there) % kNets) * 4;
  const uint64_t rate = plan.header->networkBytesPerSecond;
  result = giveAddress(host.requests, pair.there, net + 1);
  if (result >= 0) result = limitSending(host.requests, pair.there, rate);
  if (result >= 0) result = raise(host.requests, pair.there);
  if (result >= 0) result = giveAddress(requests, pair.here, net + 2);
  if (result >= 0) result = limitSending(requests, pair.here, rate);
  if (result >= 0) result = raise(requests, pair.here);
  if (result >= 0) result = routeVia(requests, net + 1);
  return result;
}

}  // namespace

bool openHostNetwork(const Plan& plan, HostNetwork& host, Report& report) {
  if (plan.header->network != kOwnNetwork) return true;
  host.requests = static_cast<int>(openRequests());
  host.nameSpace = static_cast<int>(sys::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  const int worse = host.requests < 0 ? host.requests : host.nameSpace;
  if (worse < 0) report.fail("reach the host's network", worse);
  return worse >= 0;
}

void closeHostNetwork(HostNetwork& host) {
  for (int* fd : {&host.requests, &host.nameSpace}) {
    if (*fd >= 0) sys::close(*fd);
    *fd = -1;
  }
}

bool setUpNetwork(const Plan& plan, const HostNetwork& host, Report& report) {
  if (plan.header->network == kHostNetwork) return true;
  const long requests = openRequests();
  long result = requests;
  if (result >= 0) result = raise(static_cast<int>(requests), kLoopback);
  if (result >= 0 && plan.header->network == kOwnNetwork)
    result = connectToHost(static_cast<int>(requests), plan, host);
  if (requests >= 0) sys::close(static_cast<int>(requests));
  if (result < 0) report.fail("set up the task's network", result);
  return result >= 0;
}

}  // namespace tarcil
