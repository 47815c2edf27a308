// Removal of trees that a task may leave.
#include "monitor/container/tree_removal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/scratch_folder.h"

namespace tarcil::tree_removal_test {

namespace fs = std::filesystem;

// Deeper than a process has descriptors, and a path characters.
TEST(TreeRemoval, TakesAnyDepth) {
  const ScratchFolder folder;
  const std::string top = folder.at("tree");
  ASSERT_EQ(::mkdir(top.c_str(), 0700), 0);
  int at = ::open(top.c_str(), O_RDONLY | O_DIRECTORY);
  for (int depth = 0; depth < 5'000; ++depth) {
    ASSERT_EQ(::mkdirat(at, "down", 0700), 0);
    ::close(::openat(at, "file", O_CREAT | O_WRONLY, 0600));
    const int next = ::openat(at, "down", O_RDONLY | O_DIRECTORY);
    ::close(at);
    at = next;
  }
  ::close(at);
  EXPECT_TRUE(removeTree(top));
  EXPECT_FALSE(fs::exists(top));
}

TEST(TreeRemoval, FollowsNoLinksAndMindsNoNames) {
  const ScratchFolder folder;
  folder.write("kept", "");
  fs::create_directories(folder.at("tree/.removed-1/a/b"));
  fs::create_directories(folder.at("tree/c/.removed-2/d"));
  fs::create_directories(folder.at("tree/c/e/f"));
  fs::create_directory_symlink(folder.at(""), folder.at("tree/c/link"));
  fs::create_symlink(folder.at("kept"), folder.at("tree/c/other"));
  EXPECT_TRUE(removeTree(folder.at("tree")));
  EXPECT_FALSE(fs::exists(folder.at("tree")));
  EXPECT_TRUE(fs::exists(folder.at("kept")));
}

TEST(TreeRemoval, TakesFilesAndWhatIsNotThere) {
  const ScratchFolder folder;
  folder.write("file", "x");
  fs::create_symlink(folder.at("file"), folder.at("link"));
  EXPECT_TRUE(removeTree(folder.at("link")));
  EXPECT_TRUE(fs::exists(folder.at("file")));
  EXPECT_TRUE(removeTree(folder.at("file")));
  EXPECT_TRUE(removeTree(folder.at("file")));
}

}  // namespace tarcil::tree_removal_test
