#include "monitor/pressure/traffic_counter.h"

#include <cstddef>

#include "monitor/pressure/bpf.h"

namespace tarcil {
namespace {

using namespace bpf;

Error unknown(const Error& error) {
  return {error.code, "the tasks' network traffic is not known: " + error.message};
}

// counters[direction] += packet.length
std::vector<bpf_insn> counting(int counters, Direction direction) {
  std::vector<bpf_insn> program = {instruction(kLoadWord, BPF_REG_7, BPF_REG_6, offsetof(__sk_buff, len), 0)};
  addAddressOfNumber(program, counters, static_cast<uint32_t>(direction), 1);
  program.push_back(instruction(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_7, 0, BPF_ADD));
  return program;
}

}  // namespace

Result<TrafficCounter> TrafficCounter::open(const std::string& cgroup,
                                            const std::vector<uint32_t>& interfaces) {
  auto numbers = makeNumbers(2);
  if (!numbers) return unknown(numbers.error());
  TrafficCounter counter;
  counter.counters_ = kj::mv(*numbers);
  for (const Direction direction : kDirections) {
    auto attached = attach(cgroup, direction, interfaces, counting(counter.counters_.get(), direction));
    if (!attached) return unknown(attached.error());
    counter.programs_[static_cast<size_t>(direction)] = kj::mv(*attached);
  }
  return counter;
}

Result<TransferBytes> TrafficCounter::read() const {
  const auto in = readNumber(counters_.get(), static_cast<uint32_t>(Direction::kIn));
  const auto out = readNumber(counters_.get(), static_cast<uint32_t>(Direction::kOut));
  if (!in) return unknown(in.error());
  if (!out) return unknown(out.error());
  return TransferBytes{*in, *out};
}

}  // namespace tarcil
