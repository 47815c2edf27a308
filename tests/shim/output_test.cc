#include "shim/output.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/monitor/container_fixture.h"

namespace tarcil {
namespace {

class OutputTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK), 0); }
  void TearDown() override {
    ::close(directory_);
    ::close(pipe_[1]);
  }
  void write(const std::string& text) {
    ASSERT_EQ(::write(pipe_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  OutputStream stream(uint64_t limit) { return OutputStream("stdout", directory_, pipe_[0], limit); }
  std::string file() const { return folder_.path() + "/stdout"; }

  TemporaryFolder folder_;
  int directory_ = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int pipe_[2] = {-1, -1};
};

TEST_F(OutputTest, TheFileAppearsWithTheFirstByte) {
  OutputStream out = stream(100);
  EXPECT_FALSE(out.pump());
  EXPECT_FALSE(std::filesystem::exists(file()));
  write("abc");
  EXPECT_TRUE(out.pump());
  EXPECT_FALSE(out.pump());
  EXPECT_EQ(textOf(file()), "abc");
}

TEST_F(OutputTest, ExactlyTheLimitIsNotCut) {
  OutputStream out = stream(3);
  write("abc");
  out.pump();
  EXPECT_EQ(textOf(file()), "abc");
  EXPECT_STREQ(out.cut(), "");
}

TEST_F(OutputTest, WhatIsBeyondTheLimitIsDrainedAndMarkedOnce) {
  OutputStream out = stream(2);
  write("abc");
  EXPECT_TRUE(out.pump());
  write("def");
  EXPECT_TRUE(out.pump());
  EXPECT_STREQ(out.cut(), "stdout cut after 2 bytes: the limit of output is reached");
  EXPECT_EQ(textOf(file()), "ab\n[tarcil: stdout cut after 2 bytes: the limit of output is reached]\n");
}

TEST_F(OutputTest, EndsWithTheLastWriter) {
  OutputStream out = stream(100);
  write("last");
  ::close(std::exchange(pipe_[1], -1));
  EXPECT_TRUE(out.pump());
  EXPECT_FALSE(out.pump());
  EXPECT_EQ(out.pipeFd(), -1);
}

}  // namespace
}  // namespace tarcil
