#include "monitor/late/executor_frames.h"

#include <utility>

namespace tarcil {
namespace {

constexpr size_t kLengthBytes = 4;

void append(std::string& to, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i) & 0xff);
}

uint64_t numberAt(std::string_view bytes, size_t at, int count) {
  uint64_t number = 0;
  for (int i = count - 1; i >= 0; --i)
    number = number << 8 | static_cast<uint8_t>(bytes[at + static_cast<size_t>(i)]);
  return number;
}

std::string frame(char kind, std::string_view body) {
  std::string bytes;
  bytes.reserve(kLengthBytes + 1 + body.size());
  append(bytes, 1 + body.size(), kLengthBytes);
  bytes += kind;
  return bytes.append(body);
}

}  // namespace

std::string helloFrame(std::string_view key) {
  return frame('H', key);
}

std::string taskFrame(uint64_t number, uint32_t index, uint32_t tasks, std::string_view what) {
  std::string body;
  append(body, number, 8);
  append(body, index, 4);
  append(body, tasks, 4);
  return frame('T', body.append(what));
}

std::string endFrame(uint64_t number, int32_t code) {
  std::string body;
  append(body, number, 8);
  append(body, static_cast<uint32_t>(code), 4);
  return frame('E', body);
}

std::optional<ExecutorEnd> readEnd(std::string_view body) {
  if (body.size() != 12) return std::nullopt;
  return ExecutorEnd{numberAt(body, 0, 8), static_cast<int32_t>(numberAt(body, 8, 4))};
}

// What is done with goes: a process whose every piece ends within a frame would fill the memory otherwise.
void FrameReader::feed(std::string_view bytes) {
  held_.erase(0, std::exchange(read_, 0));
  held_.append(bytes);
}

std::optional<ExecutorFrame> FrameReader::next() {
  const std::string_view rest = std::string_view(held_).substr(read_);
  if (isBroken_ || rest.size() < kLengthBytes) return std::nullopt;
  const uint64_t length = numberAt(rest, 0, kLengthBytes);
  isBroken_ = length < 1 || length > kMaxFrameBytes;
  if (isBroken_ || rest.size() < kLengthBytes + length) return std::nullopt;
  ExecutorFrame frame{rest[kLengthBytes], std::string(rest.substr(kLengthBytes + 1, length - 1))};
  read_ += kLengthBytes + length;
  return frame;
}

}  // namespace tarcil
