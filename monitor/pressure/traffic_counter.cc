#include "monitor/pressure/traffic_counter.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace tarcil {
namespace {

constexpr size_t kMaxInterfaces = 64;

enum Direction : uint32_t { kIn, kOut, kDirections };

Error failed(const char* what) {
  return notFound("the tasks' network traffic is not known: cannot " + std::string(what) +
                  " (BPF): " + std::generic_category().message(errno));
}

int call(int command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

uint64_t addressOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

// One counter of bytes for each direction.
int makeMap() {
  bpf_attr attributes{};
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = sizeof(uint32_t);
  attributes.value_size = sizeof(uint64_t);
  attributes.max_entries = kDirections;
  return call(BPF_MAP_CREATE, attributes);
}

bpf_insn instruction(int code, int to, int from, int offset, int32_t constant) {
  bpf_insn made{};
  made.code = static_cast<uint8_t>(code);
  made.dst_reg = static_cast<uint8_t>(to & 15);
  made.src_reg = static_cast<uint8_t>(from & 15);
  made.off = static_cast<int16_t>(offset);
  made.imm = constant;
  return made;
}

// if (packet is on one of the interfaces) counters[direction] += packet.length; let it pass.
std::vector<bpf_insn> programFor(const std::vector<uint32_t>& interfaces, Direction direction, int map) {
  constexpr int kLoadWord = BPF_LDX | BPF_MEM | BPF_W, kSet = BPF_ALU64 | BPF_MOV | BPF_K;
  constexpr int kCopy = BPF_ALU64 | BPF_MOV | BPF_X, kJump = BPF_JMP | BPF_JA;
  constexpr int kCounting = 9;  // instructions of the second part
  std::vector<bpf_insn> program = {
      instruction(kCopy, BPF_REG_6, BPF_REG_1, 0, 0),
      instruction(kLoadWord, BPF_REG_2, BPF_REG_6, offsetof(__sk_buff, ifindex), 0),
  };
  for (size_t i = 0; i < interfaces.size(); ++i) {
    const auto behind = static_cast<int>(interfaces.size() - i);  // the other comparisons, and the jump away
    program.push_back(
        instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_2, 0, behind, static_cast<int32_t>(interfaces[i])));
  }
  program.push_back(instruction(kJump, 0, 0, kCounting, 0));
  for (const bpf_insn& step : {
           instruction(kLoadWord, BPF_REG_7, BPF_REG_6, offsetof(__sk_buff, len), 0),
           instruction(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, static_cast<int32_t>(direction)),
           instruction(kCopy, BPF_REG_2, BPF_REG_10, 0, 0),
           instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
           instruction(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
           instruction(0, 0, 0, 0, 0),  // the upper half of that constant
           instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
           instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 1, 0),
           instruction(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_7, 0, BPF_ADD),
           instruction(kSet, BPF_REG_0, 0, 0, 1),
           instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
       }) {
    program.push_back(step);
  }
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

int attach(int program, int cgroup, bpf_attach_type type) {
  bpf_attr attributes{};
  attributes.link_create.prog_fd = static_cast<uint32_t>(program);
  attributes.link_create.target_fd = static_cast<uint32_t>(cgroup);
  attributes.link_create.attach_type = type;
  return call(BPF_LINK_CREATE, attributes);
}

}  // namespace

Result<TrafficCounter> TrafficCounter::open(const std::string& cgroup,
                                            const std::vector<uint32_t>& interfaces) {
  if (cgroup.empty()) return notFound("the tasks' network traffic is not known: no cgroup v2");
  if (interfaces.size() > kMaxInterfaces) {
    return notFound("the tasks' network traffic is not known: more than 64 interfaces");
  }
  const kj::AutoCloseFd directory(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return failed("open its cgroup");
  TrafficCounter counter;
  counter.map_ = kj::AutoCloseFd(makeMap());
  if (counter.map_.get() < 0) return failed("make counters");
  for (const Direction direction : {kIn, kOut}) {
    const auto type = direction == kIn ? BPF_CGROUP_INET_INGRESS : BPF_CGROUP_INET_EGRESS;
    const kj::AutoCloseFd program(load(programFor(interfaces, direction, counter.map_.get()), type));
    if (program.get() < 0) return failed("load a program");
    counter.links_[direction] = kj::AutoCloseFd(attach(program.get(), directory.get(), type));
    if (counter.links_[direction].get() < 0) return failed("attach a program");
  }
  return counter;
}

Result<TransferBytes> TrafficCounter::read() const {
  TransferBytes bytes;
  for (const auto& [direction, value] : {std::pair{kIn, &bytes.in}, std::pair{kOut, &bytes.out}}) {
    const auto key = static_cast<uint32_t>(direction);
    bpf_attr attributes{};
    attributes.map_fd = static_cast<uint32_t>(map_.get());
    attributes.key = addressOf(&key);
    attributes.value = addressOf(value);
    if (call(BPF_MAP_LOOKUP_ELEM, attributes) != 0) return failed("read the counters");
  }
  return bytes;
}

}  // namespace tarcil
