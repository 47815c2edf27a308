#include "formats/job_file.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/names.h"
#include "core/model/constraint.h"
#include "core/state/extras.h"
#include "formats/extras_field.h"
#include "formats/input_files.h"
#include "formats/performance_field.h"
#include "formats/placement_field.h"
#include "formats/profile_file.h"
#include "formats/text.h"
#include "formats/units.h"
#include "formats/yaml_reader.h"
#include "latebinding/suitability.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr size_t kMaxUserCharacters = 32;  // as useradd allows
constexpr int64_t kMaxPids = 4'194'304;    // the kernel's own bound on pid_max
constexpr int64_t kMaxRestarts = 1'000;
constexpr Duration kMaxGrace = 24h;
constexpr Duration kMaxBackoff = 24h;

// Reads a job file's root mapping into `job`, group by group.
class JobReader {
 public:
  JobReader(YamlMapping root, FilePosition start, std::string folder, const JobFileOptions& options,
            Problems& problems)
      : root_(std::move(root)),
        start_(start),
        folder_(std::move(folder)),
        options_(options),
        problems_(problems) {}

  JobFile read(const std::string& fileStem) {
    readIdentity();
    readCommand();
    readSize();
    readTimes();
    readProfile();
    readQuality();
    readPolicy();
    readPlacement();
    readContainer();
    readLimits();
    readRestart();
    const auto performance = root_.take("performance");
    if (performance) job_.spec.performance = performanceIn(*performance);
    readAdjust(performance.has_value());
    readFiles();
    readLateBinding();
    root_.refuseOthers();
    if (job_.spec.name.empty()) job_.spec.name = defaultName(fileStem);
    return std::move(job_);
  }

 private:
  void readIdentity() {
    if (auto name = root_.take("name")) assign(job_.spec.name, name->title(kMaxNameCharacters));
    if (auto user = root_.take("user")) readUser(*user);
    if (auto workdir = root_.take("workdir")) readWorkdir(*workdir);
  }

  void readUser(const YamlValue& user) {
    auto name = user.text();
    if (!name) return;
    if (!isPlainName(*name, kMaxUserCharacters)) {
      return user.refuse("write a user's name: at most 32 letters, digits, dots, dashes or underscores");
    }
    job_.spec.user = std::move(*name);
  }

  void readWorkdir(const YamlValue& workdir) {
    auto path = workdir.text();
    if (!path) return;
    if (!path->starts_with('/')) return workdir.refuse("write a path that starts with /");
    job_.spec.workdir = std::move(*path);
  }

  void readCommand() {
    auto command = root_.take("command");
    auto env = root_.take("env");
    if (!command) {
      problems_.add(start_, "command",
                    "is missing; write the program and its arguments, for example command: [sleep, 5]");
    } else {
      readCommandList(*command);
    }
    if (env) readEnv(*env);
    size_t bytes = 0;
    for (const std::string& word : job_.spec.command) bytes += word.size() + 1;
    for (const auto& [key, value] : job_.spec.env) bytes += key.size() + value.size() + 2;
    if (bytes > kMaxCommandAndEnvBytes) {
      (command ? *command : *env)
          .problem("command and env hold " + std::to_string(bytes) + " bytes together, at most " +
                   formatSize(kMaxCommandAndEnvBytes) + " are passed on; put data into files");
    }
  }

  void readCommandList(const YamlValue& command) {
    if (command.node().kind == YamlNode::Kind::kScalar)
      return command.refuse(listFormOf(command.node().text));
    auto words = command.list();
    if (!words) return;
    if (words->empty()) return command.problem("is an empty list; write the program and its arguments");
    for (const YamlValue& word : *words) {
      auto text = word.text();
      if (text) job_.spec.command.push_back(std::move(*text));
    }
    auto program = words->front().node();
    if (program.kind == YamlNode::Kind::kScalar && program.text.empty()) {
      words->front().refuse("write the program to run");
    }
  }

  // How to write a command that was given as one text: word by word if that is all there is to it.
  static std::string listFormOf(std::string_view text) {
    const bool needsShell =
        text.empty() || text.find_first_of("\"'\\$`|&;<>()*?[]{}#~=,:\n\t") != std::string::npos;
    if (needsShell || text.size() > 60) {
      return "write a list, for example [sleep, 5], or [sh, -c, \"...\"] for a line of shell";
    }
    std::string list;
    for (size_t start = 0; start < text.size();) {
      const size_t end = std::min(text.find(' ', start), text.size());
      if (end > start) list.append(list.empty() ? "" : ", ").append(text.substr(start, end - start));
      start = end + 1;
    }
    return "write a list: [" + list + "]";
  }

  void readEnv(const YamlValue& env) {
    auto mapping = env.mapping();
    if (!mapping) return;
    for (const auto& [key, value] : mapping->all()) {
      auto text = value.text();
      if (key.empty() || key.find('=') != std::string::npos || key.find('\0') != std::string::npos) {
        value.problem("a variable's name is not empty and has no '=' and no NUL in it; rename it");
      } else if (key == "TARCIL_TASK" || key == "TARCIL_TASKS" || key.starts_with(kExtraVariablePrefix)) {
        value.problem("is set for every task by tarcil; choose another name");
      } else if (text) {
        job_.spec.env[key] = std::move(*text);
      }
    }
  }

  void readSize() {
    if (auto tasks = root_.take("tasks")) assign(job_.spec.tasks, tasks->integer(1, kMaxTasks));
    if (auto rus = root_.take("rus_per_task")) assign(job_.spec.rusPerTask, rus->integer(1, kMaxRusPerTask));
    if (auto extras = root_.take("extras")) job_.spec.extras = extrasIn(*extras);
    auto concurrency = root_.take("concurrency");
    if (concurrency) assign(job_.spec.concurrency, concurrency->integer(1, kMaxTasks));
    if (auto priority = root_.take("priority"))
      assign(job_.spec.priority, priority->integer(0, kMaxPriority));
    if (auto hold = root_.take("hold")) assign(job_.spec.hold, hold->boolean());
    if (auto schedule = root_.take("schedule")) {
      auto choice = schedule->oneOf({"incremental", "gang"});
      if (choice == "gang") job_.spec.schedule = Schedule::kGang;
    }
    if (job_.spec.schedule == Schedule::kGang && job_.spec.mostAtOnce() < job_.spec.tasks) {
      concurrency->problem(
          "a gang starts all of its tasks at once; leave it out, or write schedule: incremental");
    }
  }

  void readTimes() {
    if (auto grace = root_.take("grace")) assign(job_.spec.grace, grace->duration(0s, kMaxGrace));
    if (auto timeout = root_.take("timeout")) assign(job_.spec.timeout, timeout->duration(1ms, kMaxDuration));
  }

  void readProfile() {
    auto application = root_.take("application");
    std::optional<std::string> name;
    if (application) name = application->title(kMaxNameCharacters);
    auto given = root_.take("profile");
    if (given) readGivenProfile(*given);
    if (options_.profile) {
      job_.spec.profile = *options_.profile;
      job_.hasProfile = true;
    }
    if (!name) return;
    if (!job_.hasProfile) {
      job_.lookupApplication = *name;
      job_.lookupPlace = application->node().place;
      return;
    }
    std::string& own = job_.spec.profile.application;
    if (!own.empty() && own != *name) {
      application->refuse("its profile is of application " + shown(own) +
                          ": write the same, or leave one out");
    }
    own = *name;
  }

  void readGivenProfile(const YamlValue& given) {
    job_.hasProfile = true;
    if (given.isMapping()) {
      job_.spec.profile = profileIn(given);
      return;
    }
    if (given.node().kind != YamlNode::Kind::kScalar || given.node().text.empty()) {
      return given.refuse("write the path of a profile, or the profile itself as a mapping");
    }
    auto path = given.text();
    if (!path) return;
    auto profile = tarcil::readProfile((fs::path(folder_) / *path).lexically_normal().string());
    if (profile) {
      job_.spec.profile = std::move(*profile);
    } else {
      given.problem("the profile " + shown(*path) + " cannot be used; see its problems below");
      problems_.addOther(profile.error());
    }
  }

  void readQuality() {
    auto value = root_.take("quality");
    if (!value) return;
    auto quality = value->mapping();
    if (!quality) return;
    if (auto target = quality->take("target")) {
      assign(job_.spec.target, target->number({0, 1, NumberRange::Ends::kMaxOnly}));
    }
    if (auto confidence = quality->take("confidence")) {
      assign(job_.spec.confidence, confidence->number({0, 1, NumberRange::Ends::kNone}));
    }
    if (auto protect = quality->take("protect_neighbours"))
      assign(job_.spec.protectNeighbours, protect->boolean());
    if (auto wait = quality->take("max_wait")) assign(job_.spec.maxWait, wait->duration(0s, kMaxDuration));
    quality->refuseOthers();
  }

  void readPolicy() {
    auto policy = root_.take("policy");
    if (!policy) return;
    policyPlace_ = policy->node().place;
    const auto choice = policy->oneOf(policyNames());
    if (choice) job_.spec.policy = policyNamed(*choice).value();
  }

  // After tasks and policy, which it is held against.
  void readPlacement() {
    auto value = root_.take("placement");
    if (value) job_.spec.placement = placementIn(*value, job_.spec.tasks, job_.spec.policy);
  }

  void readContainer() {
    auto value = root_.take("container");
    if (!value) return;
    auto container = value->mapping();
    if (!container) return;
    Container& to = job_.spec.container;
    auto bundle = container->take("bundle");
    if (auto rootfs = container->take("rootfs")) readServerFolder(*rootfs, to.rootfs);
    if (bundle) readServerFolder(*bundle, to.bundle);
    if (!to.rootfs.empty() && !to.bundle.empty()) {
      bundle->problem("names files of the task, and so does rootfs; leave one of them out");
    }
    if (auto network = container->take("network")) {
      auto choice = network->oneOf({"host", "none", "own"});
      if (choice == "none") to.network = Container::Network::kNone;
      if (choice == "own") to.network = Container::Network::kOwn;
    }
    container->refuseOthers();
  }

  static void readServerFolder(const YamlValue& folder, std::string& to) {
    auto path = folder.text();
    if (!path) return;
    if (!path->starts_with('/')) return folder.refuse("write a path on the servers that starts with /");
    to = std::move(*path);
  }

  // After the container, whose network one of them is about.
  void readLimits() {
    auto value = root_.take("limits");
    if (!value) return;
    auto limits = value->mapping();
    if (!limits) return;
    if (auto memory = limits->take("memory")) assign(job_.spec.limits.memoryBytes, memory->positiveSize());
    if (auto pids = limits->take("pids")) assign(job_.spec.limits.pids, pids->integer(1, kMaxPids));
    if (auto output = limits->take("output")) assign(job_.spec.limits.outputBytes, output->positiveSize());
    Limits& to = job_.spec.limits;
    if (auto disk = limits->take("disk_bandwidth")) assign(to.diskBytesPerSecond, disk->positiveSize());
    if (auto network = limits->take("network_bandwidth")) {
      assign(to.networkBytesPerSecond, network->positiveSize());
      if (job_.spec.container.network != Container::Network::kOwn) {
        network->problem(
            "limits a network of the task's own; add container: {network: own}, or leave it out");
      }
    }
    limits->refuseOthers();
  }

  void readRestart() {
    if (auto preemptible = root_.take("preemptible")) assign(job_.spec.preemptible, preemptible->boolean());
    if (auto exclusive = root_.take("exclusive")) assign(job_.spec.exclusive, exclusive->boolean());
    auto value = root_.take("restart");
    if (!value) return;
    auto restart = value->mapping();
    if (!restart) return;
    RestartPolicy& to = job_.spec.restart;
    if (auto attempts = restart->take("attempts")) assign(to.attempts, attempts->integer(0, kMaxRestarts));
    if (auto backoff = restart->take("backoff")) assign(to.backoff, backoff->duration(0s, kMaxBackoff));
    if (auto onLost = restart->take("on_lost")) assign(to.onLost, onLost->boolean());
    restart->refuseOthers();
  }

  void readAdjust(bool isWatched) {
    auto value = root_.take("adjust");
    if (!value) return;
    auto adjust = value->mapping();
    if (!adjust) return;
    if (auto more = adjust->take("more_rus"))
      assign(job_.spec.adjust.moreRus, more->integer(0, kMaxRusPerTask));
    if (auto move = adjust->take("move")) assign(job_.spec.adjust.move, move->boolean());
    adjust->refuseOthers();
    if (!isWatched) {
      value->problem(
          "is for tasks that perform below what the job expects, and nothing says what it expects; write "
          "performance: {metric: reported} too (docs/job-file.md), or leave this out");
    }
  }

  // After everything else, which it is held against.
  void readLateBinding() {
    auto atMostOnce = root_.take("at_most_once");
    auto executor = root_.take("executor");
    auto ratio = root_.take("probe_ratio");
    if (atMostOnce) assign(job_.spec.atMostOnce, atMostOnce->boolean());
    if (job_.spec.policy != Policy::kLateBinding) {
      const auto refuse = [](const YamlValue& value) {
        value.problem("is for policy: late-binding; write that too, or leave this out");
      };
      if (job_.spec.atMostOnce) refuse(*atMostOnce);
      if (executor) refuse(*executor);
      if (ratio) refuse(*ratio);
      return;
    }
    if (ratio) assign(job_.probeRatio, ratio->number({1, 100, NumberRange::Ends::kBoth}));
    if (auto words = executor ? executor->list() : std::nullopt) {
      if (words->empty()) executor->problem("is an empty list; write the program and its arguments");
      for (const YamlValue& word : *words) {
        if (auto text = word.text()) job_.executor.push_back(std::move(*text));
      }
    }
    const Status suits = late::checkJob(job_.spec, !job_.files.empty());
    if (!suits) problems_.add(policyPlace_, "policy", suits.error().message);
  }

  void readFiles() {
    auto value = root_.take("files");
    if (!value) return;
    if (!job_.spec.workdir.empty()) {
      return value->problem(
          "are shipped into each task's private working directory, which workdir replaces; leave workdir out,"
          " or leave files out and keep them in workdir on the servers");
    }
    if (auto entries = value->list()) {
      job_.files = readInputFiles(*entries, folder_, {options_.maxInputBytes, options_.maxInputFiles});
    }
  }

  // The program's name; where that is no good name, the job file's.
  std::string defaultName(const std::string& fileStem) const {
    const auto isGood = [](const std::string& name) {
      return !name.empty() && characters(name) <= kMaxNameCharacters && isPrintable(name);
    };
    std::string program =
        job_.spec.command.empty() ? "" : fs::path(job_.spec.command.front()).filename().string();
    if (isGood(program)) return program;
    return isGood(fileStem) ? fileStem : "job";
  }

  YamlMapping root_;
  FilePosition start_;
  FilePosition policyPlace_{};
  std::string folder_;
  const JobFileOptions& options_;
  Problems& problems_;
  JobFile job_;
};

}  // namespace

Result<JobFile> parseJob(std::string_view text, const std::string& name, const std::string& folder,
                         const JobFileOptions& options) {
  auto root = parseYaml(text, name);
  if (!root) return root.error();
  Problems problems(name);
  auto mapping = YamlValue(*root, "", problems).mapping();
  if (!mapping) return problems.error();
  JobFile job = JobReader(std::move(*mapping), root->place, folder, options, problems)
                    .read(fs::path(name).stem().string());
  if (!problems.none()) return problems.error();
  return job;
}

Result<JobFile> readJobFile(const std::string& path, const JobFileOptions& options) {
  auto text = readTextFile(path, kMaxYamlBytes);
  if (!text) return text.error();
  return parseJob(*text, path, fs::path(path).parent_path().string(), options);
}

}  // namespace tarcil
