#include "shim/output.h"

#include <errno.h>

#include "shim/error_text.h"
#include "shim/sys.h"

namespace tarcil {
namespace {

char buffer[64 * 1024];

}  // namespace

bool OutputStream::pump() {
  if (pipeFd_ < 0) return false;
  const long count = sys::read(pipeFd_, buffer, sizeof buffer);
  if (count < 0) return false;
  if (count == 0) {
    sys::close(pipeFd_);
    pipeFd_ = -1;
    return false;
  }
  if (cut_.empty()) store(buffer, static_cast<uint64_t>(count));
  return true;
}

void OutputStream::store(const char* data, uint64_t size) {
  if (fileFd_ < 0) {
    const long opened = sys::openAt(directoryFd_, name_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (opened < 0) return cutHere(opened);
    fileFd_ = static_cast<int>(opened);
  }
  const uint64_t wanted = size < left_ ? size : left_;
  for (uint64_t done = 0; done < wanted;) {
    const long count = sys::write(fileFd_, data + done, wanted - done);
    if (count <= 0) return cutHere(count < 0 ? count : -ENOSPC);
    done += static_cast<uint64_t>(count);
    written_ += static_cast<uint64_t>(count);
    left_ -= static_cast<uint64_t>(count);
  }
  if (size > wanted) cutHere(0);
}

void OutputStream::cutHere(long failure) {
  cut_ << name_ << " cut after " << written_ << " bytes: ";
  if (failure == 0) {
    cut_ << "the limit of output is reached";
  } else {
    cut_ << Failure{failure};
  }
  Text<256> line;
  line << "\n[tarcil: " << cut_.get() << "]\n";
  // Where the disk does not take even this, the exit record says it.
  if (fileFd_ >= 0) sys::write(fileFd_, line.get(), line.size());
}

}  // namespace tarcil
