#include "monitor/pressure/bpf.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace tarcil::bpf {
namespace {

Error failed(const char* what) {
  return notFound("cannot " + std::string(what) + " (BPF): " + std::generic_category().message(errno));
}

int call(int command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

uint64_t addressOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

std::vector<bpf_insn> programOf(const std::vector<uint32_t>& interfaces, const std::vector<bpf_insn>& then) {
  std::vector<bpf_insn> program = {
      instruction(kCopy, BPF_REG_6, BPF_REG_1, 0, 0),
      instruction(kLoadWord, BPF_REG_2, BPF_REG_6, offsetof(__sk_buff, ifindex), 0),
  };
  for (size_t i = 0; i < interfaces.size(); ++i) {
    const auto behind = static_cast<int>(interfaces.size() - i);  // the other comparisons, and the jump away
    program.push_back(
        instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_2, 0, behind, static_cast<int32_t>(interfaces[i])));
  }
  program.push_back(instruction(BPF_JMP | BPF_JA, 0, 0, static_cast<int>(then.size()), 0));
  program.insert(program.end(), then.begin(), then.end());
  program.push_back(instruction(kSet, BPF_REG_0, 0, 0, 1));
  program.push_back(instruction(kExit, 0, 0, 0, 0));
  return program;
}

int load(const std::vector<bpf_insn>& program, bpf_attach_type type) {
  static constexpr char kLicense[] = "GPL";
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_SKB;
  attributes.expected_attach_type = type;
  attributes.insns = addressOf(program.data());
  attributes.insn_cnt = static_cast<uint32_t>(program.size());
  attributes.license = addressOf(kLicense);
  return call(BPF_PROG_LOAD, attributes);
}

int link(int program, int cgroup, bpf_attach_type type) {
  bpf_attr attributes{};
  attributes.link_create.prog_fd = static_cast<uint32_t>(program);
  attributes.link_create.target_fd = static_cast<uint32_t>(cgroup);
  attributes.link_create.attach_type = type;
  return call(BPF_LINK_CREATE, attributes);
}

}  // namespace

bpf_insn instruction(int code, int to, int from, int offset, int32_t constant) {
  bpf_insn made{};
  made.code = static_cast<uint8_t>(code);
  made.dst_reg = static_cast<uint8_t>(to & 15);
  made.src_reg = static_cast<uint8_t>(from & 15);
  made.off = static_cast<int16_t>(offset);
  made.imm = constant;
  return made;
}

void addAddressOfNumber(std::vector<bpf_insn>& program, int numbers, uint32_t index, int16_t skippedIfNone) {
  for (const bpf_insn& step : {
           instruction(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, static_cast<int32_t>(index)),
           instruction(kCopy, BPF_REG_2, BPF_REG_10, 0, 0),
           instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
           instruction(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, numbers),
           instruction(0, 0, 0, 0, 0),  // the upper half of that constant
           instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
           instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, skippedIfNone, 0),
       }) {
    program.push_back(step);
  }
}

Result<kj::AutoCloseFd> makeNumbers(uint32_t count) {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = sizeof(uint32_t);
  attributes.value_size = sizeof(uint64_t);
  attributes.max_entries = count;
  kj::AutoCloseFd numbers(call(BPF_MAP_CREATE, attributes));
  if (numbers.get() < 0) return failed("make counters");
  return numbers;
}

Result<uint64_t> readNumber(int numbers, uint32_t index) {
  uint64_t value = 0;
  bpf_attr attributes{};
  attributes.map_fd = static_cast<uint32_t>(numbers);
  attributes.key = addressOf(&index);
  attributes.value = addressOf(&value);
  if (call(BPF_MAP_LOOKUP_ELEM, attributes) != 0) return failed("read the counters");
  return value;
}

Result<kj::AutoCloseFd> attach(const std::string& cgroup, Direction direction,
                               const std::vector<uint32_t>& interfaces, const std::vector<bpf_insn>& then) {
  if (cgroup.empty()) return notFound("no cgroup v2");
  if (interfaces.size() > kMaxInterfaces) return notFound("more than 64 interfaces");
  const kj::AutoCloseFd directory(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return failed("open its cgroup");
  const auto type = direction == Direction::kIn ? BPF_CGROUP_INET_INGRESS : BPF_CGROUP_INET_EGRESS;
  const kj::AutoCloseFd program(load(programOf(interfaces, then), type));
  if (program.get() < 0) return failed("load a program");
  kj::AutoCloseFd attached(link(program.get(), directory.get(), type));
  if (attached.get() < 0) return failed("attach a program");
  return attached;
}

}  // namespace tarcil::bpf
