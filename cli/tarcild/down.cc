// tarcil down: stop the cluster that `tarcil up` started.
#include <kj/io.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include "cli/command_line.h"
#include "cli/output/output.h"
#include "cli/tarcild/commands.h"
#include "core/base/failure.h"
#include "core/base/units.h"
#include "deploy/local_cluster.h"
#include "deploy/slices/slices.h"
#include "deploy/supervisor.h"

namespace tarcil {
namespace {

struct DownFlags {
  std::string data;
  bool json = false;
};

// What waits to be written to the disks of slices is written before they go.
constexpr auto kMostWriting = std::chrono::minutes(10);

// Waits for the process to end, and says so where that takes longer than a moment.
bool awaitEnd(int process, Duration grace) {
  constexpr int kMomentMs = 1'000, kMoreMs = 5'000;
  pollfd ended{process, POLLIN, 0};
  if (::poll(&ended, 1, kMomentMs) == 1) return true;
  say("waiting for tasks to end, at most " + formatDuration(grace));
  const auto most = grace / std::chrono::milliseconds(1) + kMostStopping / kj::MILLISECONDS + kMoreMs;
  return ::poll(&ended, 1, static_cast<int>(most)) == 1;
}

void requireDone(const Status& status) {
  if (!status.ok()) throw Failure(kExitFailed, status.error().message);
}

// What a supervisor has left; where another one begins already, that takes it away.
void removeWhatIsLeft(const std::string& data) {
  if (!std::filesystem::exists(data + "/slices")) return;
  if (const auto lock = lockLocalCluster(data); lock.ok()) requireDone(removeSlices(data));
}

int down(const DownFlags& flags) {
  const std::string data = std::filesystem::absolute(requireInput(dataFolder(flags.data))).lexically_normal();
  const auto supervisor = runningSupervisor(data);
  if (!supervisor.ok()) {
    if (supervisor.error().code != ErrorCode::kDenied) removeWhatIsLeft(data);  // of one that was killed
    throw Failure(kExitNoCluster, supervisor.error().message);
  }
  const kj::AutoCloseFd process(static_cast<int>(::syscall(SYS_pidfd_open, supervisor->pid, 0)));
  // Between the look at the record and the descriptor the number may have gone to another process.
  if (process.get() >= 0 && startTimeOf(supervisor->pid) == supervisor->startTime) {
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) != 0) {
      throw Failure(kExitNoCluster, "the cluster in " + data + " belongs to another user; use sudo");
    }
    const bool hasSlices = std::filesystem::exists(data + "/slices");
    if (!awaitEnd(process.get(), supervisor->grace + (hasSlices ? kMostWriting : Duration::zero()))) {
      throw Failure(kExitFailed,
                    "process " + std::to_string(supervisor->pid) + " does not end; see " + data + "/log");
    }
  }
  removeWhatIsLeft(data);  // nothing, unless something still uses a slice
  if (flags.json) {
    printJson({{"data", data}, {"stopped", true}});
  } else {
    print("The cluster in " + data + " is stopped.\n");
  }
  return kExitDone;
}

}  // namespace

void addDown(CLI::App& app) {
  addCommand(
      app, "down",
      {"down [OPTIONS]", summaryOf("down"),
       "Stops agents, monitors with their tasks, and the master. Tasks get SIGTERM and their grace, but no "
       "more "
       "than `tarcil up --stop-grace` says. What is on disk stays: `tarcil up` on the same folder continues "
       "from it, and starts those tasks again. Late-bound tasks are killed.",
       "  tarcil down\n",
       "  0  stopped\n"
       "  1  a process did not end, or something uses a slice\n"
       "  2  bad arguments\n"
       "  3  no cluster is running there, or it is another user's\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<DownFlags>();
        command.add_option("--data", flags->data, "Folder given to `tarcil up`.")->type_name("DIR");
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return down(*flags); });
      });
}

}  // namespace tarcil
