// The client of a real etcd, which is in a shared module (etcd/grpc/) that is loaded when it is wanted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "etcd/client.h"

namespace tarcil::etcd {

struct Access {
  std::vector<std::string> urls{};  // of members: http://host:port or https://host:port, all of one kind
  // Of these files, in PEM, https takes the first, and the two others where etcd asks for a certificate.
  std::string authority{}, certificate{}, key{};
  std::string user{}, password{};  // empty: etcd asks for none
};

// Asks etcd nothing yet. Invalid where the module is not there or of another version of tarcil, a URL cannot
// be read or a file cannot be used: the message says what to do. `folder`: of the module; empty: this
// executable's. What it gives lives no longer than the process, and the module as long as that.
Result<std::unique_ptr<Client>> openClient(const Access& access, const std::string& folder = "");

// --- Between this and the module -------------------------------------------------------------------------

// What the module exports: makes the client, or says why not. Both sides are of one build.
using MakeClient = Result<std::unique_ptr<Client>> (*)(const Access& access);
inline constexpr const char* kModuleFile = "tarcil-etcd.so";
inline constexpr const char* kMakeClientName = "kTarcilMakeEtcdClient";
inline constexpr const char* kModuleVersionName = "kTarcilEtcdModuleVersion";

}  // namespace tarcil::etcd
