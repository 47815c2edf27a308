#include "monitor/container/own_network.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/network.h"

namespace tarcil {
namespace {

bool tryNetwork() {
  PlanHeader header;
  header.network = kOwnNetwork;
  header.networkBytesPerSecond = 1'000'000;
  Plan plan{};
  plan.header = &header;
  Report report;
  HostNetwork host;
  return openHostNetwork(plan, host, report) && ::unshare(CLONE_NEWNET) == 0 &&
         setUpNetwork(plan, host, report);
}

}  // namespace

bool canMakeOwnNetworks() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(tryNetwork() ? 0 : 1);
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tarcil
