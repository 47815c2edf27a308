#include "monitor/pressure/traffic_limit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "monitor/pressure/bpf.h"

namespace tarcil {
namespace {

using namespace bpf;

constexpr int32_t kBurstNanos = 50'000'000;
// Of a byte's time: a nanosecond is too coarse for fast networks.
constexpr int kFractionBits = 10;
constexpr double kLeastRate = 1'000;

// What a program returns to have a packet dropped. 0 would tell a sender that it is not permitted to send;
// with 2 it hears nothing, and TCP that the network is congested (Linux, include/linux/bpf-cgroup.h).
int32_t dropped(Direction direction) {
  return direction == Direction::kOut ? 2 : 0;
}

// Virtual scheduling (the generic cell rate algorithm, ITU-T I.371): a packet that comes more than the burst
// before its time is dropped; each that passes moves the time on by what it takes. Two processors at once may
// let one more pass.
std::vector<bpf_insn> limiting(int times, Direction direction, double bytesPerSecond) {
  const double nanos = 1e9 * (1 << kFractionBits) / std::max(kLeastRate, bytesPerSecond);
  constexpr int kLoad = BPF_LDX | BPF_MEM | BPF_DW, kStore = BPF_STX | BPF_MEM | BPF_DW;
  const std::vector<bpf_insn> rest = {
      instruction(kLoad, BPF_REG_1, BPF_REG_0, 0, 0),                        // the time
      instruction(BPF_JMP | BPF_JGE | BPF_X, BPF_REG_1, BPF_REG_8, 1, 0),    // is in the future,
      instruction(kCopy, BPF_REG_1, BPF_REG_8, 0, 0),                        // or it is now
      instruction(kCopy, BPF_REG_2, BPF_REG_1, 0, 0),                        //
      instruction(BPF_ALU64 | BPF_SUB | BPF_X, BPF_REG_2, BPF_REG_8, 0, 0),  // by how much
      instruction(BPF_JMP | BPF_JLE | BPF_K, BPF_REG_2, 0, 2, kBurstNanos),  // no more than the burst
      instruction(kSet, BPF_REG_0, 0, 0, dropped(direction)),                //
      instruction(kExit, 0, 0, 0, 0),                                        // dropped
      instruction(BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_1, BPF_REG_7, 0, 0),  //
      instruction(kStore, BPF_REG_0, BPF_REG_1, 0, 0),
  };
  std::vector<bpf_insn> program = {
      instruction(kLoadWord, BPF_REG_7, BPF_REG_6, offsetof(__sk_buff, len), 0),
      instruction(BPF_ALU64 | BPF_MUL | BPF_K, BPF_REG_7, 0, 0, static_cast<int32_t>(nanos)),
      instruction(BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_7, 0, 0, kFractionBits),
      instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ktime_get_ns),
      instruction(kCopy, BPF_REG_8, BPF_REG_0, 0, 0),
  };
  addAddressOfNumber(program, times, static_cast<uint32_t>(direction), static_cast<int16_t>(rest.size()));
  program.insert(program.end(), rest.begin(), rest.end());
  return program;
}

Error cannot(const Error& error) {
  return {error.code, "the task's network traffic cannot be limited: " + error.message};
}

}  // namespace

Result<TrafficLimit> TrafficLimit::open(const std::string& cgroup, const std::vector<uint32_t>& interfaces,
                                        double bytesPerSecond) {
  auto times = makeNumbers(2);
  if (!times) return cannot(times.error());
  TrafficLimit limit;
  limit.times_ = kj::mv(*times);
  for (const Direction direction : kDirections) {
    auto attached =
        attach(cgroup, direction, interfaces, limiting(limit.times_.get(), direction, bytesPerSecond));
    if (!attached) return cannot(attached.error());
    limit.programs_[static_cast<size_t>(direction)] = kj::mv(*attached);
  }
  return limit;
}

}  // namespace tarcil
