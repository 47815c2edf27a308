#include "shim/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/monitor/container/container_fixture.h"

namespace tarcil::output_test {

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

  // Pieces of one digit each.
  static constexpr uint64_t kPiece = 10'000;
  static char digitAt(uint64_t at) { return static_cast<char>('0' + at / kPiece % 10); }

  // Goes on behind what was `written` until the stream is full.
  void fillUp(OutputStream& out, uint64_t& written) {
    for (; !out.isFull(0); written += kPiece) {
      write(std::string(kPiece, digitAt(written)));
      ASSERT_TRUE(out.pump(nullptr));
    }
  }
  void expectAllFrom(uint64_t begin) const {
    const std::string text = textOf(file());
    for (uint64_t at = begin; at < text.size(); at += 1'000) ASSERT_EQ(text[at], digitAt(at)) << at;
  }

  TemporaryFolder folder_;
  int directory_ = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int pipe_[2] = {-1, -1};
};

TEST_F(OutputTest, TheFileAppearsWithTheFirstByte) {
  OutputStream out = stream(100);
  EXPECT_FALSE(out.pump(nullptr));
  EXPECT_FALSE(std::filesystem::exists(file()));
  write("abc");
  EXPECT_TRUE(out.pump(nullptr));
  EXPECT_FALSE(out.pump(nullptr));
  EXPECT_EQ(textOf(file()), "abc");
}

// Of all that was written, what the file has room for on the disk.
uint64_t bytesOnDisk(const std::string& file) {
  struct stat status {};
  ::stat(file.c_str(), &status);
  return static_cast<uint64_t>(status.st_blocks) * 512;
}

TEST_F(OutputTest, TheNewestIsKeptAndStaysWhereItIs) {
  constexpr uint64_t kPieces = 100, kLimit = 100'000;
  OutputStream out = stream(kLimit);
  for (uint64_t i = 0; i < kPieces; ++i) {
    write(std::string(kPiece, digitAt(i * kPiece)));
    EXPECT_TRUE(out.pump(nullptr));
  }
  out.finish();
  const std::string text = textOf(file());
  ASSERT_EQ(text.size(), kPiece * kPieces);
  EXPECT_EQ(text.find('\0'), 0u);
  for (uint64_t at = text.size() - kLimit; at < text.size(); ++at) ASSERT_EQ(text[at], digitAt(at)) << at;
  EXPECT_LT(bytesOnDisk(file()), 2 * kLimit);
  EXPECT_THAT(out.cut(), testing::StartsWith("stdout without its first "));
}

TEST_F(OutputTest, ExactlyTheLimitIsNotCut) {
  OutputStream out = stream(3);
  write("abc");
  out.pump(nullptr);
  EXPECT_EQ(textOf(file()), "abc");
  EXPECT_STREQ(out.cut(), "");
}

// A pipe stands for a file system that has no holes.
TEST_F(OutputTest, WithoutHolesWhatIsBeyondTheLimitIsDrainedAndMarkedOnce) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  const int reader = ::open(file().c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(::fcntl(reader, F_SETPIPE_SZ, 1 << 20), 1 << 20);
  OutputStream out = stream(1000);
  for (int i = 0; i < 20; ++i) {
    write(std::string(10'000, 'x'));
    EXPECT_TRUE(out.pump(nullptr));
  }
  out.finish();
  const std::string mark = "stdout cut after 70000 bytes: the limit of output is reached";
  EXPECT_EQ(out.cut(), mark);
  std::string text(1 << 20, '\0');
  text.resize(static_cast<size_t>(::read(reader, text.data(), text.size())));
  EXPECT_EQ(text, std::string(70'000, 'x') + "\n[tarcil: " + mark + "]\n");
  ::close(reader);
}

TEST_F(OutputTest, NothingIsDroppedThatIsNotTaken) {
  constexpr uint64_t kLimit = 100'000;
  OutputStream out("stdout", directory_, pipe_[0], kLimit, Backlog(kLimit, 60));
  uint64_t written = 0;
  fillUp(out, written);
  EXPECT_EQ(written, kLimit);
  for (uint64_t taken = 0; taken < 10 * kLimit; taken += kPiece) {
    out.take(taken, 0);
    fillUp(out, written);
    expectAllFrom(taken);
    ASSERT_LT(bytesOnDisk(file()), 2 * kLimit);
  }
  out.finish();
  EXPECT_THAT(out.cut(), testing::EndsWith("bytes: the limit of output is reached"));
}

// A small file system that others have filled, and its own that the reader empties.
TEST_F(OutputTest, WaitsForRoomOnTheDiskWhileItIsTaken) {
  if (::mount("none", folder_.path().c_str(), "tmpfs", 0, "size=512k") != 0) GTEST_SKIP() << "needs root";
  const int disk = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  constexpr uint64_t kLimit = 100 << 20;
  OutputStream out("stdout", disk, pipe_[0], kLimit, Backlog(kLimit, 60));
  out.openFile();
  uint64_t written = 0;
  fillUp(out, written);
  EXPECT_GT(written, 128u << 10);
  EXPECT_LE(written, 512u << 10);
  EXPECT_TRUE(out.lacksRoom(0));
  for (uint64_t taken = 0; taken < 4 << 20; taken = written) {
    expectAllFrom(taken);
    out.take(written, 0);
    fillUp(out, written);
    ASSERT_GT(written, taken);
  }
  EXPECT_FALSE(out.lacksItsEnd());
  // Nobody takes any for the whole patience.
  EXPECT_TRUE(out.isFull(59));
  EXPECT_FALSE(out.isFull(61));
  for (int i = 0; i < 60; ++i) {
    write(std::string(kPiece, 'x'));
    EXPECT_TRUE(out.pump(nullptr));
  }
  EXPECT_TRUE(out.lacksItsEnd());
  EXPECT_THAT(out.cut(), testing::HasSubstr("No space left on device"));
  ::close(disk);
  ::umount2(folder_.path().c_str(), MNT_DETACH);
}

TEST_F(OutputTest, WithoutAReaderTheNewestIsKept) {
  constexpr uint64_t kLimit = 100'000;
  OutputStream out("stdout", directory_, pipe_[0], kLimit, Backlog(kLimit, 60));
  for (int i = 0; i < 100; ++i) {
    const bool isFull = out.isFull(0);
    EXPECT_EQ(isFull, i == 10) << i;
    EXPECT_FALSE(isFull && out.isFull(60));
    write(std::string(kPiece, 'x'));
    EXPECT_TRUE(out.pump(nullptr));
  }
  EXPECT_LT(bytesOnDisk(file()), 2 * kLimit);
  out.finish();
  EXPECT_THAT(out.cut(), testing::EndsWith("the limit of output is reached, and nobody took it"));
}

TEST_F(OutputTest, EndsWithTheLastWriter) {
  OutputStream out = stream(100);
  write("last");
  ::close(std::exchange(pipe_[1], -1));
  EXPECT_TRUE(out.pump(nullptr));
  EXPECT_FALSE(out.pump(nullptr));
  EXPECT_EQ(out.pipeFd(), -1);
}

}  // namespace tarcil::output_test
