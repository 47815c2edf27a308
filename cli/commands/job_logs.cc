// tarcil job logs: what a task wrote.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "cli/output.h"
#include "cli/task_output.h"

namespace tarcil {
namespace {

struct LogFlags {
  ContextFlags cluster;
  std::string id;
  TaskIndex task = 0;
  bool isStderr = false;
  bool follow = false;
};

int logs(const LogFlags& flags) {
  Cluster cluster(flags.cluster);
  const OutputSource source{cluster.job(flags.id), flags.task,
                            flags.isStderr ? wire::Stream::STDERR : wire::Stream::STDOUT};
  const Sink sink = [](std::string_view text) {
    print(text);
    flushOutput();
  };
  cluster.wait(
      copyOutput(cluster.client(), source, flags.follow ? Follow::kToTheEnd : Follow::kWhatIsThere, sink));
  return kExitDone;
}

}  // namespace

void addJobLogs(CLI::App& job) {
  CLI::App& command =
      addCommand(job, "logs",
                 {"job logs [OPTIONS] ID", "Print what a task wrote.",
                  "Prints the standard output (or error) of one task so far, byte for byte. With -f"
                  " it goes on until the task has ended.",
                  "  tarcil job logs 3f2a\n"
                  "  tarcil job logs -f --task 3 3f2a\n"
                  "  tarcil job logs --stderr 3f2a\n",
                  ""});
  auto flags = std::make_shared<LogFlags>();
  command.add_option("ID", flags->id, "The job's id, or the first 4 or more digits of it.")->required();
  command.add_option("--task", flags->task, "Which task, from 0; default 0.")
      ->check(wholeNumber(0, kMaxTasks - 1))
      ->type_name("N");
  command.add_flag("--stderr", flags->isStderr, "Standard error in place of standard output.");
  command.add_flag("-f,--follow", flags->follow, "Go on until the task has ended.");
  addClusterFlags(command, flags->cluster);
  onRun(command, [flags]() { return logs(*flags); });
}

}  // namespace tarcil
