// OCI bundles: what counts of one, and how crun is told to run a task in it.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "monitor/logic/devices/extra_devices.h"

namespace tarcil {

// What counts of a bundle's config.json (OCI runtime specification 1.0). All else in it, its hooks, mounts,
// devices, user and capabilities, is for the server to say and not for the bundle, and is left out.
struct Bundle {
  std::string root;                        // root.path, absolute
  std::map<std::string, std::string> env;  // process.env

  bool operator==(const Bundle&) const = default;
};

// kInvalid: the text is no such file; the message begins with `file`. `folder`: of the bundle, absolute.
Result<Bundle> parseBundle(std::string_view text, const std::string& file, const std::string& folder);

// Reads `<folder>/config.json`. kNotFound: it cannot be read. kInvalid: as above, or it is longer than 1 MiB.
Result<Bundle> readBundle(const std::string& folder);

// What a task is, in terms of crun.
struct CrunContainer {
  std::string root;  // read-only for the task
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  std::string workdir;  // in the container
  std::string work;     // folder of the host that the task sees as `workPoint`
  std::string workPoint;
  bool hasSecrets = false;  // at kSecretsPoint of the host, as the task is to see them
  std::string temporary;    // folder of the host that the task sees as /tmp
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::vector<DeviceNode> devices;
  std::string filter;  // of its system calls (monitor/container/syscall_filter.h)
};

// The config.json that crun is given: namespaces and cgroups are those that it is started in, there are no
// capabilities and no new privileges, and devices are those that every container has and `devices`.
std::string crunConfig(const CrunContainer& container);

// Runs `<folder>/config.json` to its end with crun's own files below `state`.
std::vector<std::string> crunCommand(const std::string& crun, const std::string& folder,
                                     const std::string& state);

}  // namespace tarcil
