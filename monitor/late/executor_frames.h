// What monitors and executor processes say to each other over a local socket
// (docs/late-binding.md: executors).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarcil {

// On the socket: the length of the rest as 4 bytes, then the kind, then the body. Numbers are unsigned unless
// said otherwise, the lowest byte first.
//   'H' executor to monitor, first: the key that it was started with
//   'T' monitor to executor: number of the task (8 bytes), its index in its job (4), tasks of the job (4),
//   what to
//       do (the rest)
//   'E' executor to monitor: number of the task (8), exit code (4, signed)
struct ExecutorFrame {
  char kind = 0;
  std::string body;
};

inline constexpr size_t kMaxFrameBytes = 4u << 20;

std::string helloFrame(std::string_view key);
std::string taskFrame(uint64_t number, uint32_t index, uint32_t tasks, std::string_view what);
std::string endFrame(uint64_t number, int32_t code);

struct ExecutorEnd {
  uint64_t number = 0;
  int32_t code = 0;
};
// Nothing where the body is none of an 'E'.
std::optional<ExecutorEnd> readEnd(std::string_view body);

// Takes bytes as they come and gives frames. Pure.
class FrameReader {
 public:
  void feed(std::string_view bytes);
  // Nothing until the next frame is whole.
  std::optional<ExecutorFrame> next();
  // A length is out of bounds: nothing that follows can be read.
  bool isBroken() const { return isBroken_; }
  // Bytes in memory: where frames are taken as they come, never more than the longest and what was fed last.
  size_t held() const { return held_.size(); }

 private:
  std::string held_;
  size_t read_ = 0;  // bytes of it that are done with
  bool isBroken_ = false;
};

}  // namespace tarcil
