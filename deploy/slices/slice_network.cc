#include "deploy/slices/slice_network.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "deploy/slices/slices.h"
#include "deploy/slices/tool.h"

namespace tarcil {
namespace {

constexpr const char* kNamespaces = "/run/netns/";

using Commands = std::vector<std::vector<std::string>>;

Status runAll(const Commands& commands) {
  for (const auto& command : commands) {
    if (auto done = runTool(command); !done) return done.error();
  }
  return {};
}

// What `interface` sends, at most; where it is in a namespace, `ip` enters that first.
std::vector<std::string> limited(std::vector<std::string> command, const std::string& interface,
                                 double bytesPerSecond) {
  // 20 ms of it: large segments pass, and a measurement of a second is off by no more than that.
  const auto rate = static_cast<uint64_t>(bytesPerSecond);
  const uint64_t burst = std::max(uint64_t{65'536}, rate / 50);
  for (const std::string& word :
       {std::string("tc"), std::string("qdisc"), std::string("add"), std::string("dev"), interface,
        std::string("root"), std::string("tbf"), std::string("rate"), fmt::format("{}bps", rate),
        std::string("burst"), fmt::format("{}b", burst), std::string("latency"), std::string("50ms")}) {
    command.push_back(word);
  }
  return command;
}

Status removeInterface(const std::string& name) {
  if (::if_nametoindex(name.c_str()) == 0) return {};
  return runAll({{"ip", "link", "delete", name}});
}

}  // namespace

SliceNetworks::SliceNetworks(const std::string& data)
    : tag_(static_cast<uint32_t>(std::hash<std::string>()(data))) {}

std::string SliceNetworks::bridge() const {
  return fmt::format("tb{:08x}", tag_);
}

// Names of interfaces have 15 characters at most.
std::string SliceNetworks::otherEnd(uint32_t number) const {
  return fmt::format("tb{:08x}.{}", tag_, number);
}

std::string SliceNetworks::interface(uint32_t number) const {
  return fmt::format("ts{:08x}.{}", tag_, number);
}

std::string SliceNetworks::namespaceName(uint32_t number) const {
  return fmt::format("tarcil-{:08x}-{}", tag_, number);
}

std::string SliceNetworks::namespacePath(uint32_t number) const {
  return kNamespaces + namespaceName(number);
}

std::string SliceNetworks::host(uint32_t last) const {
  return fmt::format("198.{}.{}.{}", 18 + tag_ / 256 % 2, tag_ % 256, last);
}

Status SliceNetworks::make() const {
  const auto taken = runTool({"ip", "-o", "address", "show", "to", host(0) + "/24"});
  if (!taken) return taken.error();
  if (!taken->empty()) {
    return invalid("--slices: another cluster on this machine has the addresses " + host(0) +
                   "/24, which follow from the folder's name; choose another with --data");
  }
  return runAll({{"ip", "link", "add", bridge(), "type", "bridge"},
                 {"ip", "address", "add", machineAddress() + "/24", "dev", bridge()},
                 {"ip", "link", "set", bridge(), "up"}});
}

Status SliceNetworks::makeSlice(uint32_t number, double bytesPerSecond) const {
  const std::string space = namespaceName(number), outer = otherEnd(number), inner = interface(number);
  const std::vector<std::string> inside = {"ip", "netns", "exec", space};
  return runAll({{"ip", "netns", "add", space},
                 {"ip", "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", space},
                 {"ip", "-n", space, "link", "set", "lo", "up"},
                 {"ip", "-n", space, "address", "add", sliceAddress(number) + "/24", "dev", inner},
                 limited(inside, inner, bytesPerSecond),
                 {"ip", "-n", space, "link", "set", inner, "up"},
                 {"ip", "link", "set", outer, "master", bridge()},
                 limited({}, outer, bytesPerSecond),
                 {"ip", "link", "set", outer, "up"}});
}

Status SliceNetworks::remove() const {
  for (uint32_t number = 0; number < kMaxSlices; ++number) {
    // With its other end. Those of a namespace that is deleted go some time later.
    if (Status removed = removeInterface(otherEnd(number)); !removed.ok()) return removed;
    if (!std::filesystem::exists(namespacePath(number))) continue;
    if (Status removed = runAll({{"ip", "netns", "delete", namespaceName(number)}}); !removed.ok())
      return removed;
  }
  return removeInterface(bridge());
}

}  // namespace tarcil
