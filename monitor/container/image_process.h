// A process that fetches one image (image/main.cc), and what it came to.
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/io.h>

#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "image/arguments.h"

namespace tarcil {

// Destroying one ends its process, with all that it has started. On the thread of its event port.
class ImageProcess final {
 public:
  // `program`: tarcil-image of the same build. kInternal: it cannot be started.
  static Result<kj::Own<ImageProcess>> start(const std::string& program, const image::Arguments& arguments,
                                             kj::UnixEventPort& port);

  // For start() only.
  ImageProcess(kj::UnixEventPort& port, kj::AutoCloseFd pidfd, kj::AutoCloseFd output);
  ~ImageProcess() noexcept;
  KJ_DISALLOW_COPY(ImageProcess);

  // When all of its processes are gone. kInvalid: what is wrong with the image, or with the way to it, or
  // that it took longer than `most`. kInternal: what is wrong with the server. Called once.
  kj::Promise<Result<image::Fetched>> outcome(Duration most);

 private:
  Result<image::Fetched> ended();

  kj::UnixEventPort& port_;
  const kj::AutoCloseFd pidfd_;
  const kj::AutoCloseFd output_;
  kj::UnixEventPort::FdObserver observer_;  // of pidfd_
  bool reaped_ = false;
};

}  // namespace tarcil
