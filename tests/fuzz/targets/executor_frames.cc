// What an executor of late binding writes to its monitor: the first byte says in pieces of how many bytes it
// comes.
#include "monitor/late/executor_frames.h"

#include <algorithm>

#include "tests/fuzz/edges.h"
#include "tests/fuzz/mutation.h"

namespace tarcil::fuzz {
namespace {

constexpr size_t kLengthBytes = 4;

struct Heard {
  std::string frames;  // as they were on the socket
  bool isBroken = false;

  bool operator==(const Heard&) const = default;
};

std::string onTheSocket(const ExecutorFrame& frame) {
  std::string bytes;
  const size_t length = frame.body.size() + 1;
  for (size_t i = 0; i < kLengthBytes; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
  return bytes.append(1, frame.kind).append(frame.body);
}

Heard heard(std::string_view bytes, size_t piece) {
  FrameReader reader;
  Heard heard;
  for (size_t fed = 0; fed < bytes.size();) {
    const std::string_view next = bytes.substr(fed, piece);
    const size_t left = fed - heard.frames.size();
    fed += next.size();
    reader.feed(next);
    while (const auto frame = reader.next()) {
      heard.frames += onTheSocket(*frame);
      if (const auto end = readEnd(frame->body)) {
        require(endFrame(end->number, end->code).substr(kLengthBytes + 1) == frame->body,
                "an end does not come back as it was written");
      }
    }
    require(reader.held() == left + next.size(), "it holds what it is done with");
  }
  heard.isBroken = reader.isBroken();
  return heard;
}

void check(const Bytes& input) {
  if (input.empty()) return;
  const std::string bytes(input.begin() + 1, input.end());
  const Heard whole = heard(bytes, std::max<size_t>(bytes.size(), 1));
  require(bytes.starts_with(whole.frames), "frames are not what was written");
  require(heard(bytes, 1 + input.front()) == whole, "frames are others where they come in pieces");
}

std::vector<Bytes> seeds() {
  const std::string frames = helloFrame("key") + endFrame(7, 0) + endFrame(8, -1);
  return {inputOf('\xff' + frames), inputOf('\x02' + frames + taskFrame(9, 0, 2, "what to do")),
          inputOf('\x10' + frames + frames + frames.substr(0, 11))};
}

// The frames with their lengths right, but for one of them now and then.
Bytes mutatedInput(const Bytes& input, Rng& rng) {
  if (input.empty() || rng.below(6) == 0) return mutated(input, rng);
  FrameReader reader;
  reader.feed(textOf({input.begin() + 1, input.end()}));
  std::vector<std::string> frames;
  while (auto frame = reader.next()) {
    if (rng.below(3) == 0) frame->kind = "HTEX"[rng.below(4)];
    if (rng.below(3) == 0) frame->body.resize(rng.below(40), '\x7f');
    std::string bytes = onTheSocket(*frame);
    if (rng.below(8) == 0) bytes[rng.below(kLengthBytes)] = static_cast<char>(oneOf(kEdgeIntegers, rng));
    for (uint64_t copies = rng.below(4); copies > 0; --copies) frames.push_back(bytes);
  }
  Bytes changed{static_cast<uint8_t>(rng())};
  for (const std::string& frame : frames) changed.insert(changed.end(), frame.begin(), frame.end());
  if (rng.below(3) == 0) changed.resize(1 + rng.below(changed.size()));
  return changed;
}

}  // namespace

const Target kExecutorFrames = {"executor_frames", check, seeds, mutatedInput};

}  // namespace tarcil::fuzz
