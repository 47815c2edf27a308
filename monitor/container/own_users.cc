#include "monitor/container/own_users.h"

#include <errno.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tarcil {

bool canMakeOwnUsers() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tarcil
