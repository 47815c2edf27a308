#include "monitor/container/device_filter.h"

#include <fcntl.h>
#include <kj/io.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "monitor/pressure/bpf.h"
#include "shim/device_filter.h"
#include "shim/plan.h"

namespace tarcil {
namespace {

using bpf::instruction;

constexpr int kSkipUnless = BPF_JMP | BPF_JNE | BPF_K;
constexpr int kDenyIf = BPF_JMP | BPF_JEQ | BPF_K;
constexpr int kType = BPF_REG_2, kMajor = BPF_REG_3, kMinor = BPF_REG_4;

void answer(std::vector<bpf_insn>& program, int allowed) {
  program.push_back(instruction(bpf::kSet, BPF_REG_0, 0, 0, allowed));
  program.push_back(instruction(bpf::kExit, 0, 0, 0, 0));
}

// Which device it is that is asked about.
std::vector<bpf_insn> beginning() {
  return {
      instruction(bpf::kLoadWord, kType, BPF_REG_1, offsetof(bpf_cgroup_dev_ctx, access_type), 0),
      instruction(BPF_ALU64 | BPF_AND | BPF_K, kType, 0, 0, 0xffff),  // above it: what it is opened for
      instruction(bpf::kLoadWord, kMajor, BPF_REG_1, offsetof(bpf_cgroup_dev_ctx, major), 0),
      instruction(bpf::kLoadWord, kMinor, BPF_REG_1, offsetof(bpf_cgroup_dev_ctx, minor), 0),
  };
}

bool sameDriver(const DeviceNumber& a, const DeviceNumber& b) {
  return a.isBlock == b.isBlock && a.major == b.major;
}

Error cannotKeep(const std::string& why) {
  return invalid("this machine cannot keep tasks from devices (--extra-device): " + why);
}

Error cannotReach(const std::string& directory) {
  return cannotKeep(directory + ": " + std::generic_category().message(errno));
}

// One that any device of a driver matches has kAnyMinor.
struct Allowed {
  uint32_t major = 0;
  uint32_t minor = 0;
};
constexpr uint32_t kAnyMinor = UINT32_MAX;

// null, zero, full, random and urandom; the terminal, and those that a task makes (ptmx and pts).
constexpr Allowed kCommon[] = {{1, 3}, {1, 5}, {1, 7}, {1, 8}, {1, 9}, {5, 0}, {5, 2}, {136, kAnyMinor}};

void allow(std::vector<bpf_insn>& program, int type, const Allowed& device) {
  const int left = device.minor == kAnyMinor ? 2 : 3;  // of what follows the first instruction
  program.push_back(instruction(kSkipUnless, kType, 0, left + 1, type));
  program.push_back(instruction(kSkipUnless, kMajor, 0, left, static_cast<int32_t>(device.major)));
  if (device.minor != kAnyMinor)
    program.push_back(instruction(kSkipUnless, kMinor, 0, 2, static_cast<int32_t>(device.minor)));
  answer(program, 1);
}

int call(int command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

uint64_t addressOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

kj::AutoCloseFd load(const std::string& filter) {
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attributes.insns = addressOf(filter.data());
  attributes.insn_cnt = static_cast<uint32_t>(filter.size() / kFilterInstruction);
  attributes.license = addressOf("");
  return kj::AutoCloseFd(call(BPF_PROG_LOAD, attributes));
}

// More than one program can be attached to a cgroup, and each of them has to allow a device.
constexpr size_t kMaxAttached = 64;

std::vector<uint32_t> attachedTo(int cgroup) {
  std::vector<uint32_t> ids(kMaxAttached);
  bpf_attr attributes{};
  attributes.query.target_fd = static_cast<uint32_t>(cgroup);
  attributes.query.attach_type = BPF_CGROUP_DEVICE;
  attributes.query.prog_ids = addressOf(ids.data());
  attributes.query.prog_cnt = kMaxAttached;
  ids.resize(call(BPF_PROG_QUERY, attributes) == 0 ? attributes.query.prog_cnt : 0);
  return ids;
}

int changeAttached(int command, int cgroup, int program) {
  bpf_attr attributes{};
  attributes.target_fd = static_cast<uint32_t>(cgroup);
  attributes.attach_bpf_fd = static_cast<uint32_t>(program);
  attributes.attach_type = BPF_CGROUP_DEVICE;
  if (command == BPF_PROG_ATTACH) attributes.attach_flags = BPF_F_ALLOW_MULTI;
  return call(command, attributes);
}

int detach(int cgroup, uint32_t id) {
  bpf_attr attributes{};
  attributes.prog_id = id;
  const kj::AutoCloseFd program(call(BPF_PROG_GET_FD_BY_ID, attributes));
  return program.get() < 0 ? -1 : changeAttached(BPF_PROG_DETACH, cgroup, program);
}

}  // namespace

std::string deviceFilter(const std::vector<DeviceNumber>& denied) {
  if (denied.empty()) return {};
  std::vector<bpf_insn> program = beginning();
  for (size_t from = 0, to = 0; from < denied.size(); from = to) {
    while (to < denied.size() && sameDriver(denied[to], denied[from])) ++to;
    const auto minors = static_cast<int>(to - from);
    const int type = denied[from].isBlock ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
    program.push_back(instruction(kSkipUnless, kType, 0, minors + 1, type));
    program.push_back(instruction(kSkipUnless, kMajor, 0, minors, static_cast<int32_t>(denied[from].major)));
    for (size_t i = from; i < to; ++i) {
      program.push_back(instruction(kDenyIf, kMinor, 0, 0, static_cast<int32_t>(denied[i].minor)));
    }
  }
  answer(program, 1);
  const size_t denial = program.size();
  answer(program, 0);
  for (size_t i = 0; i < denial; ++i) {
    if (program[i].code == kDenyIf) program[i].off = static_cast<int16_t>(denial - i - 1);
  }
  static_assert(sizeof(bpf_insn) == kFilterInstruction);
  return {reinterpret_cast<const char*>(program.data()), program.size() * sizeof(bpf_insn)};
}

std::string deviceAllowance(const std::vector<DeviceNumber>& granted) {
  std::vector<bpf_insn> program = beginning();
  for (const Allowed& device : kCommon) allow(program, BPF_DEVCG_DEV_CHAR, device);
  for (const DeviceNumber& device : granted) {
    allow(program, device.isBlock ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR, {device.major, device.minor});
  }
  answer(program, 0);
  return {reinterpret_cast<const char*>(program.data()), program.size() * sizeof(bpf_insn)};
}

long attachFilter(const std::string& cgroup, const std::string& filter) {
  return attachDeviceFilter(cgroup.c_str(), filter.data(),
                            static_cast<uint32_t>(filter.size() / kFilterInstruction));
}

Status allowDevices(const std::string& parent, const std::vector<DeviceNumber>& granted) {
  if (parent.empty()) return cannotKeep("cgroups of version 2 are not mounted, or not writable");
  const kj::AutoCloseFd cgroup(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (cgroup.get() < 0) return cannotReach(parent);
  const std::vector<uint32_t> earlier = attachedTo(cgroup);
  const kj::AutoCloseFd program = load(deviceAllowance(granted));
  if (program.get() < 0 || changeAttached(BPF_PROG_ATTACH, cgroup, program) != 0) return cannotReach(parent);
  for (const uint32_t id : earlier) {
    if (detach(cgroup, id) != 0) return cannotReach(parent);
  }
  return {};
}

Status tryDeviceFilter(const std::string& parent) {
  if (parent.empty()) {
    return cannotKeep(
        "cgroups of version 2 are not mounted, or not writable; mount them, for example with "
        "`mount -t cgroup2 none /sys/fs/cgroup/unified`");
  }
  const std::string directory = parent + "/device-filter";
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    return cannotKeep("cannot make " + directory + ": " + std::generic_category().message(errno));
  }
  const std::string filter = deviceFilter({{.isBlock = false, .major = 1, .minor = 3}});
  const long attached = attachFilter(directory, filter);
  ::rmdir(directory.c_str());
  if (attached >= 0) return {};
  return cannotKeep("the kernel refuses a BPF program on " + directory + ": " +
                    std::generic_category().message(static_cast<int>(-attached)) +
                    "; it takes Linux 4.15 with CONFIG_CGROUP_BPF, and the right to load programs (CAP_BPF)");
}

}  // namespace tarcil
