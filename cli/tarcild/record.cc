// tarcil record: what happens on a cluster, into a file that `tarcil sim --replay` reads.
#include <signal.h>

#include <optional>

#include "cli/command_line.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/tarcild/commands.h"
#include "cli/tarcild/recorder.h"
#include "cli/tarcild/rolling_recording.h"
#include "core/base/failure.h"
#include "core/base/units.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

constexpr kj::Duration kEvery = 1 * kj::SECONDS;
// A cluster that is out of reach for longer does not come back by itself.
constexpr kj::Duration kPatience = 5 * kj::MINUTES;
// Progress is said after so long, and again after as long as was recorded already: 10 s, 20 s, 40 s ...
constexpr kj::Duration kFirstWord = 10 * kj::SECONDS, kMaxSilence = 5 * kj::MINUTES;

struct RecordFlags {
  ContextFlags cluster;
  std::string file, howLong, last, most;
  bool json = false;
};

Duration toDuration(kj::Duration duration) {
  return Duration(duration / kj::MICROSECONDS);
}

// A recording while it goes on.
class Watching final {
 public:
  Watching(Cluster& cluster, GrowingFile& file, kj::Maybe<kj::Duration> howLong, bool json)
      : cluster_(cluster), file_(file), howLong_(howLong), json_(json), recorder_(cluster, file) {}

  int run() {
    auto stopped = cluster_.events()
                       .onSignal(SIGINT)
                       .exclusiveJoin(cluster_.events().onSignal(SIGTERM))
                       .then([this](siginfo_t&&) { isInterrupted_ = true; })
                       .fork();
    auto noticed = stopped.addBranch().eagerlyEvaluate(nullptr);
    recorder_.begin();
    say("recording to " + file_.path() + ": " + text() + "; interrupt to end it");
    while (!isInterrupted_ && !isTime()) {
      cluster_.wait(cluster_.timer().afterDelay(kEvery).exclusiveJoin(stopped.addBranch()));
      if (!look()) return endWith("out of reach", kExitNoCluster);
      tellProgress();
    }
    return endWith(isInterrupted_ ? "interrupted" : "time is over", kExitDone);
  }

 private:
  kj::Duration elapsed() { return cluster_.timer().now() - began_; }

  bool isTime() {
    KJ_IF_MAYBE (howLong, howLong_) {
      return elapsed() >= *howLong;
    }
    return false;
  }

  // False once the cluster has been out of reach for too long.
  bool look() {
    try {
      recorder_.look();
      reached_ = cluster_.timer().now();
      return true;
    } catch (const kj::Exception& exception) {
      if (fromException(exception).code != ErrorCode::kUnavailable) throw;
      return cluster_.timer().now() - reached_ < kPatience;
    }
  }

  std::string text() const {
    const RecorderCounts& counts = recorder_.counts();
    return counted(counts.servers, "server") + ", " + counted(counts.jobs, "job") + ", " +
           std::to_string(counts.unfinished) + " of them unfinished, " + formatSize(file_.bytes());
  }

  void tellProgress() {
    if (elapsed() < nextWord_) return;
    nextWord_ += std::min(nextWord_, kMaxSilence);
    say(formatDuration(toDuration(elapsed() / kj::SECONDS * kj::SECONDS)) + ": " + text());
  }

  int endWith(const std::string& why, int code) {
    recorder_.end(why);
    say(why + " after " + formatDuration(toDuration(elapsed() / kj::SECONDS * kj::SECONDS)) + ": " + text());
    say("`tarcil sim --replay " + file_.path() + "` shows what became of the jobs and what else could have");
    if (json_) {
      const RecorderCounts& counts = recorder_.counts();
      printJson({{"file", file_.path()},
                 {"ended", why},
                 {"seconds", static_cast<double>(elapsed() / kj::MILLISECONDS) / 1e3},
                 {"servers", counts.servers},
                 {"jobs", counts.jobs},
                 {"unfinished", counts.unfinished},
                 {"unpacked_bytes", file_.bytes()}});
    }
    return code;
  }

  Cluster& cluster_;
  GrowingFile& file_;
  const kj::Maybe<kj::Duration> howLong_;
  const bool json_;
  Recorder recorder_;
  bool isInterrupted_ = false;
  const kj::TimePoint began_ = cluster_.timer().now();
  kj::TimePoint reached_ = began_;
  kj::Duration nextWord_ = kFirstWord;
};

// Until it is interrupted or the cluster is out of reach.
int recordTheLast(Cluster& cluster, const std::string& folder, const RollingBounds& bounds) {
  auto stopped = cluster.events()
                     .onSignal(SIGINT)
                     .exclusiveJoin(cluster.events().onSignal(SIGTERM))
                     .ignoreResult()
                     .fork();
  RollingRecording recording(cluster, folder, bounds);
  say("keeping the last " + formatDuration(bounds.last) + " in " + folder + "; interrupt to end it");
  bool isInterrupted = false;
  auto noticed =
      stopped.addBranch().then([&isInterrupted]() { isInterrupted = true; }).eagerlyEvaluate(nullptr);
  kj::TimePoint reached = cluster.timer().now();
  while (!isInterrupted) {
    cluster.wait(cluster.timer().afterDelay(kEvery).exclusiveJoin(stopped.addBranch()));
    try {
      recording.look();
      reached = cluster.timer().now();
    } catch (const kj::Exception& exception) {
      if (fromException(exception).code != ErrorCode::kUnavailable) throw;
      if (cluster.timer().now() - reached >= kPatience) {
        throw Failure(kExitNoCluster, "the cluster has been out of reach for " +
                                          formatDuration(toDuration(kPatience)) +
                                          "; record again when it is there");
      }
    }
  }
  recording.end("interrupted");
  return kExitDone;
}

RollingBounds boundsOf(const RecordFlags& flags) {
  RollingBounds bounds;
  constexpr Duration kLeast = std::chrono::minutes(1), kMost = std::chrono::hours(24 * 31);
  const auto last = parseDuration(flags.last);
  if (!last) throw badInput("--last: " + last.error().message);
  if (*last < kLeast || *last > kMost) throw badInput("--last: write 1m to 744h");
  bounds.last = *last;
  if (flags.most.empty()) return bounds;
  constexpr uint64_t kLeastBytes = 1 << 20;
  const auto bytes = parseSize(flags.most);
  if (!bytes) throw badInput("--most: " + bytes.error().message);
  if (*bytes < kLeastBytes) throw badInput("--most: write 1MiB or more");
  bounds.bytes = *bytes;
  return bounds;
}

int record(const RecordFlags& flags) {
  kj::Maybe<kj::Duration> howLong;
  if (!flags.howLong.empty()) {
    const auto duration = parseDuration(flags.howLong);
    if (!duration) throw badInput("--for: " + duration.error().message);
    howLong = duration->count() * kj::MICROSECONDS;
  }
  kj::UnixEventPort::captureSignal(SIGINT);
  kj::UnixEventPort::captureSignal(SIGTERM);
  const auto bounds = flags.last.empty() ? std::nullopt : std::optional(boundsOf(flags));
  Cluster cluster(flags.cluster);
  // No file is made for a cluster that is not there.
  fetchSettings(cluster);
  if (bounds) return recordTheLast(cluster, flags.file, *bounds);
  GrowingFile file = requireInput(GrowingFile::make(flags.file));
  return Watching(cluster, file, howLong, flags.json).run();
}

}  // namespace

void addRecord(CLI::App& app) {
  addCommand(
      app, "record",
      {"record [OPTIONS] FILE", summaryOf("record"),
       "Writes the servers, the settings and the jobs that you may see (an operator: everybody's) with "
       "their profiles, and when each of their tasks started and ended where, until interrupted or for the "
       "time given. Commands, environments and files of jobs are not recorded. FILE is JSON, one object a "
       "line (docs/simulator.md), packed where its name ends in .gz; it must not be there yet. It is "
       "written continuously, so that a recorder that was killed leaves a file that can be replayed, too. "
       "Continues when the master or an agent is restarted; ends when the cluster is out of reach for 5 "
       "minutes.\n\n"
       "With --last FILE is a folder, in which the last hours are kept for as long as it runs: in parts, of "
       "which the oldest go.",
       "  tarcil record monday.rec.gz --for 8h\n"
       "  tarcil record --last 24h recordings\n"
       "  tarcil sim --replay monday.rec.gz --policy quality,batch --target 0.9\n",
       "  0  done\n"
       "  1  the file could not be written any more\n"
       "  2  bad input; nothing was recorded\n"
       "  3  no cluster in reach, or no longer; what is recorded can be used\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<RecordFlags>();
        command.add_option("FILE", flags->file, "Where to.")->required()->type_name("FILE");
        command
            .add_option("--for", flags->howLong,
                        "How long to record, such as 10m; default: until interrupted.")
            ->type_name("DURATION");
        command
            .add_option(
                "--last", flags->last,
                "Record until interrupted, into the folder FILE, and keep what is no older, such as 24h.")
            ->excludes("--for")
            ->type_name("DURATION");
        command
            .add_option("--most", flags->most,
                        "With --last: most space on the disk; older parts go. Default: " +
                            formatSize(RollingBounds{}.bytes))
            ->needs("--last")
            ->type_name("SIZE");
        addJsonFlag(command, flags->json)
            ->excludes("--last")
            ->description("At the end print what was recorded as one JSON value.");
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return record(*flags); });
      });
}

}  // namespace tarcil
