// The loops that press, in this process.
#include "classifier/kernels/kernel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace tarcil::kernel_test {

constexpr uint64_t kGiB = uint64_t{1} << 30;

// Small enough that a test is done at once; whatever the machine says of itself.
KernelSetup setupOf(Resource resource, const std::string& scratch) {
  KernelSetup setup;
  setup.resource = resource;
  setup.machine = readMachine();
  setup.machine.l1iBytes = setup.machine.l1dBytes = 32 << 10;
  setup.machine.l2Bytes = 256 << 10;
  setup.machine.llcBytes = 4 << 20;
  setup.machine.memoryBytes = 2 * kGiB;
  setup.scratch = scratch;
  return setup;
}

class EveryKernel : public testing::TestWithParam<int> {};

TEST_P(EveryKernel, Works) {
  const TemporaryFolder folder;
  const KernelSetup setup = setupOf(static_cast<Resource>(GetParam()), folder.path());
  if (const auto why = whyNot(setup.resource, setup.machine)) GTEST_SKIP() << *why;
  std::unique_ptr<Kernel> kernel;
  try {
    kernel = makeKernel(setup);
  } catch (const std::runtime_error& error) {
    if (setup.resource == Resource::kDiskBandwidth) GTEST_SKIP() << error.what();
    throw;
  }
  for (int intensity : {5, 99, 10}) {
    kernel->set(intensity);
    EXPECT_GT(kernel->burst(), 0) << intensity;
  }
}

INSTANTIATE_TEST_SUITE_P(Resources, EveryKernel, testing::Range(0, kResources), [](const auto& param) {
  return std::string(kResourceNames[static_cast<size_t>(param.param)]);
});

TEST(DiskKernel, LeavesNothingInItsFolderAndIsBounded) {
  const TemporaryFolder folder;
  std::unique_ptr<Kernel> kernel;
  try {
    kernel = makeKernel(setupOf(Resource::kDiskBandwidth, folder.path()));
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  kernel->set(99);
  for (int i = 0; i < 600; ++i) kernel->burst();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  uint64_t largest = 0;
  for (const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    struct stat status {};
    const bool isOurs = std::filesystem::read_symlink(fd.path()).string().starts_with(folder.path());
    if (isOurs && ::stat(fd.path().c_str(), &status) == 0) {
      largest = std::max(largest, static_cast<uint64_t>(status.st_size));
    }
  }
  EXPECT_GT(largest, 0u);
  EXPECT_LE(largest, kScratchBytes);
}

TEST(DiskKernel, SaysWhichFolderDoesNotDo) {
  try {
    makeKernel(setupOf(Resource::kDiskBandwidth, "/nonexistent/folder"));
    FAIL() << "made a file there";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/folder"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("--scratch"), std::string::npos) << error.what();
  }
}

// The machine says what a file says.
class MemoryKernel : public testing::Test {
 protected:
  MemoryKernel() { std::filesystem::create_directories(folder_.path() + "/proc"); }

  void haveAvailable(uint64_t bytes) {
    std::ofstream(folder_.path() + "/proc/meminfo") << "MemAvailable: " << (bytes >> 10) << " kB\n";
  }
  std::unique_ptr<Kernel> kernel() const {
    KernelSetup setup = setupOf(Resource::kMemoryCapacity, ".");
    setup.memory = {folder_.path() + "/proc", folder_.path() + "/none"};
    return makeKernel(setup);
  }

  TemporaryFolder folder_;
};

TEST_F(MemoryKernel, HoldsNothingWhereTheHeadroomIsGone) {
  haveAvailable(kGiB / 2);
  const auto kernel = this->kernel();
  kernel->set(10);
  EXPECT_EQ(kernel->burst(), 0);
}

TEST_F(MemoryKernel, GivesBackWhenOthersNeedMemory) {
  haveAvailable(4 * kGiB);
  const auto kernel = this->kernel();
  kernel->set(10);
  EXPECT_GT(kernel->burst(), 0);
  haveAvailable(kGiB / 4);  // less than the headroom of this machine
  kernel->burst();
  EXPECT_EQ(kernel->burst(), 0);
}

TEST_F(MemoryKernel, GivesBackWhenItRests) {
  haveAvailable(4 * kGiB);
  const auto kernel = this->kernel();
  kernel->set(10);
  kernel->rest();
  haveAvailable(kGiB);
  EXPECT_EQ(kernel->burst(), 0);
}

}  // namespace tarcil::kernel_test
