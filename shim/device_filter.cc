#include "shim/device_filter.h"

#include <linux/bpf.h>

#include "shim/sys.h"

namespace tarcil {
namespace {

uint64_t addressOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

long load(const void* program, uint32_t instructions) {
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attributes.insns = addressOf(program);
  attributes.insn_cnt = instructions;
  attributes.license = addressOf("");  // it calls nothing of the kernel's that asks for one
  return sys::call(SYS_bpf, BPF_PROG_LOAD, &attributes, sizeof attributes);
}

// Without BPF_F_ALLOW_MULTI it replaces what is attached to this cgroup; those above still have their say.
long attach(long program, long cgroup) {
  bpf_attr attributes{};
  attributes.target_fd = static_cast<uint32_t>(cgroup);
  attributes.attach_bpf_fd = static_cast<uint32_t>(program);
  attributes.attach_type = BPF_CGROUP_DEVICE;
  return sys::call(SYS_bpf, BPF_PROG_ATTACH, &attributes, sizeof attributes);
}

}  // namespace

long attachDeviceFilter(const char* cgroup, const void* program, uint32_t instructions) {
  const long directory = sys::open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return directory;
  const long loaded = load(program, instructions);
  const long attached = loaded < 0 ? loaded : attach(loaded, directory);
  if (loaded >= 0) sys::close(static_cast<int>(loaded));
  sys::close(static_cast<int>(directory));
  return attached;
}

}  // namespace tarcil
