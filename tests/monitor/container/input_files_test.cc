#include "monitor/container/input_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/monitor/container/container_fixture.h"

namespace tarcil::container_input_files_test {

class InputFilesTest : public testing::Test {
 protected:
  void TearDown() override { ::close(directory_); }
  Status write(const std::vector<InputFile>& files) {
    return writeInputFiles(directory_, files, ::getuid(), ::getgid());
  }
  std::string path(const std::string& name) const { return folder_.path() + "/work" + name; }

  TemporaryFolder folder_;
  bool made_ = std::filesystem::create_directory(path(""));
  int directory_ = ::open(path("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
};

TEST_F(InputFilesTest, KeepsContentAndPermissionBitsOnly) {
  ASSERT_TRUE(write({{"a/b/c", 06751, "text"}, {"a/d", 0600, ""}}).ok());
  EXPECT_EQ(textOf(path("/a/b/c")), "text");
  struct stat status {};
  ASSERT_EQ(::stat(path("/a/b/c").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0751u);
}

TEST_F(InputFilesTest, RefusesPathsThatLeadElsewhere) {
  const std::string nul("a\0b", 3);
  for (const std::string& hostile :
       {std::string(), std::string("/abs"), std::string("../x"), std::string("a/../../x"),
        std::string("a//b"), std::string("./a"), std::string("a/"), std::string(".."), nul}) {
    const Status written = write({{hostile, 0644, "x"}});
    ASSERT_FALSE(written.ok()) << hostile;
    EXPECT_EQ(written.error().code, ErrorCode::kInvalid);
  }
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
}

TEST_F(InputFilesTest, FollowsNoSymbolicLink) {
  std::filesystem::create_directory_symlink(folder_.path(), path("/out"));
  std::filesystem::create_symlink(folder_.path() + "/target", path("/file"));
  EXPECT_FALSE(write({{"out/x", 0644, "x"}}).ok());
  EXPECT_FALSE(write({{"file", 0644, "x"}}).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/x"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/target"));
}

TEST_F(InputFilesTest, SaysWhichFileIsInTheWayOfAnother) {
  const Status written = write({{"a", 0644, "x"}, {"a/b", 0644, "y"}});
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("'a/b': Not a directory"), std::string::npos)
      << written.error().message;
}

}  // namespace tarcil::container_input_files_test
