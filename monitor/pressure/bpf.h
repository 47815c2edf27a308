// Small programs in the kernel (BPF) that see the packets of a cgroup: what those who count and those who
// limit have in common.
#pragma once

#include <kj/io.h>
#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tarcil::bpf {

enum class Direction : uint8_t { kIn, kOut };
inline constexpr Direction kDirections[] = {Direction::kIn, Direction::kOut};

bpf_insn instruction(int code, int to, int from, int offset, int32_t constant);

// Codes of instructions that both kinds of programs use.
inline constexpr int kLoadWord = BPF_LDX | BPF_MEM | BPF_W;
inline constexpr int kSet = BPF_ALU64 | BPF_MOV | BPF_K;
inline constexpr int kCopy = BPF_ALU64 | BPF_MOV | BPF_X;
inline constexpr int kExit = BPF_JMP | BPF_EXIT;

// Numbers of 64 bits, 0 at first.
Result<kj::AutoCloseFd> makeNumbers(uint32_t count);
Result<uint64_t> readNumber(int numbers, uint32_t index);

// Loads a program over the packets of all processes in `cgroup`, a directory of version 2, and attaches it as
// long as the result lives. Such a program does `then` for a packet on one of the interfaces (indexes, at
// most kMaxInterfaces), with the packet in register 6 and, where `then` ends with no exit of its own, lets it
// pass, as it does all others. kNotFound: this kernel cannot, or does not let us.
Result<kj::AutoCloseFd> attach(const std::string& cgroup, Direction direction,
                               const std::vector<uint32_t>& interfaces, const std::vector<bpf_insn>& then);

inline constexpr size_t kMaxInterfaces = 64;

// Adds what puts the address of number `index` into register 0; where there were none, which cannot be but
// has to be said, so many of the next instructions would be skipped. Registers 1 to 5 are lost.
void addAddressOfNumber(std::vector<bpf_insn>& program, int numbers, uint32_t index, int16_t skippedIfNone);

}  // namespace tarcil::bpf
