#include "formats/job_file.h"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/names.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/constraint.h"
#include "core/model/job_check.h"
#include "core/model/job_fields.h"
#include "core/model/result_files.h"
#include "core/model/task_secret.h"
#include "formats/extras_field.h"
#include "formats/input_files.h"
#include "formats/items_field.h"
#include "formats/profile_file.h"
#include "formats/yaml_reader.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr double kMaxTarget = 1e18;
constexpr Duration kMinWindow = 100ms;
constexpr Duration kMaxWindow = 24h;

// "10%" or 0.1.
std::optional<double> deviationIn(const YamlValue& value) {
  const auto text = value.text();
  if (!text) return std::nullopt;
  std::string_view digits = *text;
  const bool isPercent = digits.ends_with('%');
  if (isPercent) digits.remove_suffix(1);
  double number = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (isPercent) number /= 100;
  const bool isNumber = problem == std::errc() && end == digits.data() + digits.size();
  if (!isNumber || !(number > 0 && number < 1)) {
    value.refuse("write a share above 0% and below 100%, for example 10%");
    return std::nullopt;
  }
  return number;
}

std::optional<PerformanceGoal> performanceIn(const YamlValue& value) {
  auto mapping = value.mapping();
  if (!mapping) return std::nullopt;
  PerformanceGoal goal;
  if (auto metric = mapping->take("metric")) {
    const auto choice = metric->oneOf({"instructions", "reported", "cpu"});
    if (choice == "instructions") goal.metric = Metric::kInstructions;
    if (choice == "cpu") goal.metric = Metric::kCpuTime;
  } else {
    value.problem("metric is missing; write metric: instructions, reported or cpu");
  }
  if (auto target = mapping->take("target")) {
    assign(goal.target, target->number({0, kMaxTarget, NumberRange::Ends::kMaxOnly}));
  }
  if (auto deviation = mapping->take("deviation")) assign(goal.deviation, deviationIn(*deviation));
  if (auto window = mapping->take("window")) {
    assign(goal.window, window->duration(kMinWindow, kMaxWindow));
  }
  mapping->refuseOthers();
  return goal;
}

template <typename Value>
std::string defaultText(const WholeNumber&, const Value& value) {
  return std::to_string(value);
}
std::string defaultText(const Span&, Duration value) {
  return formatDuration(value);
}
std::string defaultText(const Size&, uint64_t value) {
  return formatSize(value);
}
std::string defaultText(const Flag&, bool value) {
  return value ? "`true`" : "`false`";
}
template <typename Enum, size_t kCount>
std::string defaultText(const Choice<Enum, kCount>& kind, Enum value) {
  return "`" + std::string(kind.nameOf(value)) + "`";
}
// Of the others the table says what holds where nothing is written.
std::string defaultText(const auto&, const auto&) {
  return "";
}

// Reads a job file's root mapping: fields of the table first, then those of a form of their own.
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
    readTable();
    readCommand();
    readItems();
    if (auto extras = take("extras")) job_.spec.extras = extrasIn(*extras);
    readProfile();
    readPlacementRest();
    if (auto performance = take("performance")) job_.spec.performance = performanceIn(*performance);
    readAfter();
    readResults();
    readSecrets();
    readFiles();
    readLateBinding();
    for (const auto& [name, group] : groups_) group.refuseOthers();
    root_.take(kParametersKey);  // which has had its effect
    root_.refuseOthers();
    job_.isNamed = !job_.spec.name.empty();
    if (!job_.isNamed) job_.spec.name = defaultJobName(job_.spec, fileStem);
    // Values out of bounds were reported where they were read.
    for (const JobProblem& problem : mismatches(job_.spec, !job_.files.empty())) report(problem);
    return std::move(job_);
  }

 private:
  // The value under this key of the root, which problems of the whole job may be about.
  std::optional<YamlValue> take(std::string_view key) {
    auto value = root_.take(key);
    if (value) known_.emplace(std::string(key), *value);
    return value;
  }

  // The value under a path of the table, "key" or "group.key".
  std::optional<YamlValue> takePath(std::string_view path) {
    const size_t dot = path.find('.');
    if (dot == std::string_view::npos) return take(path);
    const std::string_view name = path.substr(0, dot);
    auto group = groups_.find(name);
    if (group == groups_.end()) {
      if (known_.contains(name)) return std::nullopt;  // it is no mapping
      const auto value = take(name);
      auto mapping = value ? value->mapping() : std::nullopt;
      if (!mapping) return std::nullopt;
      group = groups_.emplace(name, std::move(*mapping)).first;
    }
    auto value = group->second.take(path.substr(dot + 1));
    if (value) known_.emplace(std::string(path), *value);
    return value;
  }

  void readTable() {
    forEachJobField([this](const auto& field) {
      if (const auto value = takePath(field.path)) assign(field.of(job_.spec), read(*value, field.kind));
    });
  }

  static std::optional<int64_t> read(const YamlValue& value, const WholeNumber& kind) {
    return value.integer(kind.least, kind.most);
  }
  static std::optional<double> read(const YamlValue& value, const RealNumber& kind) {
    return value.number(kind.range);
  }
  static std::optional<Duration> read(const YamlValue& value, const Span& kind) {
    return value.duration(kind.least, kind.most);
  }
  static std::optional<uint64_t> read(const YamlValue& value, const Size&) { return value.positiveSize(); }
  static std::optional<bool> read(const YamlValue& value, const Flag&) { return value.boolean(); }
  static std::optional<std::string> read(const YamlValue& value, const Title& kind) {
    return value.title(kind.most);
  }
  template <typename Enum, size_t kCount>
  static std::optional<Enum> read(const YamlValue& value, const Choice<Enum, kCount>& kind) {
    const auto chosen = value.oneOf(namesIn(kind.names));
    return chosen ? valueIn(kind.names, *chosen) : std::nullopt;
  }
  static std::optional<std::string> read(const YamlValue& value, const DomainName&) {
    auto name = value.title(kMaxNameCharacters);
    if (name == DomainName::kNone) name->clear();
    return name;
  }
  template <typename Kind>
  requires std::same_as<Kind, SystemUser> || std::same_as<Kind, AbsolutePath> ||
      std::same_as<Kind, InputPath> || std::same_as<Kind, OutputPath>
  static std::optional<std::string> read(const YamlValue& value, const Kind& kind) {
    auto text = value.text();
    if (text && !kind.holds(*text)) value.refuse(kind.remedy());
    return text && kind.holds(*text) ? text : std::nullopt;
  }
  static std::optional<std::string> read(const YamlValue& value, const ImageName&) {
    auto text = value.text();
    if (!text) return std::nullopt;
    const auto reference = parseImage(*text);
    if (reference) return text;
    value.problem(reference.error().message);
    return std::nullopt;
  }
  std::optional<WallTime> read(const YamlValue& value, const PointInTime&) const {
    const auto text = value.text();
    if (!text) return std::nullopt;
    const auto time = parsePointInTime(*text, options_.clock);
    if (time) return *time;
    value.problem(time.error().message);
    return std::nullopt;
  }

  // Where the field stands in the file, or the group that it belongs to; else at the file's beginning.
  void report(const JobProblem& problem) {
    for (std::string_view path = problem.field; !path.empty();) {
      if (const auto found = known_.find(path); found != known_.end())
        return found->second.problem(problem.text);
      const size_t dot = path.rfind('.');
      path = path.substr(0, dot == std::string_view::npos ? 0 : dot);
    }
    problems_.add(start_, problem.field, problem.text);
  }

  void readCommand() {
    auto command = take("command");
    auto env = take("env");
    if (command) readCommandList(*command);
    if (env) readEnv(*env);
    const bool imageHasOne = !job_.spec.container.image.empty();
    if (!command && !imageHasOne) problems_.add(start_, "command", std::string(kCommandMissing));
    if (std::string problem = whyTooLong(job_.spec); !problem.empty())
      (command ? *command : *env).problem(problem);
  }

  // One for each task; how many these are need not be written.
  void readItems() {
    auto value = take("items");
    if (!value) return;
    job_.spec.items = Items(itemsIn(*value, options_.mayNameFiles ? std::optional(folder_) : std::nullopt));
    const bool areTasksGiven = known_.contains("tasks");
    if (!areTasksGiven && !job_.spec.items.empty())
      job_.spec.tasks = static_cast<uint32_t>(job_.spec.items.size());
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
      if (std::string problem = whyNotVariable(key); !problem.empty()) {
        value.problem(problem);
      } else if (text) {
        job_.spec.env[key] = std::move(*text);
      }
    }
  }

  void readProfile() {
    auto application = take("application");
    std::optional<std::string> name;
    if (application) name = application->title(kMaxNameCharacters);
    auto given = take("profile");
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
    if (!options_.mayNameFiles)
      return given.problem(std::string(kNamesFile) + "write the profile itself as a mapping");
    auto profile = tarcil::readProfile((fs::path(folder_) / *path).lexically_normal().string());
    if (profile) {
      job_.spec.profile = std::move(*profile);
    } else {
      given.problem("the profile " + shown(*path) + " cannot be used; see its problems below");
      problems_.addOther(profile.error());
    }
  }

  // Servers without an attribute by which tasks are spread or packed are none of its domains.
  void requireDomain(const std::string& attribute) {
    if (attribute.empty() || attribute == Domain::kServer || attribute == Domain::kRack) return;
    job_.spec.placement.constraints.push_back({attribute, Constraint::Operator::kExists, {}});
  }

  // What the table does not have.
  void readPlacementRest() {
    const auto mapping = groups_.find("placement");
    if (mapping == groups_.end()) return;
    if (auto constraints = mapping->second.take("constraints")) readConstraints(*constraints);
    if (auto prefer = mapping->second.take("prefer")) readPreferences(*prefer);
    if (auto required = mapping->second.take("require")) readRequirements(*required);
    requireDomain(job_.spec.placement.spread);
    requireDomain(job_.spec.placement.pack);
  }

  void readConstraints(const YamlValue& constraints) {
    for (const YamlValue& item : boundedList(constraints, kMaxConstraints)) {
      auto text = item.text();
      if (!text) continue;
      auto constraint = parseConstraint(*text);
      if (constraint) {
        job_.spec.placement.constraints.push_back(std::move(*constraint));
      } else {
        item.problem("in " + shown(*text) + ", " + constraint.error().message);
      }
    }
  }

  // For all tasks alike, or by task.
  void readPreferences(const YamlValue& prefer) {
    if (prefer.isMapping()) {
      forEachTask(prefer, "placement.prefer.", [this](uint32_t task, const YamlValue& value) {
        job_.spec.placement.preferOfTask[task] = servers(value);
      });
    } else {
      job_.spec.placement.prefer = servers(prefer);
    }
  }

  void readRequirements(const YamlValue& required) {
    if (required.isMapping()) {
      forEachTask(required, "placement.require.", [this](uint32_t task, const YamlValue& value) {
        const auto entries = value.list();
        if (entries && entries->empty()) return value.problem(std::string(kRequiresNothing));
        job_.spec.placement.requireOfTask[task] = requirement(value);
      });
    } else {
      std::ranges::move(requirement(required), std::back_inserter(job_.spec.placement.constraints));
    }
  }

  // Conditions, and names of servers of which one will do.
  static std::vector<Constraint> requirement(const YamlValue& list) {
    std::vector<Constraint> required;
    std::vector<std::string> names;
    for (const YamlValue& item : boundedList(list, kMaxRequired)) {
      const auto text = item.text();
      if (!text) continue;
      auto condition = conditionIn(*text);
      if (!condition) {
        item.problem("in " + shown(*text) + ", " + condition.error().message);
      } else if (*condition) {
        required.push_back(std::move(**condition));
      } else if (auto name = item.title(kMaxNameCharacters)) {
        names.push_back(std::move(*name));
      }
    }
    if (!names.empty()) required.push_back(onServers(std::move(names)));
    return required;
  }

  // A mapping from indexes of tasks; its values are known as problems name them.
  void forEachTask(const YamlValue& byTask, const std::string& path,
                   const std::function<void(uint32_t, const YamlValue&)>& read) {
    auto mapping = byTask.mapping();
    for (const auto& [key, value] : mapping->all()) {
      uint32_t task = 0;
      std::from_chars(key.data(), key.data() + key.size(), task);
      if (std::to_string(task) != key) {
        value.problem(noSuchTask(job_.spec));
      } else {
        read(task, value);
        known_.emplace(path + key, value);
      }
    }
  }

  static std::vector<std::string> servers(const YamlValue& list) {
    std::vector<std::string> names;
    for (const YamlValue& item : boundedList(list, kMaxPreferred)) {
      if (auto name = item.title(kMaxNameCharacters)) names.push_back(std::move(*name));
    }
    return names;
  }

  static std::vector<YamlValue> boundedList(const YamlValue& value, size_t most) {
    auto items = value.list();
    if (!items) return {};
    if (items->size() <= most) return std::move(*items);
    value.problem("has " + std::to_string(items->size()) + " entries; write at most " + std::to_string(most));
    return {};
  }

  void readAfter() {
    auto value = take("after");
    if (!value) return;
    job_.after = afterIn(*value, job_.spec.after.unmet);
    if (std::string problem = whyNotAfter(job_.spec, job_.after.size(), job_.after.each.has_value());
        !problem.empty()) {
      value->problem(problem);
    }
  }

  void readResults() {
    auto value = take("results");
    if (!value) return;
    for (const YamlValue& item : boundedList(*value, kMaxResultPatterns)) {
      auto pattern = item.text();
      if (!pattern) continue;
      if (std::string problem = whyNotPattern(*pattern); !problem.empty()) {
        item.problem(shown(*pattern) + " " + problem);
      } else {
        job_.spec.results.push_back(std::move(*pattern));
      }
    }
  }

  void readSecrets() {
    auto value = take("secrets");
    if (!value) return;
    for (const YamlValue& item : boundedList(*value, kMaxSecretsOfJob)) {
      auto secret = item.text();
      if (!secret) continue;
      if (std::string problem = whyNotSecret(*secret); !problem.empty()) {
        item.problem(shown(*secret) + " " + problem);
      } else {
        job_.spec.secrets.push_back(std::move(*secret));
      }
    }
  }

  // What is sent beside the job.
  void readLateBinding() {
    auto executor = take("executor");
    auto ratio = take("probe_ratio");
    if (job_.spec.policy != Policy::kLateBinding) {
      for (const auto& value : {executor, ratio}) {
        if (value) value->problem("is for policy: late-binding; write that too, or leave this out");
      }
      return;
    }
    if (ratio) assign(job_.probeRatio, ratio->number({1, 100, NumberRange::Ends::kBoth}));
    if (auto words = executor ? executor->list() : std::nullopt) {
      if (words->empty()) executor->problem("is an empty list; write the program and its arguments");
      for (const YamlValue& word : *words) {
        if (auto text = word.text()) job_.executor.push_back(std::move(*text));
      }
    }
  }

  void readFiles() {
    auto value = take("files");
    if (!value) return;
    if (!options_.mayNameFiles)
      return value->problem(std::string(kNamesFile) + "submit the job with `tarcil submit`, or leave it out");
    // Not read where they do not go with a working directory: what is there may be large.
    if (!job_.spec.workdir.empty()) {
      for (const JobProblem& problem : mismatches(job_.spec, true)) {
        if (problem.field == "files") report(problem);
      }
      return;
    }
    if (auto entries = value->list()) {
      job_.files = readInputFiles(*entries, folder_, {options_.maxInputBytes, options_.maxInputFiles});
    }
  }

  YamlMapping root_;
  FilePosition start_;
  std::string folder_;
  const JobFileOptions& options_;
  Problems& problems_;
  std::map<std::string, YamlValue, std::less<>> known_;  // by path, what was found in the file
  std::map<std::string_view, YamlMapping> groups_;       // of those, mappings with fields of the table
  JobFile job_;
};

}  // namespace

Result<JobFile> parseJob(std::string_view text, const std::string& name, const std::string& folder,
                         const JobFileOptions& options) {
  auto root = parseYaml(text, name);
  if (!root) return root.error();
  Problems problems(name);
  substituteParameters(*root, options.parameters, problems);
  if (!problems.none()) return problems.error();
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

std::vector<std::string> jobFieldRows() {
  std::vector<std::string> rows;
  const JobSpec usual;
  forEachJobField([&](const auto& field) {
    const std::string otherwise =
        field.otherwise.empty() ? defaultText(field.kind, field.of(usual)) : std::string(field.otherwise);
    rows.push_back("| `" + std::string(field.path) + "` | " + std::string(field.help) + " | " +
                   field.kind.values() + " | " + otherwise + " |");
  });
  return rows;
}

}  // namespace tarcil
