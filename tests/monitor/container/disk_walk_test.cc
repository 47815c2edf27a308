// What trees take up on the disk that a task may leave.
#include "monitor/container/disk_walk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "monitor/container/tree_removal.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::disk_walk_test {

namespace fs = std::filesystem;

constexpr uint64_t kLeast = DiskWalk::kMinFileBytes;
constexpr size_t kAll = 1'000'000;

uint64_t bytesBelow(std::vector<std::string> tops) {
  DiskWalk walk(std::move(tops));
  EXPECT_TRUE(walk.advance(kAll));
  return walk.bytes();
}

uint64_t onDisk(const std::string& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  return std::max(static_cast<uint64_t>(status.st_blocks) * 512, kLeast);
}

TEST(DiskWalk, CountsBlocksAndOfSmallFilesAPiece) {
  const ScratchFolder folder;
  folder.write("work/large", std::string(1'000'000, 'x'));
  folder.write("work/empty", "");
  folder.write("work/in/small", "x");
  folder.write("tmp/other", std::string(500'000, 'x'));
  fs::resize_file(folder.at("work/large"), 50'000'000);  // by a hole
  const uint64_t large = onDisk(folder.at("work/large")), other = onDisk(folder.at("tmp/other"));
  EXPECT_GE(large, 1'000'000u);
  EXPECT_LT(large, 2'000'000u);
  EXPECT_EQ(bytesBelow({folder.at("work"), folder.at("tmp")}),
            large + other + 2 * kLeast + onDisk(folder.at("work/in")));
}

TEST(DiskWalk, CountsAFileWithSeveralLinksOnce) {
  const ScratchFolder folder;
  folder.write("a/file", std::string(1'200'000, 'x'));
  const uint64_t once = bytesBelow({folder.at("a")});
  for (const char* name : {"a/second", "a/third"}) fs::create_hard_link(folder.at("a/file"), folder.at(name));
  EXPECT_NEAR(static_cast<double>(bytesBelow({folder.at("a")})), static_cast<double>(once), 3);
}

TEST(DiskWalk, FollowsNoLinks) {
  const ScratchFolder folder;
  folder.write("other/file", std::string(1'000'000, 'x'));
  fs::create_directories(folder.at("tree"));
  fs::create_directory_symlink(folder.at("other"), folder.at("tree/folder"));
  fs::create_symlink(folder.at("other/file"), folder.at("tree/file"));
  EXPECT_EQ(bytesBelow({folder.at("tree")}), 2 * kLeast);
}

TEST(DiskWalk, FindsNothingInWhatIsNotThere) {
  const ScratchFolder folder;
  EXPECT_EQ(bytesBelow({folder.at("missing")}), 0u);
}

// Where many folders are made quickly.
fs::path inMemory() {
  return fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
}

// Folders of which each holds a file and the next, the deepest a large file.
void makeDeep(const std::string& top, int depth) {
  ASSERT_EQ(::mkdir(top.c_str(), 0700), 0);
  int at = ::open(top.c_str(), O_RDONLY | O_DIRECTORY);
  for (int level = 0; level < depth; ++level) {
    ASSERT_EQ(::mkdirat(at, "down", 0700), 0);
    ::close(::openat(at, "file", O_CREAT | O_WRONLY, 0600));
    const int next = ::openat(at, "down", O_RDONLY | O_DIRECTORY);
    ::close(at);
    at = next;
  }
  const int large = ::openat(at, "large", O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(::posix_fallocate(large, 0, 5'000'000), 0);
  ::close(large);
  ::close(at);
}

// Deeper than a process has descriptors.
TEST(DiskWalk, FindsWhatLiesDeep) {
  const ScratchFolder folder(inMemory());
  makeDeep(folder.at("tree"), 1'100);
  DiskWalk walk({folder.at("tree")});
  EXPECT_TRUE(walk.advance(kAll));
  EXPECT_FALSE(walk.isTooDeep());
  EXPECT_GE(walk.bytes(), 5'000'000u + 1'100 * 2 * kLeast);
  EXPECT_LT(walk.entries(), 10'000u);
  removeTree(folder.at("tree"));
}

TEST(DiskWalk, SaysWhereItGoesNoDeeper) {
  const ScratchFolder folder(inMemory());
  makeDeep(folder.at("tree"), DiskWalk::kMaxDepth + 1);
  DiskWalk walk({folder.at("tree")});
  EXPECT_TRUE(walk.advance(kAll));
  EXPECT_TRUE(walk.isTooDeep());
  removeTree(folder.at("tree"));
}

void makeWide(const ScratchFolder& folder) {
  for (const char* part : {"tree/f", "tree/a/f", "tree/a/b/f", "tree/a/b/c/f"}) {
    for (int i = 0; i < 5; ++i) folder.write(part + std::to_string(i), "x");
  }
}

TEST(DiskWalk, FindsTheSameBitByBit) {
  const ScratchFolder folder;
  makeWide(folder);
  DiskWalk walk({folder.at("tree")});
  int pieces = 1;
  while (!walk.advance(3)) ++pieces;
  EXPECT_EQ(walk.bytes(), bytesBelow({folder.at("tree")}));
  EXPECT_GE(pieces, 8);
}

// Whenever the task moves the folder that is looked at out of the tree, nothing that lies beside it is
// counted, and what it left behind is.
TEST(DiskWalk, FindsItsWayBackFromAFolderThatIsMovedAway) {
  bool isDone = false;
  for (size_t step = 1; !isDone; ++step) {
    const ScratchFolder folder;
    makeWide(folder);
    folder.write("other/large", std::string(3'000'000, 'x'));
    DiskWalk walk({folder.at("tree")});
    isDone = walk.advance(step);
    const uint64_t before = bytesBelow({folder.at("tree")});
    fs::rename(folder.at("tree/a/b"), folder.at("other/b"));
    EXPECT_TRUE(walk.advance(kAll));
    EXPECT_GE(walk.bytes(), bytesBelow({folder.at("tree")})) << step;
    EXPECT_LE(walk.bytes(), before) << step;
  }
}

}  // namespace tarcil::disk_walk_test
