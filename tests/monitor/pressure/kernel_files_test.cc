// The parsers on what kernels have written, and on files that are broken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "monitor/logic/pressure/cgroup_files.h"
#include "monitor/logic/pressure/machine_files.h"
#include "monitor/logic/pressure/resctrl_files.h"

namespace tarcil::kernel_files_test {

using testing::MatchesRegex;

std::string recorded(const std::string& file) {
  std::ifstream in(TARCIL_RECORDED "/" + file);
  EXPECT_TRUE(in.is_open()) << file;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A parser of a recorded file, its result cut down to whether it worked.
struct Parsed {
  std::string file;
  std::function<Status(const KernelFile&)> parse;
};

template <typename T>
Status statusOf(const Result<T>& result) {
  return result.ok() ? Status() : Status(result.error());
}

const std::map<std::string, std::string> kDisks = {{"vda", ""}, {"sda", ""}, {"nvme0n1", ""}};
const std::set<std::string> kInterfaces = {"eth0", "enp3s0"};

std::vector<Parsed> everyParser() {
  const auto of = [](auto parse) {
    return [parse](const KernelFile& file) { return statusOf(parse(file)); };
  };
  const auto stat = [](const KernelFile& file) { return parseStat(file, {}); };
  const auto disks = [](const KernelFile& file) { return parseDiskstats(file, kDisks); };
  const auto network = [](const KernelFile& file) { return parseNetDev(file, kInterfaces); };
  const std::string number = "7\n";
  const auto v1 = [number](const KernelFile& file) { return parseMemoryV1({"usage", number}, file); };
  const auto v2 = [number](const KernelFile& file) { return parseMemoryV2({"current", number}, file); };
  const auto limitV2 = [number](const KernelFile& file) { return parseMemoryLimitV2({"max", number}, file); };
  return {{"guest-v1/proc/stat", of(stat)},
          {"guest-v1/proc/meminfo", of(parseMeminfo)},
          {"guest-v1/proc/vmstat", of(parseVmstat)},
          {"guest-v1/proc/diskstats", of(disks)},
          {"guest-v1/proc/net/dev", of(network)},
          {"guest-v1/proc/pressure/cpu", of(parseStalls)},
          {"guest-v1/proc/pressure/memory", of(parseStalls)},
          {"guest-v1/proc/pressure/io", of(parseStalls)},
          {"guest-v1/cgroup/cpuacct/cpuacct.usage", of(parseCpuacctUsage)},
          {"guest-v1/cgroup/unified/cpu.stat", of(parseCpuStat)},
          {"guest-v1/cgroup/unified/cpu.pressure", of(parseStalls)},
          {"guest-v1/cgroup/memory/memory.stat", of(v1)},
          {"guest-v1/cgroup/memory/memory.stat", of(parseFaultsV1)},
          {"guest-v2/proc/stat", of(stat)},
          {"guest-v2/proc/meminfo", of(parseMeminfo)},
          {"guest-v2/proc/vmstat", of(parseVmstat)},
          {"guest-v2/proc/diskstats", of(disks)},
          {"guest-v2/proc/pressure/io", of(parseStalls)},
          {"guest-v2/cgroup/cpu.stat", of(parseThrottled)},
          {"guest-v2/cgroup/cpu.pressure", of(parseStalls)},
          {"guest-v2/cgroup/memory.pressure", of(parseStalls)},
          {"guest-v2/cgroup/memory.stat", of(v2)},
          {"guest-v2/cgroup/memory.stat", of(parseFaultsV2)},
          {"guest-v2/cgroup/memory.events", of(limitV2)},
          {"guest-v2/cgroup/io.stat", of(parseIoStat)},
          {"written-v2/cgroup/memory.stat", of(parseFaultsV2)},
          {"written-v2/cgroup/cpu.stat", of(parseThrottled)},
          {"written-v2/cgroup/memory.events", of(limitV2)},
          {"written-v2/resctrl/mon_data/mon_L3_00/llc_occupancy", of(parseCacheNumber)},
          {"written-v2/resctrl/info/L3_MON/mon_features", parseCacheFeatures},
          {"guest-v1/cgroup/blkio/blkio.throttle.io_service_bytes_recursive", of(parseBlkio)},
          {"written-v2/proc/stat", of(stat)},
          {"written-v2/proc/diskstats", of(disks)},
          {"written-v2/proc/net/dev", of(network)},
          {"written-v2/proc/pressure/cpu", of(parseStalls)},
          {"written-v2/cgroup/cpu.stat", of(parseCpuStat)},
          {"written-v2/cgroup/memory.stat", of(v2)},
          {"written-v2/cgroup/io.stat", of(parseIoStat)}};
}

TEST(KernelFiles, AllThatWereRecordedAreRead) {
  for (const Parsed& one : everyParser()) {
    const std::string text = recorded(one.file);
    const Status status = one.parse({one.file, text});
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  }
}

TEST(KernelFiles, StatSumsTheCoresThatCount) {
  const std::string text = recorded("written-v2/proc/stat");
  EXPECT_EQ(*parseStat({"stat", text}, {}), (CpuTimes{560, 3060, 40}));
  EXPECT_EQ(*parseStat({"stat", text}, {1, 10}), (CpuTimes{280, 1530, 20}));
  EXPECT_EQ(parseStat({"stat", text}, {3}).error().message, "stat:12: core 3 is missing");
}

TEST(KernelFiles, MeminfoIsInBytes) {
  const auto memory =
      parseMeminfo({"m", "MemTotal: 10 kB\nMemAvailable: 4 kB\nDirty: 1 kB\nWriteback: 2 kB\n"});
  EXPECT_EQ(*memory, (MemoryUse{10 * 1024, 4 * 1024, 3 * 1024}));
}

TEST(KernelFiles, DiskstatsLeaveOutPartitionsAndStackedDevices) {
  const std::string text = recorded("written-v2/proc/diskstats");
  const std::map<Device, DiskCounts> expected = {{{8, 0}, {{1024000, 2048000}, 120}},
                                                 {{259, 0}, {{40960, 81920}, 12}}};
  EXPECT_EQ(*parseDiskstats({"diskstats", text}, kDisks), expected);
}

TEST(KernelFiles, NetDevLeavesOutLoopbackAlsoWhereNumbersTouchTheName) {
  const std::string text = recorded("written-v2/proc/net/dev");
  EXPECT_EQ(*parseNetDev({"dev", text}, kInterfaces), (TransferBytes{5007000, 3009000}));
}

TEST(KernelFiles, StallsAreTotals) {
  EXPECT_EQ(*parseStalls({"cpu", recorded("written-v2/proc/pressure/cpu")}), (StallTimes{123456, 0}));
  EXPECT_GT(parseStalls({"io", recorded("guest-v1/proc/pressure/io")})->full, 0u);
}

TEST(KernelFiles, CgroupsOfVersion1) {
  const std::string folder = "guest-v1/cgroup/";
  EXPECT_EQ(*parseCpuacctUsage({"u", recorded(folder + "cpuacct/cpuacct.usage")}), 73311u);
  const auto memory = parseMemoryV1({"usage", recorded(folder + "memory/memory.usage_in_bytes")},
                                    {"stat", recorded(folder + "memory/memory.stat")});
  EXPECT_EQ(*memory, (CgroupMemory{5079040, 4345856 + 94208, 4231168}));
  const auto disks =
      parseBlkio({"blkio", recorded(folder + "blkio/blkio.throttle.io_service_bytes_recursive")});
  ASSERT_TRUE(disks->contains({254, 0}));
  EXPECT_GE(disks->at({254, 0}).in, 8u << 20);
  EXPECT_GE(disks->at({254, 0}).out, 8u << 20);
}

TEST(KernelFiles, CgroupsOfVersion2) {
  EXPECT_EQ(*parseCpuStat({"cpu.stat", recorded("written-v2/cgroup/cpu.stat")}), 5'000'000u);
  const auto memory = parseMemoryV2({"current", recorded("written-v2/cgroup/memory.current")},
                                    {"stat", recorded("written-v2/cgroup/memory.stat")});
  EXPECT_EQ(*memory, (CgroupMemory{1073741824, 536870912, 12288}));
  const std::map<Device, TransferBytes> expected = {{{259, 0}, {4096000, 8192000}}, {{8, 0}, {512, 0}}};
  EXPECT_EQ(*parseIoStat({"io.stat", recorded("written-v2/cgroup/io.stat")}), expected);
}

// 8 MiB written and read past the page cache, 4 MiB written and synced, 4 MiB written and not yet on
// the disk.
TEST(KernelFiles, CgroupsOfVersion2AsAKernelWroteThem) {
  const std::string folder = "guest-v2/cgroup/";
  EXPECT_EQ(*parseCpuStat({"cpu.stat", recorded(folder + "cpu.stat")}), 2'397'530u);
  EXPECT_EQ(*parseThrottled({"cpu.stat", recorded(folder + "cpu.stat")}), 0u);
  const auto disks = parseIoStat({"io.stat", recorded(folder + "io.stat")});
  EXPECT_EQ(*disks, (std::map<Device, TransferBytes>{{{254, 0}, {8'396'800, 12'582'912}}}));
  const auto memory = parseMemoryV2({"current", recorded(folder + "memory.current")},
                                    {"stat", recorded(folder + "memory.stat")});
  EXPECT_EQ(memory->used, 9'502'720u);
  EXPECT_GE(memory->dirty, 4u << 20);
  EXPECT_EQ(*parseMemoryLimitV2({"max", recorded(folder + "memory.max")},
                                {"events", recorded(folder + "memory.events")}),
            (MemoryLimit{0, 0, 0}));
  EXPECT_EQ(parseStalls({"io", recorded(folder + "io.pressure")})->some, 93'462u);
}

TEST(KernelFiles, FaultsAndThrottlingOfACgroup) {
  EXPECT_EQ(*parseFaultsV1({"stat", recorded("guest-v1/cgroup/memory/memory.stat")}), (FaultCounts{7497, 2}));
  EXPECT_EQ(*parseFaultsV2({"stat", "pgfault 10\npgmajfault 3\n"}), (FaultCounts{10, 3}));
  EXPECT_EQ(*parseThrottled({"cpu.stat", "usage_usec 5\nnr_throttled 2\nthrottled_usec 1500\n"}), 1500u);
  EXPECT_EQ(parseThrottled({"cpu.stat", "usage_usec 5\n"}).error().code, ErrorCode::kNotFound);
}

TEST(KernelFiles, MemoryLimitsOfBothVersions) {
  const KernelFile hits{"failcnt", "12\n"};
  const KernelFile oom{"oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"};
  EXPECT_EQ(*parseMemoryLimitV1({"limit", "1048576\n"}, hits, oom), (MemoryLimit{1048576, 12, 3}));
  EXPECT_EQ(*parseMemoryLimitV1({"limit", "9223372036854771712\n"}, hits, {"oom_control", "under_oom 0\n"}),
            (MemoryLimit{0, 12, 0}));
  const KernelFile events{"memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\n"};
  EXPECT_EQ(*parseMemoryLimitV2({"memory.max", "2097152\n"}, events), (MemoryLimit{2097152, 7, 1}));
  EXPECT_EQ(*parseMemoryLimitV2({"memory.max", "max\n"}, events), (MemoryLimit{0, 7, 1}));
  EXPECT_EQ(parseMemoryLimitV2({"/m/memory.max", "much\n"}, events).error().message,
            "/m/memory.max:1: not one number: \"much?\"");
}

TEST(KernelFiles, ResctrlSaysWhatItDoesNotKnow) {
  EXPECT_EQ(*parseCacheNumber({"llc_occupancy", "65536\n"}), 65536u);
  for (const char* word : {"Unavailable\n", "Error\n"}) {
    EXPECT_EQ(parseCacheNumber({"mbm_total_bytes", word}).error().code, ErrorCode::kNotFound);
  }
  EXPECT_TRUE(parseCacheFeatures({"mon_features", "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n"}).ok());
  EXPECT_EQ(parseCacheFeatures({"mon_features", "llc_occupancy\n"}).error().message,
            "resctrl does not count mbm_total_bytes on this processor");
  EXPECT_EQ(*parseThreads({"threads", "17\n4\n"}), (std::vector<uint64_t>{17, 4}));
  EXPECT_EQ(parseThreads({"/c/threads", "17\nx\n"}).error().message,
            "/c/threads:2: not the number of a thread");
}

TEST(KernelFiles, MemoryReadInTwoStepsIsNeverNegative) {
  EXPECT_EQ(parseMemoryV2({"current", "100\n"},
                          {"stat", "inactive_file 90\nactive_file 20\nfile_dirty 0\nfile_writeback 0\n"})
                ->reclaimable,
            100u);
}

TEST(KernelFiles, ErrorsNameThePlace) {
  EXPECT_EQ(parseStat({"/proc/stat", "cpu 1\ncpu0 1 2 x\n"}, {}).error().message,
            "/proc/stat:2: not a core and eight numbers");
  EXPECT_EQ(parseMeminfo({"/proc/meminfo", "MemTotal: many kB\n"}).error().message,
            "/proc/meminfo:1: MemTotal: no number in \"MemTotal: many kB\"");
  EXPECT_EQ(parseMeminfo({"/proc/meminfo", "MemTotal: 5 kB\n"}).error().message,
            "/proc/meminfo:1: MemAvailable is missing");
  EXPECT_EQ(parseMeminfo({"/proc/meminfo", "MemTotal: 18446744073709551615 kB\n"}).error().message,
            "/proc/meminfo:1: MemTotal: more bytes than there can be");
  EXPECT_EQ(parseCpuacctUsage({"/c/cpuacct.usage", "-1\n"}).error().message,
            "/c/cpuacct.usage:1: not one number: \"-1?\"");
  EXPECT_EQ(parseBlkio({"/b", "8:0 Read 5\n8:0 Write\n"}).error().message,
            "/b:2: not a device, a kind and a number");
  EXPECT_EQ(parseStalls({"/p", "some avg10=0.0\n"}).error().message, "/p:1: no total of microseconds");
}

TEST(KernelFiles, AnEmptyFileIsAnErrorWhereThereIsAlwaysSomething) {
  EXPECT_FALSE(parseStat({"f", ""}, {}).ok());
  EXPECT_FALSE(parseMeminfo({"f", ""}).ok());
  EXPECT_FALSE(parseStalls({"f", ""}).ok());
  EXPECT_FALSE(parseCpuStat({"f", ""}).ok());
  EXPECT_TRUE(parseIoStat({"f", ""}).ok());  // nothing has been read or written
}

// Cuts, repeats and overwrites: what a file looks like that was read while it changed, or is hostile.
std::string mutated(std::string text) {
  const int changes = *rc::gen::inRange(1, 8);
  for (int i = 0; i < changes && !text.empty(); ++i) {
    const auto at = static_cast<size_t>(*rc::gen::inRange<size_t>(0, text.size()));
    switch (*rc::gen::inRange(0, 5)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = *rc::gen::arbitrary<char>();
        break;
      case 2:
        text.insert(at, text.substr(at, 20));
        break;
      case 3:
        text.erase(at, 5);
        break;
      default:
        text.insert(at, *rc::gen::element<std::string>("\n", " ", "18446744073709551616", "-1", ":", "="));
    }
  }
  return text;
}

RC_GTEST_PROP(KernelFiles, BrokenOnesAreReadOrNamedAndNothingElse, ()) {
  static const std::vector<Parsed> parsers = everyParser();
  const Parsed& one = parsers[*rc::gen::inRange<size_t>(0, parsers.size())];
  const std::string text = mutated(recorded(one.file));
  const Status status = one.parse({one.file, text});
  if (status.ok()) return;
  // kNotFound: the kernel does not count it, as it may say in so many words.
  if (status.error().code == ErrorCode::kNotFound) return;
  RC_ASSERT(status.error().code == ErrorCode::kInvalid);
  const std::string& message = status.error().message;
  RC_ASSERT(message.starts_with(one.file + ":") || message.starts_with("usage:") ||
            message.starts_with("current:") || message.starts_with("max:"));
  RC_ASSERT(std::all_of(message.begin(), message.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

}  // namespace tarcil::kernel_files_test
