#include "monitor/container/oci_bundle.h"

#include <capnp/compat/json.h>
#include <capnp/message.h>
#include <kj/encoding.h>
#include <kj/exception.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>

#include "core/base/hex.h"
#include "shim/plan.h"

namespace tarcil {
namespace {

using JsonReader = capnp::json::Value::Reader;

constexpr std::streamsize kMaxBytes = 1 << 20;

std::string textOfJson(JsonReader value) {
  const capnp::Text::Reader text = value.getString();
  return {text.begin(), text.size()};
}

// The member of an object; null where it is no object or has none of this name.
std::optional<JsonReader> member(std::optional<JsonReader> object, std::string_view name) {
  if (!object || !object->isObject()) return std::nullopt;
  for (const auto field : object->getObject()) {
    if (std::string_view(field.getName().cStr()) == name) return field.getValue();
  }
  return std::nullopt;
}

Result<Bundle> bundleIn(JsonReader config, const std::string& file, const std::string& folder) {
  const auto path = member(member(config, "root"), "path");
  if (!path || !path->isString() || path->getString().size() == 0) {
    return invalid(file + ": root.path: is missing; write the folder of the root file system");
  }
  Bundle bundle;
  bundle.root = (std::filesystem::path(folder) / textOfJson(*path)).lexically_normal();
  const auto env = member(member(config, "process"), "env");
  if (!env) return bundle;
  if (!env->isArray()) return invalid(file + ": process.env: is no list; write a list of NAME=value");
  for (const auto entry : env->getArray()) {
    const std::string text = entry.isString() ? textOfJson(entry) : std::string();
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || text.find('\0') != std::string::npos) {
      return invalid(file + ": process.env: has an entry that is no variable; write NAME=value");
    }
    bundle.env[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return bundle;
}

std::string jsonText(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<uint8_t>(letter);
    if (letter == '"' || letter == '\\') result += '\\';
    if (code < 0x20) {
      result.append("\\u00").append(hexOf(std::span(&code, 1)));
    } else {
      result += letter;
    }
  }
  return result + '"';
}

template <typename List, typename Write>
std::string jsonList(const List& list, Write write) {
  std::string text = "[";
  for (const auto& entry : list) text.append(text.size() > 1 ? "," : "").append(write(entry));
  return text + "]";
}

std::string jsonMount(const std::string& point, const std::string& type, const std::string& source,
                      const std::vector<std::string>& options) {
  return "{\"destination\":" + jsonText(point) + ",\"type\":" + jsonText(type) +
         ",\"source\":" + jsonText(source) + ",\"options\":" + jsonList(options, jsonText) + "}";
}

std::string jsonMounts(const CrunContainer& container) {
  std::vector<std::string> mounts = {
      jsonMount("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}),
      jsonMount("/dev", "tmpfs", "tmpfs", {"nosuid", "noexec", "mode=755", "size=64k"}),
      jsonMount("/dev/shm", "tmpfs", "shm", {"nosuid", "nodev", "mode=1777"}),
      jsonMount("/sys", "sysfs", "sysfs", {"nosuid", "noexec", "nodev", "ro"}),
      jsonMount("/run", "tmpfs", "tmpfs", {"nosuid", "nodev", "mode=755", "size=64k"}),
      jsonMount("/tmp", "bind", container.temporary, {"bind", "nosuid", "nodev"}),
      jsonMount(container.workPoint, "bind", container.work, {"bind", "nosuid", "nodev"})};
  if (container.hasSecrets)
    mounts.push_back(
        jsonMount(kSecretsPoint, "bind", kSecretsPoint, {"bind", "ro", "nosuid", "nodev", "noexec"}));
  return jsonList(mounts, [](const std::string& mount) { return mount; });
}

std::string jsonProcess(const CrunContainer& container) {
  const auto number = [](auto value) { return std::to_string(value); };
  const auto variable = [](const auto& entry) { return jsonText(entry.first + "=" + entry.second); };
  return "{\"terminal\":false,\"noNewPrivileges\":true,\"user\":{\"uid\":" + number(container.uid) +
         ",\"gid\":" + number(container.gid) +
         ",\"umask\":18,\"additionalGids\":" + jsonList(container.groups, number) +
         "},\"args\":" + jsonList(container.command, jsonText) +
         ",\"env\":" + jsonList(container.env, variable) + ",\"cwd\":" + jsonText(container.workdir) +
         ",\"capabilities\":{\"bounding\":[],\"effective\":[],\"inheritable\":[],\"permitted\":[],"
         "\"ambient\":[]}}";
}

std::string jsonDevice(const DeviceNode& node) {
  return "{\"path\":" + jsonText(node.path) + ",\"type\":" + (node.number.isBlock ? "\"b\"" : "\"c\"") +
         ",\"major\":" + std::to_string(node.number.major) +
         ",\"minor\":" + std::to_string(node.number.minor) +
         ",\"fileMode\":" + std::to_string(node.permissions) + ",\"uid\":" + std::to_string(node.uid) +
         ",\"gid\":" + std::to_string(node.gid) + "}";
}

std::string jsonLinux(const CrunContainer& container) {
  const std::vector<std::string> readOnly = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus",
                                             "/proc/fs"};
  const std::vector<std::string> masked = {"/proc/kcore",
                                           "/proc/keys",
                                           "/proc/kpagecount",
                                           "/proc/kpageflags",
                                           "/proc/timer_list",
                                           "/sys/firmware",
                                           "/sys/devices/virtual/powercap"};
  // Its own mounts, and of everything else what the task has already.
  return "{\"namespaces\":[{\"type\":\"mount\"}],\"devices\":" + jsonList(container.devices, jsonDevice) +
         ",\"readonlyPaths\":" + jsonList(readOnly, jsonText) +
         ",\"maskedPaths\":" + jsonList(masked, jsonText) +
         ",\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\"}}";
}

// The filter itself takes the place of the section `seccomp`. A crun that does not know the annotation goes
// by the section, by which the command cannot be executed: no filter is no way to run.
std::string jsonAnnotations(const CrunContainer& container) {
  const kj::String filter = kj::encodeBase64(
      kj::arrayPtr(reinterpret_cast<const kj::byte*>(container.filter.data()), container.filter.size()));
  return "{\"run.oci.seccomp_bpf_data\":" + jsonText(filter.cStr()) + "}";
}

}  // namespace

Result<Bundle> parseBundle(std::string_view text, const std::string& file, const std::string& folder) {
  capnp::MallocMessageBuilder message;
  auto config = message.initRoot<capnp::json::Value>();
  const auto malformed = kj::runCatchingExceptions([&config, text] {
    capnp::JsonCodec().decodeRaw(kj::ArrayPtr<const char>(text.data(), text.size()), config);
  });
  if (malformed != nullptr)
    return invalid(file + ": is not JSON; write one as the OCI runtime specification has it");
  return bundleIn(config.asReader(), file, folder);
}

Result<Bundle> readBundle(const std::string& folder) {
  const std::string file = folder + "/config.json";
  std::ifstream in(file, std::ios::binary);
  if (!in) return notFound("the bundle '" + folder + "' has no config.json that can be read on this server");
  std::string text(static_cast<size_t>(kMaxBytes) + 1, '\0');
  in.read(text.data(), kMaxBytes + 1);
  if (in.gcount() > kMaxBytes) return invalid(file + ": is longer than 1 MiB");
  text.resize(static_cast<size_t>(in.gcount()));
  return parseBundle(text, file, folder);
}

std::string crunConfig(const CrunContainer& container) {
  return "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":" + jsonText(container.root) +
         ",\"readonly\":true},\"process\":" + jsonProcess(container) +
         ",\"mounts\":" + jsonMounts(container) + ",\"linux\":" + jsonLinux(container) +
         ",\"annotations\":" + jsonAnnotations(container) + "}\n";
}

std::vector<std::string> crunCommand(const std::string& crun, const std::string& folder,
                                     const std::string& state) {
  return {crun,       "--root", state, "--cgroup-manager", "disabled", "run", "--no-subreaper",
          "--bundle", folder,   "task"};
}

}  // namespace tarcil
