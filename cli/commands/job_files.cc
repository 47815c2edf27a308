// tarcil job files, tarcil job fetch: files that are kept of tasks.
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/fetched_files.h"
#include "cli/kept_files.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "env/clock.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

struct FilesFlags {
  ContextFlags cluster;
  std::string job;
  bool json = false;
};

struct FetchFlags {
  ContextFlags cluster;
  std::string job;
  std::vector<std::string> patterns;
  std::string to = ".";
  bool force = false;
};

struct Asked {
  JobStatus job;
  std::optional<TaskIndex> only;
};

Asked askedJob(Cluster& cluster, const std::string& text) {
  const FoundJob named = cluster.job(text);
  auto found = tryFetchJob(cluster, named.id);
  if (!found) {
    throw Failure(kExitFailed, "no such job keeps files; of jobs with policy late-binding none are kept");
  }
  const size_t tasks = found->tasks.size();
  if (named.task && *named.task >= tasks) {
    throw Failure(kExitFailed, "the job has no task " + std::to_string(*named.task) + ": it has " +
                                   std::to_string(tasks) + ", from 0");
  }
  if (found->record.spec.results.empty()) {
    throw Failure(kExitFailed,
                  "the job keeps no files: write, for example, results: [out/*.csv] into its job file");
  }
  return {std::move(*found), named.task};
}

// Of each task that was asked for. Those that have none yet, or none any more, are said on stderr: whether
// there were any.
bool forEachTask(Cluster& cluster, const Asked& asked,
                 const std::function<void(TaskIndex, const std::optional<KeptFiles>&)>& take) {
  bool isComplete = true;
  for (const TaskRecord& task : asked.job.tasks) {
    if (asked.only && *asked.only != task.index) continue;
    std::optional<KeptFiles> kept;
    try {
      kept = keptFiles(cluster, task.job, task.index);
    } catch (const kj::Exception& exception) {
      const Error error = fromException(exception);
      if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kInvalid) throw;
      say("files of task " + std::to_string(task.index) + ": " + error.message);
    }
    if (kept && !kept->ended) {
      const bool hasEnded = isFinal(task.state);
      say("task " + std::to_string(task.index) + " is " + std::string(name(task.state)) +
          (hasEnded ? ", and was never started: there are no files of it"
                    : "; its files are kept when it has ended"));
      isComplete = isComplete && hasEnded;
      kept.reset();
    } else {
      isComplete = isComplete && kept.has_value();
    }
    take(task.index, kept);
  }
  return isComplete;
}

int files(const FilesFlags& flags) {
  Cluster cluster(flags.cluster);
  const Asked asked = askedJob(cluster, flags.job);
  Table table({"Task", "Size", "Mode", "Path"});
  Json tasks = Json::array();
  const bool isComplete =
      forEachTask(cluster, asked, [&](TaskIndex task, const std::optional<KeptFiles>& kept) {
        for (const ResultFile& file : kept ? kept->files : std::vector<ResultFile>())
          table.add({std::to_string(task), formatSize(file.bytes), modeText(file.mode), file.path});
        tasks.push_back({{"task", task}, {"files", kept ? jsonOf(kept->files) : Json()}});
      });
  if (flags.json) {
    const JobRecord& record = asked.job.record;
    printJson(
        {{"id", toString(record.id)}, {"number", jsonNumber(record.number)}, {"tasks", std::move(tasks)}});
  } else if (!table.empty()) {
    print(table.text());
  }
  return isComplete ? kExitDone : kExitFailed;
}

struct ToFetch {
  TaskIndex task;
  AllocationId allocation;
  ResultFile file;
  std::string path;  // where it goes
};

bool isWanted(const std::vector<std::string>& patterns, const std::string& path) {
  return patterns.empty() || std::ranges::any_of(patterns, [&path](const std::string& pattern) {
           return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
         });
}

// Says how far it is, each second but not in the first.
class Progress {
 public:
  explicit Progress(const std::vector<ToFetch>& files) : files_(files.size()) {
    for (const ToFetch& each : files) bytes_ += each.file.bytes;
  }

  void fileDone() { ++filesDone_; }
  void add(uint64_t bytes) {
    bytesDone_ += bytes;
    const MonotonicTime now = systemClock().now().steady;
    if (now - said_ < std::chrono::seconds(1)) return;
    said_ = now;
    say("fetched " + std::to_string(filesDone_) + " of " + std::to_string(files_) + " files, " +
        formatSize(bytesDone_) + " of " + formatSize(bytes_));
  }

 private:
  MonotonicTime said_ = systemClock().now().steady;
  size_t files_, filesDone_ = 0;
  uint64_t bytes_ = 0, bytesDone_ = 0;
};

int fetch(const FetchFlags& flags) {
  Cluster cluster(flags.cluster);
  const Asked asked = askedJob(cluster, flags.job);
  const bool isOne = asked.only || asked.job.tasks.size() == 1;
  std::vector<ToFetch> wanted;
  const bool isComplete =
      forEachTask(cluster, asked, [&](TaskIndex task, const std::optional<KeptFiles>& kept) {
        for (const ResultFile& file : kept ? kept->files : std::vector<ResultFile>()) {
          if (!isWanted(flags.patterns, file.path)) continue;
          const std::string path = isOne ? file.path : std::to_string(task) + "/" + file.path;
          wanted.push_back({task, kept->allocation, file, path});
        }
      });
  if (wanted.empty()) {
    if (isComplete) say(flags.patterns.empty() ? "no file was kept" : "no file that was kept matches");
    return kExitFailed;
  }
  FetchFolder folder(flags.to, flags.force);
  for (const ToFetch& each : wanted) folder.requireFree(each.path);
  Progress progress(wanted);
  for (const ToFetch& each : wanted) {
    auto file = folder.begin(each.path, (each.file.mode & 0100) != 0);
    readKeptFile(cluster, asked.job.record.id, each.task, each.allocation, each.file,
                 [&](std::string_view text) {
                   file.write(text);
                   progress.add(text.size());
                 });
    file.keep();
    progress.fileDone();
  }
  return isComplete ? kExitDone : kExitFailed;
}

}  // namespace

void addJobFiles(CLI::App& job) {
  addCommand(job, "files",
             {"job files [OPTIONS] JOB", "List files that are kept of a job's tasks.",
              "Lists files that were kept when tasks ended, as `results` of the job file says: of each task "
              "those of "
              "its last attempt, for as long as its output is kept. JOB.TASK is one task.\n\n"
              "With --json: for each task `files`, with `path`, `bytes` and `mode`; null where the task has "
              "not ended, "
              "or they are gone.",
              "  tarcil job files 4711\n"
              "  tarcil job files --json 4711.3\n",
              "  0  listed\n"
              "  1  of some tasks there are none yet, or none any more; or the job keeps none\n"
              "  2  bad arguments\n"
              "  3  no cluster in reach, or not allowed\n"},
             [](CLI::App& command) {
               auto flags = std::make_shared<FilesFlags>();
               addJobName(command, flags->job);
               addJsonFlag(command, flags->json);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return files(*flags); });
             });
}

void addJobFetch(CLI::App& job) {
  addCommand(
      job, "fetch",
      {"job fetch [OPTIONS] JOB [PATTERN...]", "Copy files that are kept of a job's tasks.",
       "Copies files that were kept when tasks ended (tarcil job files lists them), those that match a "
       "PATTERN, "
       "or all: to DIR/PATH for a job of one task and for JOB.TASK, to DIR/TASK/PATH for other jobs. A file "
       "appears when it is whole, with mode 0755 if its owner could execute it, else 0644. Nothing is copied "
       "where a file is there already, unless --force is given.",
       "  tarcil job fetch 4711\n"
       "  tarcil job fetch 4711.3 'out/*.csv' --to results\n",
       "  0  copied\n"
       "  1  nothing to copy, a file was there, or of some tasks there are none yet, or none any more\n"
       "  2  bad arguments\n"
       "  3  no cluster in reach, or not allowed\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<FetchFlags>();
        addJobName(command, flags->job);
        command.add_option("PATTERN", flags->patterns, "Which files: paths, or patterns as in `results`.");
        command.add_option("--to", flags->to, "Folder to copy to; made if it is missing. Default: this one.")
            ->type_name("DIR");
        command.add_flag("--force", flags->force, "Replace files that are there.");
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return fetch(*flags); });
      });
}

}  // namespace tarcil
