#include "monitor/container/device_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <cstring>

namespace tarcil::device_filter_test {

// An access as the kernel describes it to the program.
bpf_cgroup_dev_ctx accessTo(const DeviceNumber& device, uint32_t how) {
  const uint32_t type = device.isBlock ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
  return {how << 16 | type, device.major, device.minor};
}

// What the program returns: of BPF as much as it is made of.
uint64_t answerTo(const bpf_cgroup_dev_ctx& access, const std::string& filter) {
  std::vector<bpf_insn> program(filter.size() / sizeof(bpf_insn));
  std::memcpy(program.data(), filter.data(), filter.size());
  uint64_t registers[11] = {};
  for (size_t at = 0; at < program.size(); ++at) {
    const bpf_insn& step = program[at];
    uint64_t& to = registers[step.dst_reg];
    const auto constant = static_cast<uint64_t>(int64_t{step.imm});
    uint32_t word = 0;
    switch (step.code) {
      case BPF_LDX | BPF_MEM | BPF_W:
        EXPECT_EQ(step.src_reg, BPF_REG_1);
        std::memcpy(&word, reinterpret_cast<const char*>(&access) + step.off, sizeof word);
        to = word;
        break;
      case BPF_ALU64 | BPF_AND | BPF_K:
        to &= constant;
        break;
      case BPF_ALU64 | BPF_MOV | BPF_K:
        to = constant;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += to == constant ? static_cast<size_t>(step.off) : 0;
        break;
      case BPF_JMP | BPF_JNE | BPF_K:
        at += to != constant ? static_cast<size_t>(step.off) : 0;
        break;
      case BPF_JMP | BPF_EXIT:
        return registers[0];
      default:
        ADD_FAILURE() << "instruction " << int{step.code};
        return 99;
    }
  }
  ADD_FAILURE() << "the program does not end";
  return 99;
}

bool isAllowed(const DeviceNumber& device, const std::string& filter) {
  uint64_t allowed = 0;
  for (const uint32_t how : {BPF_DEVCG_ACC_READ, BPF_DEVCG_ACC_WRITE, BPF_DEVCG_ACC_MKNOD}) {
    allowed += answerTo(accessTo(device, how), filter);
  }
  EXPECT_TRUE(allowed == 0 || allowed == 3) << "whatever it is used for";
  return allowed == 3;
}

TEST(DeviceFilter, IsEmptyWhereNothingIsDenied) {
  EXPECT_EQ(deviceFilter({}), "");
}

TEST(DeviceAllowance, AllowsWhatEveryTaskHasAndWhatIsGrantedAndNoOther) {
  const std::string filter = deviceAllowance({{false, 195, 0}, {true, 8, 16}});
  for (const DeviceNumber& device : std::vector<DeviceNumber>{{false, 1, 3},
                                                              {false, 1, 5},
                                                              {false, 1, 7},
                                                              {false, 1, 8},
                                                              {false, 1, 9},
                                                              {false, 5, 0},
                                                              {false, 5, 2},
                                                              {false, 136, 0},
                                                              {false, 136, 77},
                                                              {false, 195, 0},
                                                              {true, 8, 16}})
    EXPECT_TRUE(isAllowed(device, filter)) << device.isBlock << " " << device.major << ":" << device.minor;
  for (const DeviceNumber& device : std::vector<DeviceNumber>{{false, 1, 1},
                                                              {false, 1, 11},
                                                              {true, 1, 3},
                                                              {false, 5, 1},
                                                              {true, 136, 0},
                                                              {false, 195, 1},
                                                              {true, 8, 0},
                                                              {false, 8, 16}})
    EXPECT_FALSE(isAllowed(device, filter)) << device.isBlock << " " << device.major << ":" << device.minor;
}

TEST(DeviceFilter, DeniesTheseDevicesAndNoOther) {
  const std::vector<DeviceNumber> denied = {{false, 1, 3},     {false, 1, 5}, {false, 195, 0},
                                            {false, 195, 255}, {true, 7, 1},  {true, 259, 1'048'575}};
  const std::string filter = deviceFilter(denied);
  for (const bool isBlock : {false, true}) {
    for (const uint32_t major : {0u, 1u, 7u, 195u, 259u}) {
      for (const uint32_t minor : {0u, 1u, 3u, 4u, 5u, 255u, 1'048'575u}) {
        const DeviceNumber device{isBlock, major, minor};
        const bool isDenied = std::find(denied.begin(), denied.end(), device) != denied.end();
        EXPECT_EQ(isAllowed(device, filter), !isDenied) << isBlock << " " << major << ":" << minor;
      }
    }
  }
}

TEST(DeviceFilter, DeniesAsManyAsThereMayBe) {
  std::vector<DeviceNumber> denied;
  for (uint32_t i = 0; i < kMaxExtraDevices; ++i) denied.push_back({false, 100 + i / 3, i});
  const std::string filter = deviceFilter(denied);
  for (const DeviceNumber& device : denied) {
    EXPECT_FALSE(isAllowed(device, filter)) << device.minor;
    EXPECT_TRUE(isAllowed({true, device.major, device.minor}, filter)) << device.minor;
    EXPECT_TRUE(isAllowed({false, device.major + 1'000, device.minor}, filter)) << device.minor;
  }
}

TEST(DeviceFilter, CannotBeWithoutACgroup) {
  const Status without = tryDeviceFilter("");
  EXPECT_EQ(without.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(without.error().message, testing::HasSubstr("mount -t cgroup2"));
  EXPECT_THAT(tryDeviceFilter("/no-such").error().message,
              testing::HasSubstr("cannot make /no-such/device-filter: No such file or directory"));
}

}  // namespace tarcil::device_filter_test
