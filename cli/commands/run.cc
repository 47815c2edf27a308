// tarcil run: one command on the cluster as if it ran here. How it goes while it runs: cli/foreground_job.h.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/foreground_job.h"
#include "cli/late_foreground.h"
#include "cli/output/output.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/constraint.h"
#include "core/model/job_check.h"
#include "core/model/job_fields.h"
#include "core/model/job_size.h"
#include "formats/input_files.h"
#include "formats/job_file.h"
#include "formats/profile_file.h"
#include "formats/yaml_tree.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

struct RunFlags {
  ContextFlags cluster;
  uint32_t tasks = 1;
  uint32_t rus = 1;
  uint32_t concurrency = 0;  // all
  int priority = 50;
  bool atMostOnce = false, hasStdin = false;
  std::string name, user, profile, timeout, memory, workdir, outputLimit, policy = "quality";
  std::vector<std::string> env, constraints, files, secrets;
  std::vector<std::string> command;
};

constexpr const char* kStdinFile = "stdin";

// Of the environment that this program has.
std::string valueHere(const std::string& key) {
  const char* value = std::getenv(key.c_str());
  if (value == nullptr) throw badInput("--env: " + key + " is not set here; write NAME=VALUE");
  return value;
}

void readEnv(const std::vector<std::string>& settings, JobSpec& spec) {
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    if (key.empty()) {
      throw badInput("--env: " + shown(setting) +
                     " sets no variable; write NAME=VALUE, or NAME for its value here");
    }
    if (const std::string problem = whyNotVariable(key); !problem.empty()) {
      throw badInput("--env: " + key + " " + problem);
    }
    spec.env[key] = equals == std::string::npos ? valueHere(key) : setting.substr(equals + 1);
  }
}

std::string nameOf(const RunFlags& flags, const JobSpec& spec) {
  const Title title{kMaxNameCharacters};
  if (flags.name.empty()) return defaultJobName(spec, "job");
  if (!title.holds(flags.name))
    throw badInput("--name: " + shown(flags.name) + " does not fit; " + title.remedy());
  return flags.name;
}

uint64_t sizeIn(const char* flag, const std::string& text) {
  const auto size = parseSize(text);
  if (!size) throw badInput(std::string(flag) + ": " + size.error().message);
  if (*size == 0) throw badInput(std::string(flag) + ": is 0; write a size such as 2GiB");
  return *size;
}

void check(const JobSpec& spec, bool hasFiles) {
  if (spec.policy != Policy::kLateBinding && spec.atMostOnce) {
    throw badInput("--at-most-once: is for late-bound tasks; write --policy late-binding too");
  }
  std::vector<JobProblem> problems = fieldProblems(spec);
  for (JobProblem& problem : mismatches(spec, hasFiles)) problems.push_back(std::move(problem));
  if (problems.empty()) return;
  std::string text;
  for (const JobProblem& problem : problems) {
    text += (text.empty() ? "" : "\n") + problem.field + ": " + problem.text;
  }
  const bool isLate = spec.policy == Policy::kLateBinding;
  throw badInput((isLate ? "--policy late-binding: " : "") + text);
}

JobSpec specOf(const RunFlags& flags) {
  if (flags.command.empty() || flags.command.front().empty()) {
    throw badInput("no command given; write it after `--`: tarcil run [OPTIONS] -- COMMAND [ARGUMENT...]");
  }
  JobSpec spec;
  spec.command = flags.command;
  spec.name = nameOf(flags, spec);
  spec.tasks = flags.tasks;
  spec.rusPerTask = flags.rus;
  spec.priority = static_cast<uint8_t>(flags.priority);
  spec.user = flags.user;
  readEnv(flags.env, spec);
  if (!flags.profile.empty()) spec.profile = requireInput(readProfile(flags.profile));
  for (const std::string& text : flags.constraints) {
    auto constraint = parseConstraint(text);
    if (!constraint) throw badInput("--constraint: in " + shown(text) + ", " + constraint.error().message);
    spec.placement.constraints.push_back(std::move(*constraint));
  }
  if (!flags.timeout.empty()) {
    auto timeout = parseDuration(flags.timeout);
    if (!timeout) throw badInput("--timeout: " + timeout.error().message);
    if (*timeout <= Duration::zero()) throw badInput("--timeout: is 0; write a duration such as 10m");
    spec.timeout = *timeout;
  }
  spec.limits.outputBytes =
      flags.outputLimit.empty() ? kForegroundOutputBytes : sizeIn("--output-limit", flags.outputLimit);
  if (!flags.memory.empty()) spec.limits.memoryBytes = sizeIn("--memory", flags.memory);
  spec.workdir = flags.workdir;
  spec.secrets = flags.secrets;
  spec.policy = valueIn(kPolicyNames, flags.policy).value();
  spec.streamed = spec.policy != Policy::kLateBinding;
  spec.concurrency = flags.concurrency;
  if (spec.streamed && flags.concurrency > kMaxForegroundTasksAtOnce &&
      flags.tasks > kMaxForegroundTasksAtOnce) {
    throw badInput(
        "--concurrency: is " + std::to_string(flags.concurrency) + ", and a run has at most " +
        std::to_string(kMaxForegroundTasksAtOnce) +
        " tasks at once, as the output of each is passed on as it comes; write fewer, or use `tarcil "
        "submit`");
  }
  if (spec.streamed && flags.concurrency == 0 && flags.tasks > kForegroundTasksAtOnce)
    spec.concurrency = kForegroundTasksAtOnce;
  spec.atMostOnce = flags.atMostOnce;
  if (flags.hasStdin) spec.input = kStdinFile;
  check(spec, flags.hasStdin || !flags.files.empty());
  return spec;
}

// What the command reads on stdin is shipped with it, under a name that no other file has.
InputFile ownStdin(const std::vector<InputFile>& others) {
  if (std::ranges::find(others, kStdinFile, &InputFile::path) != others.end()) {
    throw badInput("--file: stdin is the name that what comes on stdin is shipped under; rename it");
  }
  InputFile file{.path = kStdinFile, .content = {}};
  const size_t taken = sizeOf(others) + sizeOf(file);
  auto content = readTextFile(std::string(kStdin), kMaxInputBytes - std::min(kMaxInputBytes, taken));
  if (!content) {
    throw badInput("--stdin: " + content.error().message +
                   ", or have the command read a file of the servers");
  }
  file.content = std::move(*content);
  return file;
}

std::vector<InputFile> filesOf(const RunFlags& flags) {
  std::vector<InputFile> files = requireInput(
      inputFilesOf("--file", flags.files, {JobFileOptions{}.maxInputBytes, JobFileOptions{}.maxInputFiles}));
  if (flags.hasStdin) files.push_back(ownStdin(files));
  return files;
}

int run(const RunFlags& flags) {
  const JobSpec spec = specOf(flags);
  std::vector<InputFile> files = filesOf(flags);
  try {
    // Before the event loop starts: from here on the signals wait for it.
    kj::UnixEventPort::captureSignal(SIGINT);
    kj::UnixEventPort::captureSignal(SIGTERM);
    Cluster cluster(flags.cluster);
    if (spec.policy == Policy::kLateBinding) return LateForegroundJob(cluster, spec).run();
    return ForegroundJob(cluster, spec, {.files = std::move(files)}).run();
  } catch (const Failure& failure) {
    throw Failure(kExitOfTarcil, failure.message());
  } catch (const kj::Exception& exception) {
    throw Failure(kExitOfTarcil, fromException(exception).message);
  }
}

const Help kRunHelp = {
    "run [OPTIONS] -- COMMAND [ARGUMENT...]", "Run one command on the cluster as if it ran here.",
    "Submits a job that runs the command, copies its output to stdout and stderr as it is written, and "
    "exits as the command does. With several tasks the lines of all of them are interleaved, each line "
    "whole; TARCIL_TASK (from 0) and TARCIL_TASKS tell a task which one it is.\n\n"
    "With --policy late-binding, for tasks of milliseconds, the tasks are bound to servers as these come "
    "free: the output of a task is shown when it has ended, and Ctrl-C ends running ones.\n\n"
    "Ctrl-C cancels the job and waits for its end; a second one exits at once. Use `tarcil submit` for jobs "
    "that restart or are to run unattended.",
    "  tarcil run -- uname -a\n"
    "  tarcil run --tasks 4 -- sh -c 'echo I am $TARCIL_TASK of $TARCIL_TASKS'\n"
    "  tarcil run --rus 2 --timeout 10m -- sort --parallel=2 /etc/passwd\n"
    "  tarcil run --file README.md --memory 64MiB -- wc -l README.md\n"
    "  tarcil run --stdin -- sort < words.txt\n"
    "  tarcil run --policy late-binding --tasks 100 -- uname -n\n"
    "  tarcil run --constraint 'server != server-1' -- uname -n\n",
    "  N      the command's own exit code; with several tasks that of the\n"
    "         first in order that failed\n"
    "  128+N  the command was ended by signal N\n"
    "  125    tarcil failed: no cluster, job refused or lost, command not found;\n"
    "         or the command succeeded, and part of its output was dropped\n"
    "  2      bad arguments or files; nothing was sent\n"};

}  // namespace

void addRun(CLI::App& app, const std::vector<std::string>& words) {
  addCommand(app, "run", kRunHelp, [&words](CLI::App& command) {
    auto flags = std::make_shared<RunFlags>();
    flags->command = words;
    command.add_option("--tasks", flags->tasks, "How many tasks run the command; default 1.")
        ->check(wholeNumber(1, kMaxTasks))
        ->type_name("N");
    command
        .add_option("--rus", flags->rus,
                    "Resource units (cores, with their memory) for each task; default 1.")
        ->check(wholeNumber(1, kMaxRusPerTask))
        ->type_name("N");
    command
        .add_option("--concurrency", flags->concurrency,
                    "Most tasks at once, up to 512; default all, but at most 128.")
        ->check(wholeNumber(1, kMaxTasks))
        ->type_name("N");
    command.add_option("--profile", flags->profile, "Interference profile of the command.")
        ->type_name("FILE");
    command
        .add_option("--env", flags->env,
                    "Set an environment variable; without =VALUE to what it is here. May be repeated.")
        ->allow_extra_args(false)
        ->type_name("NAME[=VALUE]");
    command
        .add_option(
            "--secret", flags->secrets,
            "Give the command a file of this secret, in the folder $TARCIL_SECRETS (docs/secrets.md). May "
            "be repeated.")
        ->allow_extra_args(false)
        ->type_name("[OWNER/]NAME");
    command.add_option("--user", flags->user, "Run as this user, which your token must allow.")
        ->type_name("USER");
    command.add_option("--memory", flags->memory, "Memory for each task, e.g. 2GiB; default by its units.")
        ->type_name("SIZE");
    command
        .add_option("--file", flags->files,
                    "A file or folder below this one to ship into the task's working directory, 64 MiB in "
                    "all; may be "
                    "repeated.")
        ->allow_extra_args(false)
        ->type_name("PATH");
    command.add_flag("--stdin", flags->hasStdin,
                     "Read stdin here to its end, at most 64 MiB, and give it to each task on its own.");
    command
        .add_option("--workdir", flags->workdir,
                    "Run in this folder of the servers in place of a private one.")
        ->type_name("DIR");
    command
        .add_option("--constraint", flags->constraints,
                    "Run only on servers that meet this, e.g. 'gpu = true' or 'rack != r3'; may be repeated.")
        ->allow_extra_args(false)
        ->type_name("EXPR");
    command.add_option("--name", flags->name, "The job's name; default the program's.")->type_name("NAME");
    command.add_option("--priority", flags->priority, "0 to 100, higher first; default 50.")
        ->check(wholeNumber(0, kMaxPriority))
        ->type_name("P");
    command
        .add_option("--policy", flags->policy,
                    "How slots are chosen: quality (default), late-binding, greedy, random, batch, per-task.")
        ->check(oneOf(namesIn(kPolicyNames)))
        ->type_name("POLICY");
    command.add_flag("--at-most-once", flags->atMostOnce,
                     "With late-binding: a task that may have run is lost rather than run again.");
    command
        .add_option(
            "--output-limit", flags->outputLimit,
            "How much of each task's output its server keeps until it is copied; a task that is further "
            "ahead waits. Default: 8MiB.")
        ->type_name("SIZE");
    command.add_option("--timeout", flags->timeout, "Stop it after so long, e.g. 90s or 10m.")
        ->type_name("DURATION");
    addClusterFlags(command, flags->cluster);
    command.allow_extras();
    onRun(command, [flags, &command]() {
      if (const auto others = command.remaining(); !others.empty()) {
        throw badInput(shown(others.front()) +
                       " is no option of `tarcil run`; write the command after `--`:" +
                       " tarcil run [OPTIONS] -- COMMAND [ARGUMENT...]");
      }
      return run(*flags);
    });
  });
}

}  // namespace tarcil
