#include "monitor/container/shim_plan.h"

#include <sys/stat.h>

#include "core/state/extras.h"
#include "monitor/performance/metric_inbox.h"
#include "shim/plan.h"

namespace tarcil {
namespace {

constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Programs on CUDA learn from this variable which GPUs are theirs.
constexpr const char* kGpus = "gpus";
constexpr const char* kCudaVariable = "CUDA_VISIBLE_DEVICES";

// "0,3".
std::string listed(const std::vector<uint16_t>& numbers) {
  std::string text;
  for (uint16_t number : numbers) text.append(text.empty() ? "" : ",").append(std::to_string(number));
  return text;
}

NetworkKind networkOf(Container::Network network) {
  if (network == Container::Network::kNone) return kNoNetwork;
  return network == Container::Network::kOwn ? kOwnNetwork : kHostNetwork;
}

// Counts follow from what is added, so header and strings cannot disagree.
class PlanWriter {
 public:
  void add(const std::string& text) {
    if (text.find('\0') != std::string::npos) bad_ = true;
    strings_.append(text).push_back('\0');
  }
  bool bad() const { return bad_; }
  const std::string& strings() const { return strings_; }

 private:
  std::string strings_;
  bool bad_ = false;
};

PlanDevice planned(const DeviceNode& node) {
  const auto type = static_cast<uint32_t>(node.number.isBlock ? S_IFBLK : S_IFCHR);
  return {type | node.permissions, node.uid, node.gid, node.number.major, node.number.minor};
}

uint32_t secondsIn(Duration time) {
  return static_cast<uint32_t>(std::chrono::ceil<std::chrono::seconds>(time).count());
}

PlanHeader headerFor(const LaunchSpec& spec, const SystemUser& user, const TaskSetting& setting,
                     size_t variables) {
  PlanHeader header;
  header.uid = user.uid;
  header.gid = user.gid;
  header.groups = static_cast<uint32_t>(user.groups.size());
  header.arguments = static_cast<uint32_t>(spec.command.size());
  header.variables = static_cast<uint32_t>(variables);
  header.directories = static_cast<uint32_t>(setting.cgroups.directories.size());
  header.settings = static_cast<uint32_t>(setting.cgroups.settings.size());
  header.joins = static_cast<uint32_t>(setting.cgroups.joins.size());
  header.outputJoins = static_cast<uint32_t>(setting.cgroups.outputJoins.size());
  header.filter = static_cast<uint32_t>(setting.filter.size() / kFilterInstruction);
  header.deviceFilter = static_cast<uint32_t>(setting.deviceFilter.size() / kFilterInstruction);
  header.devices = static_cast<uint32_t>(setting.devices.size());
  header.shares = static_cast<uint32_t>(setting.shares.size());
  header.hidden = static_cast<uint32_t>(setting.hidden.size());
  header.hostView = setting.hostView ? 1 : 0;
  header.network = networkOf(spec.container.network);
  header.networkBytesPerSecond = spec.limits.networkBytesPerSecond;
  header.fileSeconds = secondsIn(setting.fileWait);
  header.readerSeconds = spec.streamed ? secondsIn(setting.readerWait) : 0;
  header.privileges = setting.privileges;
  header.secrets = static_cast<uint32_t>(spec.secrets.size());
  header.allocation = spec.allocation;
  header.outputLimit = spec.limits.outputBytes;
  if (setting.pinByAffinity) {
    for (const uint32_t core : setting.cores) {
      if (core / 64 < std::size(header.affinity)) header.affinity[core / 64] |= uint64_t{1} << core % 64;
    }
  }
  return header;
}

// For a shim that cannot open a file that output is to go to.
std::string fileRemedy(const LaunchSpec& spec, const SystemUser& user) {
  return "it takes a folder that user " + user.name + " may write into on " + spec.server +
         ", with no symbolic link on the way: make it, or write another path";
}

}  // namespace

bool reportsMetric(const LaunchSpec& spec) {
  return spec.performance && spec.performance->metric == Metric::kReported;
}

std::map<std::string, std::string> taskEnvironment(const LaunchSpec& spec, const SystemUser& user,
                                                   const TaskSetting& setting) {
  const std::string work = setting.workPoint.empty() ? setting.taskDirectory + "/work" : setting.workPoint;
  std::map<std::string, std::string> result = {
      {"PATH", kPath},        {"HOME", user.home},   {"USER", user.name},
      {"LOGNAME", user.name}, {"SHELL", user.shell}, {"TMPDIR", work},
  };
  for (const auto& [name, value] : spec.env) result[name] = value;
  result["TARCIL_JOB"] = toString(spec.job);
  result["TARCIL_JOB_NAME"] = spec.jobName;
  result["TARCIL_TASK"] = std::to_string(spec.task);
  result["TARCIL_TASKS"] = std::to_string(spec.tasks);
  result["TARCIL_ATTEMPT"] = std::to_string(spec.attempt);
  result["TARCIL_CORES"] = coreList(setting.cores);
  result["TARCIL_MEMORY"] = std::to_string(setting.memoryBytes);
  if (reportsMetric(spec)) {
    result["TARCIL_METRIC_SOCKET"] = work + "/" + kMetricSocketName;
    result["TARCIL_METRIC_FILE"] = work + "/" + kMetricFileName;
  }
  if (!spec.secrets.empty()) result["TARCIL_SECRETS"] = kSecretsPoint;
  if (spec.gang) {
    result["TARCIL_RANK"] = std::to_string(spec.task);
    if (!spec.gang->list.empty()) result["TARCIL_HOSTS"] = spec.gang->list;
    if (!spec.gang->file.empty()) result["TARCIL_HOSTFILE"] = work + "/" + kHostFileName;
  }
  for (const auto& [kind, numbers] : spec.extras) {
    const std::string list = listed(numbers);
    result[extraVariable(kind)] = list;
    if (kind == kGpus) result.emplace(kCudaVariable, list);  // where the job says otherwise, that counts
  }
  return result;
}

Result<std::string> encodePlan(const LaunchSpec& spec, const SystemUser& user, const TaskSetting& setting) {
  if (spec.command.empty()) return invalid("command is empty: name a program");
  // The program would read it with the rights of the server.
  if (setting.privileges != kNoPrivileges && !spec.input.empty())
    return invalid("input is not for a container.bundle: leave it out");
  // A program with the rights of the server hears nothing of what the job says.
  const auto environment = setting.privileges != kNoPrivileges
                               ? std::map<std::string, std::string>{{"PATH", kPath}}
                               : taskEnvironment(spec, user, setting);
  PlanWriter writer;
  writer.add(setting.taskDirectory);
  writer.add(setting.workPoint);
  writer.add(spec.workdir);
  writer.add(setting.root);
  writer.add(environment.at("PATH"));
  writer.add(setting.cgroups.birth);
  writer.add(setting.cgroups.oomFile);
  writer.add(setting.cgroups.peakFile);
  writer.add(setting.cgroups.cpuFile);
  writer.add(setting.leaseFile);
  writer.add(setting.program);
  writer.add(spec.output);
  writer.add(spec.error);
  writer.add(fileRemedy(spec, user));
  writer.add(spec.input);
  for (const auto& word : spec.command) writer.add(word);
  for (const auto& [name, value] : environment) writer.add(std::string(name).append("=").append(value));
  for (const auto& directory : setting.cgroups.directories) writer.add(directory);
  for (const auto& [file, value] : setting.cgroups.settings) {
    writer.add(file);
    writer.add(value);
  }
  for (const auto* joins : {&setting.cgroups.joins, &setting.cgroups.outputJoins}) {
    for (const auto& join : *joins) writer.add(join);
  }
  for (const DeviceNode& device : setting.devices) writer.add(device.path);
  for (const auto* paths : {&setting.shares, &setting.hidden}) {
    for (const std::string& path : *paths) writer.add(path);
  }
  if (writer.bad()) return invalid("command, env, workdir, input or output has a NUL character: remove it");

  const PlanHeader header = headerFor(spec, user, setting, environment.size());
  std::string plan(reinterpret_cast<const char*>(&header), sizeof header);
  plan += setting.filter;
  plan += setting.deviceFilter;
  static_assert(sizeof(gid_t) == sizeof(uint32_t));
  plan.append(reinterpret_cast<const char*>(user.groups.data()), user.groups.size() * sizeof(gid_t));
  for (const DeviceNode& node : setting.devices) {
    const PlanDevice device = planned(node);
    plan.append(reinterpret_cast<const char*>(&device), sizeof device);
  }
  return plan + writer.strings();
}

}  // namespace tarcil
