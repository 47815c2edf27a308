#include "shim/output.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace tarcil {
namespace {

char buffer[64 * 1024];

}  // namespace

bool OutputStream::pump() {
  if (pipeFd_ < 0) return false;
  const ssize_t count = read(pipeFd_, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR;
  if (count == 0) {
    close(pipeFd_);
    pipeFd_ = -1;
    return false;
  }
  if (cut_.empty()) store(buffer, static_cast<uint64_t>(count));
  return true;
}

void OutputStream::store(const char* data, uint64_t size) {
  if (fileFd_ < 0) fileFd_ = openat(directoryFd_, name_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fileFd_ < 0) return cutHere(strerrordesc_np(errno));
  const uint64_t wanted = size < left_ ? size : left_;
  for (uint64_t done = 0; done < wanted;) {
    const ssize_t count = write(fileFd_, data + done, wanted - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return cutHere(count < 0 ? strerrordesc_np(errno) : strerrordesc_np(ENOSPC));
    done += static_cast<uint64_t>(count);
    written_ += static_cast<uint64_t>(count);
    left_ -= static_cast<uint64_t>(count);
  }
  if (size > wanted) cutHere("the limit of output is reached");
}

void OutputStream::cutHere(const char* reason) {
  cut_ << name_ << " cut after " << written_ << " bytes: " << reason;
  Text<256> line;
  line << "\n[tarcil: " << cut_.get() << "]\n";
  if (fileFd_ >= 0 && write(fileFd_, line.get(), line.size()) < 0) return;  // the exit record says it as well
}

}  // namespace tarcil
