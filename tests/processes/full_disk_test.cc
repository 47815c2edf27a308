// The master's disk gets full: met before it happens, and survived where it does happen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/support/cluster.h"

namespace tarcil::full_disk_test {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A file system of its own, and a file that fills it.
class SmallDisk final {
 public:
  explicit SmallDisk(uint64_t mebibytes) {
    std::string name = fs::temp_directory_path() / "tarcil-disk-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    path_ = name;
    const std::string size = "size=" + std::to_string(mebibytes) + "m";
    if (::mount("tarcil-test", path_.c_str(), "tmpfs", 0, size.c_str()) != 0)
      throw std::runtime_error(std::string("cannot mount a tmpfs: ") + std::strerror(errno));
  }
  ~SmallDisk() {
    ::umount2(path_.c_str(), MNT_DETACH);
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  std::string at(const std::string& name) const { return path_ + "/" + name; }

  // Takes all that is free.
  void fill() const {
    std::ofstream file(at("filler"), std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  void makeRoom() const { fs::remove(at("filler")); }

 private:
  std::string path_;
};

ClusterPlan storingOn(const SmallDisk& disk, const std::string& reserve) {
  return {.servers = 1, .rus = 2, .masterFlags = {"--store", disk.at("store"), "--disk-reserve", reserve}};
}

TEST(DiskNearlyFull, NewJobsAreRefusedAndRunningOnesFinish) {
  SKIP_WITHOUT_CONTAINERS();
  const SmallDisk disk(160);
  ManualCluster cluster(storingOn(disk, "32MiB"));
  TraceFolder& traces = cluster.traces();
  const std::string running = cluster.submit(shellJob(traces.note("started") + traces.waitForGate()));
  traces.waitForLines("started", 1);
  disk.fill();
  cluster.until("the master warns", [&cluster]() {
    return cluster.run({"agent", "list"}).err.find("warning: disk nearly full") != std::string::npos;
  });
  EXPECT_THAT(cluster.run({"server", "list"}).err, HasSubstr("warning: disk nearly full"));
  EXPECT_THAT(cluster.logOf("master"), HasSubstr("new jobs are refused"));
  const ProcessResult refused = cluster.run({"run", "--", "true"});
  EXPECT_NE(refused.exitCode, 0);
  EXPECT_THAT(refused.err, HasSubstr("disk nearly full"));
  EXPECT_EQ(cluster.run({"submit", cluster.jobFile("command: ['true']\n")}).exitCode, 1);
  traces.openGate();
  EXPECT_EQ(cluster.ended(running)["state"], "done");

  disk.makeRoom();
  cluster.until("there is room again", [&cluster]() {
    return cluster.run({"agent", "list"}).err.find("disk nearly full") == std::string::npos;
  });
  EXPECT_EQ(cluster.run({"run", "--", "true"}).exitCode, 0);
  EXPECT_THAT(cluster.logOf("master"), HasSubstr("has room again"));
}

// A file of the job's folder that no compression makes smaller.
void writeNoise(const std::string& path, size_t mebibytes) {
  std::ifstream noise("/dev/urandom", std::ios::binary);
  std::string bytes(mebibytes << 20, '\0');
  noise.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(DiskFull, StopsTheMasterWhichThenHasAllThatWasAnswered) {
  SKIP_WITHOUT_CONTAINERS();
  const SmallDisk disk(320);
  ManualCluster cluster(storingOn(disk, "0B"));
  const std::string answered = cluster.submit("command: ['true']\n");
  disk.fill();
  writeNoise(fs::path(cluster.jobFile("")).parent_path() / "noise", 12);
  const std::string file = cluster.jobFile("command: ['true']\nfiles: [noise]\n");
  // More than RocksDB sets aside beforehand.
  const auto submit = [&cluster, &file]() { return cluster.startCommand({"submit", "--json", file}); };
  Process submissions[] = {submit(), submit(), submit(), submit(), submit(), submit()};
  EXPECT_EQ(cluster.endOf("master").exitCode, 4);
  EXPECT_THAT(cluster.logOf("master"), HasSubstr("a write failed"));
  EXPECT_THAT(cluster.logOf("master"), HasSubstr("the master stops: nothing answered is lost"));

  disk.makeRoom();
  cluster.start("master");
  EXPECT_EQ(cluster.ended(answered)["state"], "done");
  // Those that had an answer have their jobs; the others are submitted again.
  for (Process& submission : submissions) {
    const ProcessResult result = submission.finish();
    ASSERT_EQ(result.exitCode, 0) << result.err;
    EXPECT_EQ(cluster.ended(Json::parse(result.out)["job"])["state"], "done");
  }
  cluster.expectAllUnitsFree();
}

}  // namespace tarcil::full_disk_test
