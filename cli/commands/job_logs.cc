// tarcil job logs: what a task wrote.
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/late_agents.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/task_output.h"
#include "core/base/failure.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

struct LogFlags {
  ContextFlags cluster;
  std::string job;
  std::optional<TaskIndex> task;
  std::optional<uint32_t> attempt;
  bool allTasks = false;
  std::optional<uint64_t> tail;  // lines
  bool isStderr = false;
  bool follow = false;
  bool json = false;
};

// Whether the task's present attempt has been started: before, its output would be waited for.
bool hasStarted(const TaskRecord& task) {
  return task.state != RunState::kQueued && task.state != RunState::kStarting;
}

// What is there of one stream; null where it is gone.
Json textOf(Cluster& cluster, const OutputSource& source) {
  std::string text;
  const Sink sink = [&text](std::string_view piece) { text.append(piece); };
  auto copied = copyOutput(cluster.client(), source, Follow::kWhatIsThere, sink)
                    .then([](uint64_t) { return true; },
                          [](kj::Exception&& exception) {
                            if (fromException(exception).code == ErrorCode::kNotFound) return false;
                            kj::throwFatalException(kj::mv(exception));
                          });
  return cluster.wait(kj::mv(copied)) ? Json(text) : Json();
}

// The attempts of which something may be kept, as in "0, 1 and 2".
std::string attemptsOf(const TaskRecord& task) {
  std::string text;
  for (const EarlierAttempt& earlier : task.earlier)
    text += (text.empty() ? "" : ", ") + std::to_string(earlier.attempt);
  if (!hasStarted(task)) return text;
  return text + (text.empty() ? "" : " and ") + std::to_string(task.attempt);
}

// Of the attempt that was asked for; 0 where none was.
AllocationId chosenAttempt(const TaskRecord& task, std::optional<uint32_t> attempt) {
  if (!attempt) return 0;
  if (*attempt == task.attempt && hasStarted(task)) return task.allocation;
  const auto earlier = std::ranges::find(task.earlier, *attempt, &EarlierAttempt::attempt);
  if (earlier != task.earlier.end()) return earlier->allocation;
  const std::string kept = attemptsOf(task);
  throw Failure(kExitFailed,
                "task " + std::to_string(task.index) + " has no attempt " + std::to_string(*attempt) +
                    " that is kept: " + (kept.empty() ? "it has not started" : "there are " + kept));
}

Json jsonOf(Cluster& cluster, const TaskRecord& task, std::optional<uint32_t> attempt) {
  const AllocationId only = chosenAttempt(task, attempt);
  if (only == 0 && !hasStarted(task)) return {{"task", task.index}, {"stdout", nullptr}, {"stderr", nullptr}};
  const auto text = [&](wire::Stream stream) {
    return textOf(cluster, {.job = task.job, .task = task.index, .stream = stream, .only = only});
  };
  return {
      {"task", task.index}, {"stdout", text(wire::Stream::STDOUT)}, {"stderr", text(wire::Stream::STDERR)}};
}

int printAsJson(Cluster& cluster, const JobStatus& job, const LogFlags& flags) {
  Json tasks = Json::array();
  for (const TaskRecord& task : job.tasks) {
    if (!flags.task || *flags.task == task.index) tasks.push_back(jsonOf(cluster, task, flags.attempt));
  }
  printJson({{"id", toString(job.record.id)},
             {"number", jsonNumber(job.record.number)},
             {"tasks", std::move(tasks)}});
  return kExitDone;
}

TaskIndex chosenTask(const LogFlags& flags, size_t tasks) {
  const TaskIndex index = flags.task.value_or(0);
  if (index < tasks) return index;
  throw Failure(kExitFailed, "the job has no task " + std::to_string(index) + ": it has " +
                                 std::to_string(tasks) + ", from 0");
}

Follow followOf(const LogFlags& flags) {
  return flags.follow ? Follow::kToTheEnd : Follow::kWhatIsThere;
}

wire::Stream chosenStream(const LogFlags& flags) {
  return flags.isStderr ? wire::Stream::STDERR : wire::Stream::STDOUT;
}

// Hands text on line by line, each with `prefix` before it; of the last `tail` lines where that is given,
// else of all. What has no end of line yet waits for it.
class Lines {
 public:
  Lines(std::string prefix, std::optional<uint64_t> tail, Sink to)
      : prefix_(std::move(prefix)), tail_(tail), to_(std::move(to)) {}

  void add(std::string_view text) {
    for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      rest_.append(text.substr(0, end));
      text.remove_prefix(end + 1);
      endLine();
    }
    rest_.append(text);
  }
  // The text is over.
  void finish() {
    if (!rest_.empty()) endLine();
    for (const std::string& line : kept_) to_(line);
    kept_.clear();
  }

 private:
  void endLine() {
    std::string line = prefix_ + std::exchange(rest_, {}) + "\n";
    if (!tail_) return to_(line);
    kept_.push_back(std::move(line));
    if (kept_.size() > *tail_) kept_.pop_front();
  }

  std::string prefix_;
  std::optional<uint64_t> tail_;
  Sink to_;
  std::string rest_;
  std::deque<std::string> kept_;
};

// Copies to stdout. What goes wrong there is thrown as it is: a promise would put it into words of its own.
void copyToStdout(Cluster& cluster, const std::function<kj::Promise<void>(Sink)>& copy) {
  std::optional<Failure> failure;
  try {
    cluster.wait(copy([&failure](std::string_view text) {
      try {
        print(text);
        flushOutput();
      } catch (const Failure& problem) {
        failure = problem;
        kj::throwFatalException(KJ_EXCEPTION(FAILED, "stdout cannot be written"));
      }
    }));
  } catch (const kj::Exception&) {
    if (failure) throw Failure(*failure);
    throw;
  }
}

// --- Jobs that are bound late: the agent that has the job knows where the output is, once a task is over

Json lateTextOf(Cluster& cluster, LateAgents& agents, const OutputSource& source) {
  std::string text;
  auto copied =
      agents.copyOutput(source, Follow::kWhatIsThere, [&text](std::string_view piece) { text.append(piece); })
          .then([]() { return true; },
                [](kj::Exception&& exception) {
                  if (fromException(exception).code == ErrorCode::kNotFound) return false;
                  kj::throwFatalException(kj::mv(exception));
                });
  return cluster.wait(kj::mv(copied)) ? Json(text) : Json();
}

int lateLogs(Cluster& cluster, const FoundJob& named, const LogFlags& flags) {
  const JobId& id = named.id;
  LateAgents agents(cluster);
  const auto job = agents.find(id);
  if (!job) throw agents.unknown(id);
  if (flags.allTasks || flags.tail)
    throw badInput("--all and --tail are for other jobs than late-bound ones, whose tasks --json shows");
  if (flags.attempt) throw badInput("--attempt is for other jobs than late-bound ones: leave it out");
  const TaskIndex index = chosenTask(flags, job->tasks.size());
  if (flags.json) {
    Json tasks = Json::array();
    for (TaskIndex i = 0; i < job->tasks.size(); ++i) {
      if (flags.task && index != i) continue;
      const bool isOver = isFinal(job->tasks[i].state);
      const auto text = [&](wire::Stream stream) {
        return isOver ? lateTextOf(cluster, agents, {id, i, stream}) : Json();
      };
      tasks.push_back(
          {{"task", i}, {"stdout", text(wire::Stream::STDOUT)}, {"stderr", text(wire::Stream::STDERR)}});
    }
    printJson(
        {{"id", toString(named.id)}, {"number", jsonNumber(named.number)}, {"tasks", std::move(tasks)}});
    return kExitDone;
  }
  if (!flags.follow && !isFinal(job->tasks[index].state)) {
    say("task " + std::to_string(index) +
        " is not over; it is bound late, and its output can be read once it is over: -f waits for that");
    return kExitDone;
  }
  copyToStdout(cluster, [&](Sink sink) {
    return agents.copyOutput({id, index, chosenStream(flags)}, followOf(flags), std::move(sink));
  });
  return kExitDone;
}

// One after the other, so that no task's lines are torn apart.
void printTask(Cluster& cluster, const TaskRecord& task, const LogFlags& flags) {
  const OutputSource source{.job = task.job,
                            .task = task.index,
                            .stream = chosenStream(flags),
                            .only = chosenAttempt(task, flags.attempt)};
  const std::string prefix = flags.allTasks ? std::to_string(task.index) + ": " : "";
  copyToStdout(cluster, [&](Sink sink) -> kj::Promise<void> {
    if (!flags.allTasks && !flags.tail)
      return copyOutput(cluster.client(), source, followOf(flags), std::move(sink)).ignoreResult();
    auto lines = std::make_shared<Lines>(prefix, flags.tail, std::move(sink));
    return copyOutput(cluster.client(), source, followOf(flags),
                      [lines](std::string_view text) { lines->add(text); })
        .then([lines](uint64_t) { lines->finish(); });
  });
}

int logs(const LogFlags& given) {
  Cluster cluster(given.cluster);
  const FoundJob named = cluster.job(given.job);
  LogFlags flags = given;
  if (named.task && !flags.task) flags.task = named.task;
  const auto found = tryFetchJob(cluster, named.id);
  if (!found) return lateLogs(cluster, named, flags);
  const JobStatus& job = *found;
  const TaskIndex index = chosenTask(flags, job.tasks.size());
  if (flags.attempt && !flags.task) flags.task = index;
  if (flags.json) return printAsJson(cluster, job, flags);
  const TaskRecord& chosen = job.tasks[index];
  if (!flags.follow && !flags.attempt && !hasStarted(chosen)) {
    const std::string before =
        chosen.earlier.empty()
            ? ""
            : "; --attempt " + std::to_string(chosen.earlier.back().attempt) + " shows what it wrote before";
    say("task " + std::to_string(index) + " is " + std::string(name(chosen.state)) +
        ", and has written nothing yet; -f waits for it" + before);
    return kExitDone;
  }
  const bool areOthers = !flags.task && !flags.allTasks && job.tasks.size() > 1;
  if (areOthers) {
    say("of task 0 of " + std::to_string(job.tasks.size()) +
        "; --task N for another one, --all for all of them");
  }
  for (const TaskRecord& task : job.tasks) {
    if (flags.allTasks ? hasStarted(task) : task.index == index) printTask(cluster, task, flags);
  }
  return kExitDone;
}

}  // namespace

void addJobLogs(CLI::App& job) {
  addCommand(
      job, "logs",
      {"job logs [OPTIONS] JOB", "Print what a task wrote.",
       "Prints the standard output (or error) of one task so far, byte for byte. With -f it continues until "
       "the task has ended.\n\n"
       "Of a task that was started again the present attempt is shown; --attempt shows one before it, of the "
       "last five, for as long as its server keeps the output.\n\n"
       "The output of a job with policy late-binding can be read once the task is over, as long as its "
       "agent remembers the job.\n\n"
       "With --json: both streams of every task, or of the one given by --task, as texts; null where the "
       "task has not started or its output is gone. What is not UTF-8 is replaced.",
       "  tarcil job logs 4711\n"
       "  tarcil job logs -f 4711.3\n"
       "  tarcil job logs --stderr 4711\n"
       "  tarcil job logs --attempt 0 4711.3\n"
       "  tarcil job logs --all --tail 3 4711\n"
       "  tarcil job logs --json 4711\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<LogFlags>();
        addJobName(command, flags->job);
        command.add_option("--task", flags->task, "Which task, from 0; default 0.")
            ->check(wholeNumber(0, kMaxTasks - 1))
            ->type_name("N");
        CLI::Option* attempt = command
                                   .add_option("--attempt", flags->attempt,
                                               "Of this attempt, from 0, in place of the present one.")
                                   ->check(wholeNumber(0, UINT32_MAX))
                                   ->type_name("N");
        CLI::Option* all =
            command.add_flag("--all", flags->allTasks,
                             "All tasks that have started, one after the other, with the number "
                             "of its task before each line.");
        CLI::Option* tail =
            command.add_option("--tail", flags->tail, "Only so many of the last lines of a task.")
                ->check(wholeNumber(1, 1'000'000))
                ->type_name("N");
        CLI::Option* isStderr =
            command.add_flag("--stderr", flags->isStderr, "Standard error in place of standard output.");
        CLI::Option* follow =
            command.add_flag("-f,--follow", flags->follow, "Go on until the task has ended.");
        follow->excludes(all)->excludes(tail)->excludes(attempt);
        attempt->excludes(all);
        addJsonFlag(command, flags->json)
            ->excludes(isStderr)
            ->excludes(follow)
            ->excludes(all)
            ->excludes(tail);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return logs(*flags); });
      });
}

}  // namespace tarcil
