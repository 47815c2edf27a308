#include "shim/output.h"

#include <errno.h>
#include <linux/falloc.h>
#include <sys/vfs.h>

#include "shim/error_text.h"
#include "shim/sys.h"

namespace tarcil {
namespace {

// Holes are made of whole blocks, and seldom: each time an eighth of the limit, or this, has been written
// beyond it.
constexpr uint64_t kBlock = 4096;
constexpr uint64_t kMinHole = 16 * kBlock;

char buffer[64 * 1024];

// A disk that has more room than this is not full before the next look at it.
constexpr uint64_t kAmple = 64 << 20;

bool hasAmpleRoom(int fd) {
  struct statfs system {};
  if (sys::call(SYS_fstatfs, fd, &system) != 0) return true;
  return static_cast<uint64_t>(system.f_bavail) * static_cast<uint64_t>(system.f_bsize) > kAmple;
}

}  // namespace

bool OutputStream::pump(OutputFile* besides) {
  if (pipeFd_ < 0) return false;
  const long count = sys::read(pipeFd_, buffer, sizeof buffer);
  if (count < 0) return false;
  if (count == 0) {
    sys::close(pipeFd_);
    pipeFd_ = -1;
    return false;
  }
  if (cut_.empty()) store(buffer, static_cast<uint64_t>(count));
  if (besides != nullptr) besides->write(buffer, static_cast<uint64_t>(count));
  return true;
}

void OutputStream::openFile() {
  if (fileFd_ >= 0 || !cut_.empty()) return;
  const long opened = sys::openAt(directoryFd_, name_, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (opened < 0) return cutHere(opened);
  fileFd_ = static_cast<int>(opened);
}

void OutputStream::store(const char* data, uint64_t size) {
  openFile();
  if (fileFd_ < 0) return;
  if (written_ + size <= limit_ || makeRoom()) {
    append(data, size);
  } else if (written_ >= limit_ || append(data, limit_ - written_)) {
    cutHere(0);
  }
}

bool OutputStream::append(const char* data, uint64_t size) {
  for (uint64_t done = 0; done < size;) {
    const long count = sys::write(fileFd_, data + done, size - done);
    if (count <= 0) {
      cutHere(count < 0 ? count : -ENOSPC);
      return false;
    }
    done += static_cast<uint64_t>(count);
    written_ += static_cast<uint64_t>(count);
  }
  return true;
}

// Gives back what is older than the newest `limit_` bytes, and taken. False where the file system cannot.
bool OutputStream::makeRoom() {
  const uint64_t least = limit_ / 8 > kMinHole ? limit_ / 8 : kMinHole;
  if (written_ < dropped_ + limit_ + least) return true;
  return dropUpTo(backlog_.droppable(written_ - limit_));
}

bool OutputStream::dropUpTo(uint64_t end) {
  const uint64_t from = end / kBlock * kBlock;
  if (from <= dropped_) return true;
  const long made = sys::call(SYS_fallocate, fileFd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, from);
  if (made == 0) dropped_ = from;
  return made == 0;
}

bool OutputStream::hasRoom() {
  if (!backlog_.isKept() || fileFd_ < 0 || written_ + sizeof buffer <= reserved_) return true;
  if (hasAmpleRoom(fileFd_)) return true;
  const auto reserve = [this]() {
    return sys::call(SYS_fallocate, fileFd_, FALLOC_FL_KEEP_SIZE, written_, sizeof buffer);
  };
  // Not every file system can give room before it is used: then the write says.
  const auto isRefused = [](long made) { return made == -ENOSPC || made == -EDQUOT; };
  if (isRefused(reserve()) && (!dropUpTo(backlog_.taken()) || isRefused(reserve()))) return false;
  reserved_ = written_ + sizeof buffer;
  return true;
}

void OutputStream::finish() {
  if (fileFd_ >= 0 && reserved_ > 0) sys::call(SYS_ftruncate, fileFd_, written_);
  if (dropped_ == 0) return;
  if (!cut_.empty()) cut_ << "; ";
  cut_ << name_ << " without its first " << dropped_ << " bytes: the limit of output is reached";
  if (backlog_.wasGivenUp()) cut_ << ", and nobody took it";
}

void OutputStream::cutHere(long failure) {
  lacksItsEnd_ = true;
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
