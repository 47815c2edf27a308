// The program tarcil.
#include <fcntl.h>
#include <unistd.h>

#include "cli/command_line.h"

namespace {

// Where a standard stream is closed, the next file that is opened would be taken for it. What is written to
// this one in its place fails.
void holdStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != fd) ::_exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  holdStandardStreams();
  return tarcil::runCommandLine(argc, argv);
}
