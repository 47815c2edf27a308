#include "rpc/heartbeat.h"

#include <algorithm>
#include <utility>

#include "rpc/stream_around.h"

namespace tarcil {
namespace {

// Of a long message, so that what is taken of it shows.
constexpr size_t kPiece = 64 << 10;

}  // namespace

class Heartbeat::Stream final : public StreamAround {
 public:
  Stream(kj::Own<kj::AsyncIoStream> inner, Heartbeat& heartbeat)
      : StreamAround(kj::mv(inner)), heartbeat_(heartbeat) {}

  kj::Promise<size_t> tryRead(void* to, size_t least, size_t most) override {
    heartbeat_.isReading_ = true;
    // In parts: each shows that the peer goes on.
    return inner_->tryRead(to, std::min<size_t>(least, 1), most)
        .then([this, to, least, most](size_t got) -> kj::Promise<size_t> {
          heartbeat_.isReading_ = false;
          heartbeat_.hasMoved_ = true;
          if (got == 0 || got >= least) return got;
          return tryRead(static_cast<kj::byte*>(to) + got, least - got, most - got).then([got](size_t more) {
            return got + more;
          });
        });
  }

  kj::Promise<void> write(const void* data, size_t size) override {
    if (size <= kPiece) return writePiece(data, size);
    const auto* rest = static_cast<const kj::byte*>(data) + kPiece;
    return writePiece(data, kPiece).then([this, rest, size]() { return write(rest, size - kPiece); });
  }

  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    if (pieces.size() == 0) return kj::READY_NOW;
    const auto first = pieces[0];
    const auto rest = pieces.slice(1, pieces.size());
    return write(first.begin(), first.size()).then([this, rest]() { return write(rest); });
  }

  void shutdownWrite() override { inner_->shutdownWrite(); }

 private:
  // Only what had to wait shows that the peer goes on: the kernel takes some without it.
  kj::Promise<void> writePiece(const void* data, size_t size) {
    heartbeat_.isWriting_ = true;
    return inner_->write(data, size).then([this, looks = heartbeat_.looks_]() {
      heartbeat_.isWriting_ = false;
      heartbeat_.hasMoved_ |= looks != heartbeat_.looks_;
    });
  }

  Heartbeat& heartbeat_;
};

kj::Own<kj::AsyncIoStream> Heartbeat::listenTo(kj::Own<kj::AsyncIoStream> inner) {
  return kj::heap<Stream>(kj::mv(inner), *this);
}

kj::Promise<void> Heartbeat::silence(std::function<kj::Promise<void>()> ask) {
  ask_ = std::move(ask);
  return lookAgain().attach(kj::defer([this]() { asking_ = nullptr; }));
}

kj::Promise<void> Heartbeat::lookAgain() {
  return timer_.afterDelay(kHeartbeat).then([this]() -> kj::Promise<void> {
    look();
    if (silentLooks_ >= kLooksUntilSilent) return kj::READY_NOW;
    return lookAgain();
  });
}

void Heartbeat::look() {
  ++looks_;
  const bool hasMoved = std::exchange(hasMoved_, false);
  const bool isAwaited = isReading_ || isWriting_;
  silentLooks_ = hasMoved || !isAwaited ? 0 : silentLooks_ + 1;
  if (hasMoved || std::exchange(isAsking_, true)) return;
  asking_ = ask_()
                .then([this]() { isAsking_ = false; }, [this](kj::Exception&&) { isAsking_ = false; })
                .eagerlyEvaluate(nullptr);
}

}  // namespace tarcil
