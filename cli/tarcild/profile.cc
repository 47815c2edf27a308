// tarcil profile: what kernels do on this machine, and from a command to a profile, here or on a cluster.
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "classifier/kernels/kernel.h"
#include "cli/command_line.h"
#include "cli/known_applications.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/profiler_task.h"
#include "cli/tarcild/cluster_calibration.h"
#include "cli/tarcild/cluster_profile.h"
#include "cli/tarcild/commands.h"
#include "cli/tarcild/profile_report.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "formats/calibration_file.h"
#include "formats/input_files.h"
#include "formats/job_file.h"
#include "formats/profile_file.h"
#include "profiler/quietness.h"
#include "schema/convert.h"
#include "schema/measurement_text.h"

namespace tarcil {
namespace {

struct ProfileFlags {
  bool json = false;
  ContextFlags cluster;  // its folder is that of calibrations, too
  std::string platform = "default", scratch = ".", output;
  std::optional<uint32_t> seconds;
  // run
  std::vector<std::string> command;
  std::string application, metric, calibration, known;
  std::vector<std::string> resources;
  bool full = false, processorTime = false, instructions = false;
  double target = 0.95;
  uint32_t rus = 1, runLimit = 60;
  // Of a profiler in a container: print all that may be asked for, or what the cluster is to store, or how
  // the command runs alone.
  bool allForms = false, report = false, alone = false;
  bool onCluster = false, store = false;
  // calibrate, on a cluster
  std::string reference;
  bool preview = false;
  std::optional<uint32_t> platforms;  // kPlatforms where not said
  std::string server;
  std::vector<std::string> files;
};

// Of which a command is measured: what it is like on the others shows in two of them (Quasar section 3.2).
constexpr uint32_t kPlatforms = 2;

// Where a profiler in a container finds what its user names, beside the command's own files.
constexpr const char* kShippedCalibration = ".tarcil/calibration.json";

void sayProgress(const std::string& line) {
  say(line);
}

void warnOfOthers(const Quietness& quietness, std::vector<std::string>& warnings) {
  const double others = quietness.usedByOthers().value_or(0);
  if (others <= kQuiet) return;
  warnings.push_back("other programs used " + fixed(others * 100, 0) +
                     " % of the machine meanwhile: measure again when it is quiet");
}

void requirePlatformName(const std::string& name) {
  const bool isFile = !name.empty() && name.size() <= kMaxNameCharacters && name.front() != '.' &&
                      std::all_of(name.begin(), name.end(), [](unsigned char c) {
                        return std::isalnum(c) || c == '-' || c == '_' || c == '.';
                      });
  if (isFile) return;
  throw badInput("--platform: " + shown(name) +
                 " names a file here; write letters, digits, '-', '_' and '.'");
}

void requireFolder(const char* flag, const std::string& path) {
  if (!std::filesystem::is_directory(path)) {
    throw badInput(std::string(flag) + ": " + shown(path) +
                   " is no folder; name one on the disk in question");
  }
}

// --- calibrate ---

constexpr uint32_t kCalibrationSeconds = 60;

int calibrateThere(const ProfileFlags& flags) {
  if (!flags.output.empty() || flags.platform != "default") {
    throw badInput(std::string(flags.output.empty() ? "--platform" : "--output") +
                   ": is for this machine; leave it out, or --on-cluster");
  }
  // Before the event loop starts: from here on the signals wait for it.
  kj::UnixEventPort::captureSignal(SIGINT);
  kj::UnixEventPort::captureSignal(SIGTERM);
  Cluster cluster(flags.cluster);
  const ClusterCalibration found =
      calibrateCluster(cluster, flags.reference, flags.seconds.value_or(kCalibrationSeconds));
  if (flags.json) {
    printJson(jsonOf(found));
  } else {
    print(textOf(found));
  }
  if (flags.preview) return kExitDone;
  setShares(cluster, found);
  say("shares are set; `tarcil platform list` shows them");
  return kExitDone;
}

int calibrateMachine(const ProfileFlags& flags) {
  if (flags.onCluster) return calibrateThere(flags);
  if (flags.preview || !flags.reference.empty()) {
    throw badInput(std::string(flags.preview ? "--preview" : "--reference") +
                   ": is for the platforms of a cluster; write --on-cluster too, or leave it out");
  }
  requirePlatformName(flags.platform);
  requireFolder("--scratch", flags.scratch);
  const std::string path = flags.output.empty()
                               ? calibrationPath(requireInput(dataFolder(flags.cluster.data)), flags.platform)
                               : flags.output;
  const Quietness quietness;
  const Calibration made =
      calibrate(readMachine(),
                {.platform = flags.platform,
                 .budget = std::chrono::seconds(flags.seconds.value_or(kCalibrationSeconds)),
                 .scratch = flags.scratch},
                sayProgress);
  std::vector<std::string> warnings;
  warnOfOthers(quietness, warnings);
  for (const std::string& warning : warnings) sayWarning(warning);
  if (const Status written = writeCalibration(path, made); !written)
    throw Failure(kExitFailed, written.error().message);
  if (flags.json) {
    printJson(jsonOf(made));
  } else {
    print(textOf(made));
  }
  say("stored as " + path);
  return kExitDone;
}

// --- run ---

Resource resourceOf(const std::string& name) {
  if (const auto resource = resourceNamed(name)) return *resource;
  const std::vector<std::string_view> names(kResourceNames.begin(), kResourceNames.end());
  throw badInput("--resources: " + shown(name) + " is no resource; " + didYouMean(name, names) +
                 "write some of " + joined(names) + ", with commas between them");
}

// What to press on: what was asked for, else all, else the two that tell most of those that can be measured.
std::vector<Resource> resourcesFor(const ProfileFlags& flags, const ProfileCompleter& completer,
                                   const Machine& machine) {
  std::vector<Resource> resources;
  for (const std::string& name : flags.resources) resources.push_back(resourceOf(name));
  if (!resources.empty()) return resources;
  const Seats seats = seatsFor(machine, flags.rus);
  for (Resource resource : completer.mostTelling(kResources)) {
    if (!whyNot(resource, machine) && !whyNotContended(resource, seats)) resources.push_back(resource);
  }
  if (!flags.full && resources.size() > 2) resources.resize(2);
  return resources;
}

// The stored calibration where it is of this machine and has what is needed, else one made now.
Calibration calibrationFor(const ProfileFlags& flags, const Machine& machine,
                           const std::vector<Resource>& resources) {
  const bool isNamed = !flags.calibration.empty();
  const std::string path =
      isNamed ? flags.calibration
              : calibrationPath(requireInput(dataFolder(flags.cluster.data)), flags.platform);
  auto stored = readCalibration(path);
  if (!stored && (isNamed || stored.error().code != ErrorCode::kNotFound))
    throw badInput(stored.error().message);
  const bool isOurs = stored && stored->processor == machine.processor &&
                      stored->cores == static_cast<int>(machine.firstThreads.size());
  if (isOurs) return *stored;
  // In a container there is no use in making one for the next time.
  if (!flags.allForms && !flags.report) {
    say(stored
            ? path + " is of another machine: calibrating what is needed"
            : "this machine is not calibrated: calibrating what is needed; `tarcil profile calibrate` does "
              "it once for all");
  }
  return calibrateSome(machine, resources, {.platform = flags.platform, .scratch = flags.scratch},
                       sayProgress);
}

void noteOddities(const ProfileFlags& flags, const Findings& findings, std::vector<std::string>& warnings) {
  const AloneRun& alone = findings.alone;
  if (alone.wall < Seconds(0.01) && flags.metric.empty() && !flags.instructions) {
    warnings.push_back("one run takes " + fixed(alone.wall.count() * 1e3, 1) +
                       " ms, most of which is starting and ending: give it more to do");
  }
  if (alone.spread > (1 - flags.target) / 2) {
    warnings.push_back("runs differ by " + fixed(alone.spread * 100, 1) +
                       " % among themselves, which is much beside the " + fixed((1 - flags.target) * 100, 0) +
                       " % that are looked for: give more --seconds");
  }
  if (alone.leftProcesses > 0) {
    warnings.push_back("the command left " + counted(alone.leftProcesses, "process") +
                       " behind when it ended, which were ended: what they do is not measured");
  }
}

ProfileOptions optionsOf(const ProfileFlags& flags) {
  ProfileOptions options;
  options.command = flags.command;
  options.rus = flags.rus;
  options.search.target = flags.target;
  options.runAtMost = Seconds(flags.runLimit);
  options.metric = flags.metric;
  options.measure = !flags.metric.empty() ? Measure::kMetric
                    : flags.processorTime ? Measure::kProcessorTime
                    : flags.instructions  ? Measure::kCounted
                                          : Measure::kRuns;
  options.scratch = flags.scratch;
  if (flags.seconds) options.budget = Seconds(*flags.seconds);
  return options;
}

// Of a command that could not be measured.
Failure failureOf(const Error& error) {
  return {error.code == ErrorCode::kInvalid ? kExitFailed : kExitBadInput, error.message};
}

Findings findingsOf(const Machine& machine, const Calibration& calibration, const ProfileOptions& options) {
  auto findings = profileCommand(machine, calibration, options, sayProgress);
  if (findings) return *findings;
  throw failureOf(findings.error());
}

void writeProfile(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw Failure(kExitFailed, "--output: " + path + " cannot be written: " + std::strerror(errno));
}

void checkRun(const ProfileFlags& flags) {
  if (flags.command.empty() || flags.command.front().empty()) {
    throw badInput(
        "no command given; write it after `--`: tarcil profile run [OPTIONS] -- COMMAND [ARGUMENT...]");
  }
  if (!(flags.target > 0.5 && flags.target < 1)) {
    throw badInput("--target: write a number above 0.5 and below 1, such as 0.95");
  }
  if (characters(flags.application) > kMaxNameCharacters || !isPrintable(flags.application)) {
    throw badInput("--application: " + shown(flags.application) + " does not fit; write at most " +
                   std::to_string(kMaxNameCharacters) + " characters without control characters");
  }
  requirePlatformName(flags.platform);
  for (const std::string& name : flags.resources) resourceOf(name);
  if (flags.store && flags.application.empty()) {
    throw badInput("--store: under which name? Write --application NAME too");
  }
  if (flags.onCluster) {
    if (!flags.instructions) return;
    throw badInput(
        "--instructions: containers may not count them; measure on this machine, by run time, or by what "
        "the command reports with --metric");
  }
  if (const Status counts = countable(kInstructions); flags.instructions && !counts) {
    throw badInput(
        "--instructions: this machine cannot count them (" + counts.error().message +
        "), like most virtual ones; measure by run time, or, where the command never ends, by what it "
        "reports with --metric");
  }
  requireFolder("--scratch", flags.scratch);
  const char* const elsewhere = flags.store             ? "--store"
                                : flags.platforms       ? "--platforms"
                                : !flags.server.empty() ? "--server"
                                : !flags.files.empty()  ? "--file"
                                                        : nullptr;
  if (elsewhere == nullptr) return;
  throw badInput(std::string(elsewhere) + ": is for measuring on a cluster; write --on-cluster too, or " +
                 "leave it out");
}

std::string unitOf(const ProfileFlags& flags) {
  if (!flags.metric.empty()) return flags.metric;
  if (flags.instructions) return "instructions per second";
  return flags.processorTime ? "runs per second of processor time" : "runs per second";
}

ProfileForms measureHere(const ProfileFlags& flags) {
  const auto known =
      requireInput(flags.known.empty() ? parseApplications(shippedApplications(), "known applications")
                                       : readApplications(flags.known));
  const ProfileCompleter completer(known);
  const Machine machine = readMachine();
  ProfileOptions options = optionsOf(flags);
  options.resources = resourcesFor(flags, completer, machine);
  const Calibration calibration = calibrationFor(flags, machine, options.resources);
  const Quietness quietness;
  ProfileReport report;
  report.findings = findingsOf(machine, calibration, options);
  report.application = flags.application;
  report.command = flags.command;
  report.unit = unitOf(flags);
  report.completed = completer.complete(
      {flags.application, report.findings.tolerated, report.findings.caused, /*platforms=*/{}});
  noteOddities(flags, report.findings, report.warnings);
  if (!flags.processorTime) warnOfOthers(quietness, report.warnings);
  for (const std::string& warning : report.warnings) sayWarning(warning);
  return {jsonOf(report), textOf(report), yamlOf(report)};
}

// What a client reads that compares platforms: all that tells them apart is how fast the command is.
int printAlone(const ProfileFlags& flags) {
  const Quietness quietness;
  const auto alone = performanceAlone(readMachine(), optionsOf(flags), sayProgress);
  if (!alone) throw failureOf(alone.error());
  std::vector<std::string> warnings;
  if (!flags.processorTime) warnOfOthers(quietness, warnings);
  for (const std::string& warning : warnings) sayWarning(warning);
  printJson({{"performance", jsonOf(*alone, unitOf(flags))}});
  return kExitDone;
}

// What the profiler in the container is told of what this command was told.
std::vector<std::string> flagsForContainer(const ProfileFlags& flags) {
  std::vector<std::string> words;
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(flag) + "=" + value);
  };
  add("--target", Json(flags.target).dump());
  add("--rus", std::to_string(flags.rus));
  add("--run-limit", std::to_string(flags.runLimit));
  if (flags.full) words.emplace_back("--full");
  if (flags.processorTime) words.emplace_back("--processor-time");
  for (const std::string& resource : flags.resources) add("--resources", resource);
  add("--metric", flags.metric);
  add("--application", flags.application);
  add("--scratch", flags.scratch);
  if (flags.seconds) add("--seconds", std::to_string(*flags.seconds));
  if (!flags.calibration.empty()) add("--calibration", kShippedCalibration);
  add("--known", kShippedApplications);
  return words;
}

ClusterProfiling profilingOf(const ProfileFlags& flags) {
  ClusterProfiling profiling;
  profiling.flags = flagsForContainer(flags);
  profiling.command = flags.command;
  profiling.cores = flags.rus;
  profiling.server = flags.server;
  profiling.platforms = flags.platforms.value_or(kPlatforms);
  profiling.name = flags.application.empty() ? "profiling" : "profiling " + flags.application;
  profiling.files = requireInput(
      inputFilesOf("--file", flags.files, {JobFileOptions{}.maxInputBytes, JobFileOptions{}.maxInputFiles}));
  if (!flags.calibration.empty()) {
    // Read here too, so that what is wrong with it is known at once.
    requireInput(readCalibration(flags.calibration));
    profiling.files.push_back({.path = kShippedCalibration,
                               .content = requireInput(readTextFile(flags.calibration, kMaxYamlBytes))});
  }
  if (!flags.known.empty()) profiling.known = requireInput(readApplications(flags.known));
  return profiling;
}

void storeProfile(Cluster& cluster, const ClusterProfile& measured) {
  const Profile profile = requireInput(parseProfile(measured.forms.yaml, "the profile"));
  cluster.ask([&](Session& session) {
    auto request = session.user.storeProfileRequest();
    write(profile, request.initProfile());
    request.setNote(("measured on " + measured.server + ", platform " + measured.platform).c_str());
    return request.send();
  });
  say("stored as " + profile.application);
}

void deliver(const ProfileFlags& flags, const ProfileForms& forms) {
  if (!flags.output.empty()) writeProfile(flags.output, forms.yaml);
  if (flags.allForms) {
    printJson(jsonOf(forms));
  } else if (flags.json) {
    printJson(forms.json);
  } else {
    print(forms.text);
  }
}

int profileThere(const ProfileFlags& flags) {
  ClusterProfiling profiling = profilingOf(flags);
  // Before the event loop starts: from here on the signals wait for it.
  kj::UnixEventPort::captureSignal(SIGINT);
  kj::UnixEventPort::captureSignal(SIGTERM);
  Cluster cluster(flags.cluster);
  if (flags.known.empty()) profiling.known = knownToCluster(cluster, flags.application);
  const ClusterProfile measured = profileOnCluster(cluster, profiling);
  deliver(flags, measured.forms);
  if (flags.store) storeProfile(cluster, measured);
  return kExitDone;
}

// What the cluster is to store, or why there is nothing.
int reportProfile(const ProfileFlags& flags) {
  try {
    const ProfileForms forms = measureHere(flags);
    print(textOf(Measurement{requireInput(parseProfile(forms.yaml, "the profile")), ""}));
    return kExitDone;
  } catch (const Failure& failure) {
    print(textOf(Measurement{{}, failure.message()}));
    throw;
  }
}

int profileRun(const ProfileFlags& flags) {
  checkRun(flags);
  if (flags.report) return reportProfile(flags);
  if (flags.alone) return printAlone(flags);
  if (flags.onCluster) return profileThere(flags);
  deliver(flags, measureHere(flags));
  return kExitDone;
}

const Help kProfileRunHelp = {
    "profile run [OPTIONS] -- COMMAND [ARGUMENT...]", "Make a profile of a command.",
    "Runs the command alone, then beside a kernel that puts pressure on one resource from the other cores, "
    "at varying intensity, until the pressure is known at which the command falls below the target: that is "
    "what it tolerates. What it causes follows from its own use of cores, memory and disks, and from how "
    "much it slows the kernels. By default two resources are measured, those that say most of the others; "
    "the rest is inferred from known applications. The output says for each number whether it was "
    "measured.\n\n"
    "The command runs many times, here and not on a cluster, with empty input; it must do the same each "
    "time and end with exit code 0. One that never ends is profiled by what it reports: --metric 'ops/s' "
    "finds lines such as 'ops/s: 1234' on its stdout, higher being better; or by the instructions that it "
    "runs, where the processor counts them (--instructions). Processes that it leaves running are ended.\n\n"
    "Measure on a quiet machine, since other programs cause pressure too. With --on-cluster a server of the "
    "cluster is one: a job takes all of its units, after waiting for them as any job does, and measures in "
    "a container there. Where the cluster has several platforms, it then runs alone on a server of a second "
    "one (--platforms), and how fast it is on the others is inferred from known applications. Ctrl-C "
    "cancels it.",
    "  tarcil profile run --output sort.yaml -- sort -n numbers.txt\n"
    "  tarcil profile run --on-cluster --store --application sort \\\n"
    "      --file numbers.txt -- sort -n numbers.txt\n"
    "  tarcil profile run --full --seconds 60 -- ./solve input.txt\n"
    "  tarcil profile run --metric 'requests per second' -- ./server --bench\n",
    "  0  done\n"
    "  1  the command fails, takes too long or reports nothing; or no\n"
    "     machine has a core for the kernels; or the job is refused\n"
    "  2  bad arguments or files, or the command cannot be started\n"
    "  3  no cluster in reach, or not allowed\n"};

const Help kCalibrateHelp = {
    "profile calibrate [OPTIONS]", "Calibrate the pressure kernels to this machine.",
    "For each of the ten resources there is a kernel that puts pressure on it, at an intensity from 0 to "
    "99. Calibration measures how far the pressure reached is from the intensity set; how much a second "
    "such kernel, on another core, slows the first, by which pressure is recognised; and how much each "
    "slows those of the other resources. A resource that the cores of this machine do not share, such as a "
    "private cache, is reported as not measurable rather than as 0.\n\n"
    "The result is stored for the platform and used by `tarcil profile run`. Takes a minute or two on a "
    "quiet machine, fills some of the memory (never the last tenth), and writes a scratch file that has no "
    "name.\n\n"
    "With --on-cluster it tells the shares of the cluster's platforms: how much of the pressure on the "
    "platform that profiles are measured on (--reference) arrives on each of the others. One server of each "
    "is calibrated, by a job that takes all of its units; then the shares are set as `tarcil platform set` "
    "would, which needs a token with the role operate. What kernels cannot tell stays as it is set.",
    "  tarcil profile calibrate\n"
    "  tarcil profile calibrate --platform haswell-2.3 --seconds 120\n"
    "  tarcil profile calibrate --on-cluster --reference haswell-2.3 --preview\n",
    "  0  done\n"
    "  1  the result cannot be stored, or the reference cannot be measured\n"
    "  2  bad arguments\n"
    "  3  no cluster in reach, or not allowed\n"};

void addCommonFlags(CLI::App& command, ProfileFlags& flags) {
  command.add_option("--seconds", flags.seconds, "About how long all of it may take.")
      ->check(wholeNumber(1, 86'400))
      ->type_name("N");
  command.add_option("--platform", flags.platform, "Hardware type of this machine. Default: default")
      ->type_name("NAME");
  command
      .add_option("--scratch", flags.scratch,
                  "Folder on the disk that is put under pressure. Default: the present one")
      ->type_name("DIR");
  addJsonFlag(command, flags.json);
}

void addCalibrate(CLI::App& group) {
  addCommand(group, "calibrate", kCalibrateHelp, [](CLI::App& command) {
    auto flags = std::make_shared<ProfileFlags>();
    addClusterFlags(command, flags->cluster);
    command.get_option("--data")->description(
        "Folder of calibrations, in calibration/ there, and of a cluster; as of other commands.");
    addCommonFlags(command, *flags);
    command.add_option("--output", flags->output, "Store it in this file instead.")->type_name("FILE");
    command.add_flag("--on-cluster", flags->onCluster,
                     "Calibrate a server of each platform of the cluster, and set the platforms' shares.");
    command
        .add_option("--reference", flags->reference,
                    "With --on-cluster: the platform that profiles are measured on. Default: the only one")
        ->type_name("NAME");
    command.add_flag("--preview", flags->preview, "With --on-cluster: show the shares, and set none.");
    onRun(command, [flags]() { return calibrateMachine(*flags); });
  });
}

void addProfileRun(CLI::App& group, const std::vector<std::string>& words) {
  addCommand(group, "run", kProfileRunHelp, [&words](CLI::App& command) {
    auto flags = std::make_shared<ProfileFlags>();
    flags->command = words;
    command.add_flag("--full", flags->full, "Measure every resource that can be measured here.");
    command.add_option("--resources", flags->resources, "Measure these, with commas between them.")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("LIST");
    command
        .add_option("--target", flags->target, "Least performance, relative to running alone. Default: 0.95")
        ->type_name("X");
    CLI::Option* metric = command
                              .add_option("--metric", flags->metric,
                                          "Performance is the number after this on stdout; higher is better.")
                              ->type_name("NAME");
    command
        .add_flag("--processor-time", flags->processorTime,
                  "Measure performance by processor time instead of time: for commands that compute, on a "
                  "machine that is not quiet. Waiting does not count.")
        ->excludes(metric);
    command
        .add_flag(
            "--instructions", flags->instructions,
            "Measure performance by the instructions per second of the command's processes: for commands "
            "that never end and report nothing. The machine must have such a counter.")
        ->excludes(metric)
        ->excludes(command.get_option("--processor-time"));
    command.add_option("--rus", flags->rus, "Cores that the command gets; default 1.")
        ->check(wholeNumber(1, 4096))
        ->type_name("N");
    command.add_option("--run-limit", flags->runLimit, "Seconds that one run may take; default 60.")
        ->check(wholeNumber(1, 86'400))
        ->type_name("N");
    command.add_option("--application", flags->application, "Name of the application, for the profile.")
        ->type_name("NAME");
    command
        .add_option("--output", flags->output, "Write the profile to this file, as `tarcil submit` takes it.")
        ->type_name("FILE");
    command.add_option("--calibration", flags->calibration, "Use this calibration.")->type_name("FILE");
    command
        .add_option("--known", flags->known,
                    "Infer from these applications instead of those shipped with tarcil and, with "
                    "--on-cluster, those that the cluster has measured.")
        ->type_name("FILE");
    command.add_flag("--on-cluster", flags->onCluster, "Measure in a container on a server of the cluster.");
    command
        .add_option(
            "--server", flags->server,
            "Measure on this server. Default: the smallest with enough cores, a free one if there is one")
        ->type_name("NAME");
    command
        .add_option(
            "--platforms", flags->platforms,
            "How many platforms to measure on at most: on the first everything, on the others the command's "
            "speed alone. Default: 2")
        ->check(wholeNumber(1, 100))
        ->type_name("N");
    command
        .add_option(
            "--file", flags->files,
            "Ship this file or folder, below the present one, to where the command runs; may be repeated.")
        ->allow_extra_args(false)
        ->type_name("PATH");
    command.add_flag("--store", flags->store, "Store what was measured in the cluster, under --application.");
    command.add_flag("--all-forms", flags->allForms,
                     "Print all of it, JSON, text and file, as one JSON value: what --on-cluster reads.");
    command
        .add_flag(
            "--report", flags->report,
            "Print the profile, or why there is none, in one line for the cluster to store: what jobs that "
            "measure an application by themselves do.")
        ->excludes(command.get_option("--on-cluster"));
    command
        .add_flag(
            "--alone", flags->alone,
            "Measure only the command's speed alone, and print that as JSON: what --on-cluster reads of "
            "further platforms.")
        ->excludes(command.get_option("--on-cluster"))
        ->excludes(command.get_option("--report"));
    addClusterFlags(command, flags->cluster);
    addCommonFlags(command, *flags);
    command.allow_extras();
    onRun(command, [flags, &command]() {
      if (const auto others = command.remaining(); !others.empty()) {
        throw badInput(shown(others.front()) +
                       " is no option of `tarcil profile run`; write the command after `--`:" +
                       " tarcil profile run [OPTIONS] -- COMMAND [ARGUMENT...]");
      }
      return profileRun(*flags);
    });
  });
}

}  // namespace

void addProfile(CLI::App& app, const std::vector<std::string>& command) {
  addGroup(app, "profile",
           {"profile COMMAND ...", summaryOf("profile"),
            "A profile says which interference an application causes and tolerates. `run` measures it on "
            "this machine, after `calibrate`, or on one of the cluster. `import` stores it in the cluster: "
            "jobs that name the application then need none of their own.",
            "  tarcil profile calibrate\n"
            "  tarcil profile run --application gzip --output gzip.yaml -- gzip -kc big.txt\n"
            "  tarcil profile import gzip.yaml\n"
            "  tarcil profile list\n",
            ""},
           [&command](CLI::App& group) {
             addCalibrate(group);
             addProfileRun(group, command);
             addProfileStore(group);
           });
}

}  // namespace tarcil
