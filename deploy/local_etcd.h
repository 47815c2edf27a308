// The etcd that a local cluster brings along, to try several masters: Debian's, three members on loopback.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "deploy/local_cluster.h"

namespace tarcil {

struct LocalEtcd {
  std::string urls;  // as --etcd takes them
  std::vector<RoleCommand> members;
};

// Whether `data` has one.
bool hasLocalEtcd(const std::string& data);

// Below `data`, whose folders are there; its ports are chosen once, and are the members' for good. Invalid
// where etcd is not installed, or one of its ports is taken by another program now.
Result<LocalEtcd> describeLocalEtcd(const std::string& data);

}  // namespace tarcil
