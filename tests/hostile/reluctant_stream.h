// A stream whose owner is slow to read, or does not read at all.
#pragma once

#include <kj/async-io.h>
#include <kj/timer.h>

#include <cstdint>

#include "rpc/stream_around.h"

namespace tarcil::hostile {

enum class Reading : uint8_t { kAtOnce, kByteBySecond, kNever };

// Owns `inner`; `timer` outlives it.
class ReluctantStream final : public StreamAround {
 public:
  ReluctantStream(kj::Own<kj::AsyncIoStream> inner, kj::Timer& timer, Reading reading)
      : StreamAround(kj::mv(inner)), timer_(timer), reading_(reading) {}

  kj::Promise<size_t> tryRead(void* to, size_t least, size_t most) override {
    if (reading_ == Reading::kNever) return kj::NEVER_DONE;
    if (reading_ == Reading::kAtOnce || least == 0) return inner_->tryRead(to, least, most);
    return timer_.afterDelay(1 * kj::SECONDS).then([this, to, least, most]() {
      return inner_->tryRead(to, 1, 1).then([this, to, least, most](size_t read) -> kj::Promise<size_t> {
        if (read == 0 || least == 1) return read;
        return tryRead(static_cast<kj::byte*>(to) + 1, least - 1, most - 1).then([](size_t more) {
          return more + 1;
        });
      });
    });
  }
  kj::Promise<void> write(const void* data, size_t size) override { return inner_->write(data, size); }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    return inner_->write(pieces);
  }
  void shutdownWrite() override { inner_->shutdownWrite(); }

 private:
  kj::Timer& timer_;
  const Reading reading_;
};

}  // namespace tarcil::hostile
