#include "monitor/container/device_filter.h"

#include <sys/stat.h>
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

bool sameDriver(const DeviceNumber& a, const DeviceNumber& b) {
  return a.isBlock == b.isBlock && a.major == b.major;
}

Error cannotKeep(const std::string& why) {
  return invalid("this machine cannot keep tasks from devices (--extra-device): " + why);
}

}  // namespace

std::string deviceFilter(const std::vector<DeviceNumber>& denied) {
  if (denied.empty()) return {};
  std::vector<bpf_insn> program = {
      instruction(bpf::kLoadWord, kType, BPF_REG_1, offsetof(bpf_cgroup_dev_ctx, access_type), 0),
      instruction(BPF_ALU64 | BPF_AND | BPF_K, kType, 0, 0, 0xffff),  // above it: what it is opened for
      instruction(bpf::kLoadWord, kMajor, BPF_REG_1, offsetof(bpf_cgroup_dev_ctx, major), 0),
      instruction(bpf::kLoadWord, kMinor, BPF_REG_1, offsetof(bpf_cgroup_dev_ctx, minor), 0),
  };
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

long attachFilter(const std::string& cgroup, const std::string& filter) {
  return attachDeviceFilter(cgroup.c_str(), filter.data(),
                            static_cast<uint32_t>(filter.size() / kFilterInstruction));
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
