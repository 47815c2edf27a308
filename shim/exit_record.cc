#include "shim/exit_record.h"

#include <sys/wait.h>

#include <initializer_list>

#include "shim/plan.h"

namespace tarcil {
namespace {

using RecordText = Text<4096>;

const char* causeOf(bool isLost, bool isShutDown, bool wasExecuted) {
  if (!wasExecuted) return "never-started";
  return isLost ? "lost" : isShutDown ? "shut-down" : "exited";
}

void addOutcome(RecordText& text, const Report& report, const ExitRecord::Ends& ends) {
  const bool ended = report.phase == Report::Phase::kEnded;
  const bool executed = ended || report.phase == Report::Phase::kStarted;
  // Without a status of its own the command went down with its namespace.
  const int signal = ended      ? (WIFSIGNALED(report.waitStatus) ? WTERMSIG(report.waitStatus) : 0)
                     : executed ? SIGKILL
                                : 0;
  const int code = ended && WIFEXITED(report.waitStatus) ? WEXITSTATUS(report.waitStatus) : report.exitCode;
  // An end of its own may have come just before the lease's.
  const bool lost = ends.lease && signal == SIGKILL;
  text << "cause " << causeOf(lost, ends.shutDown, executed) << "\n";
  text << "code " << static_cast<uint64_t>(code) << "\n";
  text << "signal " << static_cast<uint64_t>(signal) << "\n";
  text << "started " << (executed ? report.started : 0) << "\n";
  text << "ended " << (ended ? report.ended : wallMicroseconds()) << "\n";
}

}  // namespace

bool ExitRecord::reserve(int directoryFd) {
  directoryFd_ = directoryFd;
  const long opened = sys::openAt(directoryFd, "exit.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (opened < 0) return false;
  fileFd_ = static_cast<int>(opened);
  static const char blank[sizeof(RecordText)] = {};
  return sys::write(fileFd_, blank, sizeof blank) == static_cast<long>(sizeof blank);
}

void ExitRecord::write(const Report& report, Ends ends, const TaskUse& use, const OutputStream* streams,
                       const OutputFile* files, int streamCount) {
  RecordText text;
  addOutcome(text, report, ends);
  text << "oom " << (ends.oom ? "1" : "0") << "\n";
  text << "peak " << use.peakMemory << "\n";
  text << "cpu " << use.cpuMicros << "\n";
  for (int i = 0; i < streamCount; ++i) {
    for (const char* cut : {streams[i].cut(), files[i].cut()}) {
      if (*cut != '\0') text << "cut " << cut << "\n";
    }
  }
  for (int i = 0; i < streamCount; ++i) {
    if (streams[i].lacksItsEnd()) text << "lacks " << (i == 0 ? "stdout" : "stderr") << "\n";
  }
  if (report.phase == Report::Phase::kPreparing) text << "problem stopped before its command was executed\n";
  if (ends.lease) text << "problem " << kLeaseEnded << "\n";
  if (!report.problem.empty()) text << "problem " << report.problem.get() << "\n";
  text << "complete\n";
  // What stands behind the last line, of what was there before, is not part of the record.
  if (sys::pwrite(fileFd_, text.get(), text.size(), 0) != static_cast<long>(text.size())) return;
  for (const char* name : {"started", "exit.new"}) sys::rename(directoryFd_, name, "exit");
}

}  // namespace tarcil
