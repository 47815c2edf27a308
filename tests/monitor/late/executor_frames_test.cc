// What executors write, as it comes off the socket. Whatever they write:
// tests/fuzz/targets/executor_frames.cc.
#include "monitor/late/executor_frames.h"

#include <gtest/gtest.h>

namespace tarcil::executor_frames_test {

// Every piece ends within a frame, so that there is always a part of one that is kept.
TEST(ExecutorFrames, AreForgottenOnceTheyAreRead) {
  const std::string frame = endFrame(7, 1);
  std::string written;
  for (int i = 0; i < 1'000; ++i) written += frame;
  const size_t piece = frame.size() + 1;
  FrameReader reader;
  int frames = 0;
  for (size_t at = 0; at < written.size(); at += piece) {
    reader.feed(std::string_view(written).substr(at, piece));
    while (reader.next()) ++frames;
    ASSERT_LE(reader.held(), frame.size() + piece);
  }
  EXPECT_EQ(frames, 1'000);
}

TEST(ExecutorFrames, BeyondTheBoundEndTheReading) {
  FrameReader reader;
  const uint32_t length = kMaxFrameBytes + 1;
  reader.feed({reinterpret_cast<const char*>(&length), sizeof length});
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.isBroken());
}

}  // namespace tarcil::executor_frames_test
