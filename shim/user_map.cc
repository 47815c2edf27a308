#include "shim/user_map.h"

#include <initializer_list>

namespace tarcil {
namespace {

constexpr char kAllButTheLast[] = "0 0 4294967294\n";

long writeMap(int process, const char* name) {
  Text<64> path;
  path << "/proc/" << static_cast<uint64_t>(process) << name;
  const long file = sys::open(path.get(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return file;
  const long written = sys::write(static_cast<int>(file), kAllButTheLast, sizeof kAllButTheLast - 1);
  sys::close(static_cast<int>(file));
  return written;
}

}  // namespace

bool UserMap::open(const Plan& plan, Report& report) {
  if (plan.header->privileges != kPrivilegesOfItsOwn) return true;
  int ends[2];
  const long made = sys::call(SYS_pipe2, ends, O_CLOEXEC);
  if (made < 0) {
    report.fail("make a pipe", made);
    return false;
  }
  reader_ = ends[0];
  writer_ = ends[1];
  return true;
}

bool UserMap::write(int init, Report& report) {
  if (writer_ < 0) return true;
  long written = 0;
  for (const char* name : {"/uid_map", "/gid_map"}) {
    if (written >= 0) written = writeMap(init, name);
  }
  if (written >= 0) sys::write(writer_, "", 1);
  if (written < 0) report.fail("name the users of the task's user namespace", written);
  sys::close(writer_);
  sys::close(reader_);
  return written >= 0;
}

void UserMap::await() {
  if (reader_ < 0) return;
  sys::close(writer_);
  char answer = 0;
  if (sys::read(reader_, &answer, 1) != 1) sys::exit(1);
  sys::close(reader_);
}

}  // namespace tarcil
