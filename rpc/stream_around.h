// What a stream around another one leaves to it.
#pragma once

#include <kj/async-io.h>

namespace tarcil {

// Owns `inner`.
class StreamAround : public kj::AsyncIoStream {
 public:
  explicit StreamAround(kj::Own<kj::AsyncIoStream> inner) : inner_(kj::mv(inner)) {}

  kj::Promise<void> whenWriteDisconnected() override { return inner_->whenWriteDisconnected(); }
  void abortRead() override { inner_->abortRead(); }
  void getsockopt(int level, int option, void* value, kj::uint* length) override {
    inner_->getsockopt(level, option, value, length);
  }
  void setsockopt(int level, int option, const void* value, kj::uint length) override {
    inner_->setsockopt(level, option, value, length);
  }
  kj::Maybe<int> getFd() const override { return inner_->getFd(); }

 protected:
  kj::Own<kj::AsyncIoStream> inner_;
};

}  // namespace tarcil
