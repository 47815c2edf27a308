#include "shim/exit_record.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

namespace tarcil {
namespace {

using RecordText = Text<4096>;

void addOutcome(RecordText& text, const Report& report) {
  const bool ended = report.phase == Report::Phase::kEnded;
  const bool executed = ended || report.phase == Report::Phase::kStarted;
  // Without a status of its own the command went down with its namespace.
  const int signal = ended      ? (WIFSIGNALED(report.waitStatus) ? WTERMSIG(report.waitStatus) : 0)
                     : executed ? SIGKILL
                                : 0;
  const int code = ended && WIFEXITED(report.waitStatus) ? WEXITSTATUS(report.waitStatus) : report.exitCode;
  text << "cause " << (executed ? "exited" : "never-started") << "\n";
  text << "code " << static_cast<uint64_t>(code) << "\n";
  text << "signal " << static_cast<uint64_t>(signal) << "\n";
  text << "started " << (executed ? report.started : 0) << "\n";
  text << "ended " << (ended ? report.ended : wallMicroseconds()) << "\n";
}

}  // namespace

bool ExitRecord::reserve(int directoryFd) {
  directoryFd_ = directoryFd;
  fileFd_ = openat(directoryFd, "exit.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fileFd_ < 0) return false;
  static const char blank[sizeof(RecordText)] = {};
  return ::write(fileFd_, blank, sizeof blank) == static_cast<ssize_t>(sizeof blank);
}

void ExitRecord::write(const Report& report, bool oomKilled, const OutputStream* streams, int streamCount) {
  RecordText text;
  addOutcome(text, report);
  text << "oom " << (oomKilled ? "1" : "0") << "\n";
  for (int i = 0; i < streamCount; ++i) {
    if (*streams[i].cut() != '\0') text << "cut " << streams[i].cut() << "\n";
  }
  if (report.phase == Report::Phase::kPreparing) text << "problem stopped before its command was executed\n";
  if (!report.problem.empty()) text << "problem " << report.problem.get() << "\n";
  text << "complete\n";
  const bool written = pwrite(fileFd_, text.get(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (!written) return;  // what stands behind the record's last line is not part of it
  for (const char* name : {"started", "exit.new"}) renameat(directoryFd_, name, directoryFd_, "exit");
}

}  // namespace tarcil
