#include "rpc/coalescing_stream.h"

#include <kj/debug.h>
#include <kj/vector.h>

#include <cstring>

#include "rpc/stream_around.h"
#include "rpc/turns.h"

namespace tarcil {
namespace {

constexpr size_t kReadBuffer = 64 << 10;

class CoalescingStream final : public StreamAround {
 public:
  CoalescingStream(kj::Timer& timer, kj::Own<kj::AsyncIoStream> inner, BeyondUnread beyond)
      : StreamAround(kj::mv(inner)),
        timer_(timer),
        beyond_(beyond),
        buffer_(kj::heapArray<kj::byte>(kReadBuffer)) {}

  kj::Promise<size_t> tryRead(void* to, size_t minBytes, size_t maxBytes) override {
    if (beyond_ == BeyondUnread::kReadsNoMore && flushing_ && unread_ > kMaxUnread) {
      return flushed_.addBranch().then(
          [this, to, minBytes, maxBytes]() { return tryRead(to, minBytes, maxBytes); });
    }
    const size_t held = take(static_cast<kj::byte*>(to), maxBytes);
    if (held >= minBytes) return held;
    to = static_cast<kj::byte*>(to) + held;
    minBytes -= held;
    maxBytes -= held;
    if (minBytes >= kReadBuffer) {
      return inner_->tryRead(to, minBytes, maxBytes).then([held](size_t read) { return held + read; });
    }
    return inner_->tryRead(buffer_.begin(), minBytes, kReadBuffer)
        .then([this, held, to, maxBytes](size_t read) {
          filled_ = {0, read};
          return held + take(static_cast<kj::byte*>(to), maxBytes);
        });
  }

  kj::Promise<void> write(const void* data, size_t size) override {
    append(kj::arrayPtr(static_cast<const kj::byte*>(data), size));
    return accepted();
  }

  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    for (auto piece : pieces) append(piece);
    return accepted();
  }

  void shutdownWrite() override {
    if (flushing_) {
      shutdownWanted_ = true;
    } else {
      inner_->shutdownWrite();
    }
  }

 private:
  struct Range {
    size_t begin = 0, end = 0;
  };

  size_t take(kj::byte* to, size_t most) {
    const size_t size = kj::min(most, filled_.end - filled_.begin);
    if (size > 0) memcpy(to, buffer_.begin() + filled_.begin, size);
    filled_.begin += size;
    return size;
  }

  void append(kj::ArrayPtr<const kj::byte> piece) {
    pending_.addAll(piece);
    unread_ += piece.size();
  }

  kj::Promise<void> accepted() {
    KJ_IF_MAYBE (exception, failure_) {
      return kj::cp(*exception);
    }
    if (!flushing_) {
      flushing_ = true;
      flushed_ = untilIdle(timer_)
                     .then([this]() { return flush(); })
                     .eagerlyEvaluate([this](kj::Exception&& e) { fail(kj::mv(e)); })
                     .fork();
    }
    if (pending_.size() < kMaxUnread || beyond_ == BeyondUnread::kReadsNoMore) return kj::READY_NOW;
    return flushed_.addBranch();
  }

  kj::Promise<void> flush() {
    auto data = pending_.releaseAsArray();
    auto written = inner_->write(data.begin(), data.size());
    return written.then([this, size = data.size()]() { unread_ -= size; })
        .attach(kj::mv(data))
        .then([this]() -> kj::Promise<void> {
          if (pending_.size() > 0) return flush();
          flushing_ = false;
          if (shutdownWanted_) inner_->shutdownWrite();
          return kj::READY_NOW;
        });
  }

  // The RPC system does not look at its writes one by one: ending the reading side is what tells it.
  void fail(kj::Exception&& exception) {
    failure_ = kj::mv(exception);
    flushing_ = false;
    inner_->abortRead();
  }

  kj::Timer& timer_;
  const BeyondUnread beyond_;
  size_t unread_ = 0;  // written and not taken
  kj::Array<kj::byte> buffer_;
  Range filled_;  // what of buffer_ has been read from the peer and not been taken
  kj::Vector<kj::byte> pending_;
  bool flushing_ = false;
  bool shutdownWanted_ = false;
  kj::Maybe<kj::Exception> failure_;
  kj::ForkedPromise<void> flushed_ = nullptr;
};

}  // namespace

kj::Own<kj::AsyncIoStream> coalescing(kj::Timer& timer, kj::Own<kj::AsyncIoStream> inner,
                                      BeyondUnread beyond) {
  return kj::heap<CoalescingStream>(timer, kj::mv(inner), beyond);
}

}  // namespace tarcil
