// What this process has removed and still holds, as the monitor finds it.
#include "monitor/container/removed_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <kj/io.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/scratch_folder.h"

namespace tarcil::removed_files_test {

constexpr size_t kBytes = 1 << 20;

class RemovedFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, as a monitor that runs containers does";
    folder_.write("processes", std::to_string(::getpid()) + "\n");
  }
  // Open, removed, and so large.
  kj::AutoCloseFd removedFile() {
    folder_.write("file", std::string(kBytes, 'x'));
    const std::string path = folder_.at("file");
    kj::AutoCloseFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    ::unlink(path.c_str());
    return file;
  }
  uint64_t bytesFound() {
    RemovedFiles files(folder_.at("processes"), folder_.path());
    while (!files.advance(100)) {
    }
    return files.bytes();
  }

  ScratchFolder folder_;
};

TEST_F(RemovedFilesTest, CountOnceHoweverTheyAreHeld) {
  const uint64_t before = bytesFound();
  kj::AutoCloseFd file = removedFile();
  const kj::AutoCloseFd again(::dup(file));
  EXPECT_GE(bytesFound(), before + kBytes);
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_LT(bytesFound(), before + 2 * kBytes);
  ::munmap(mapped, kBytes);
}

TEST_F(RemovedFilesTest, CountWhereTheyAreOnlyMapped) {
  const uint64_t before = bytesFound();
  kj::AutoCloseFd file = removedFile();
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, file, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  file = nullptr;
  EXPECT_GE(bytesFound(), before + kBytes);
  ::munmap(mapped, kBytes);
  EXPECT_LT(bytesFound(), before + kBytes);
}

}  // namespace tarcil::removed_files_test
