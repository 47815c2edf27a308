// A cluster on this machine alone: its folders, tokens and processes. What `tarcil up` starts.
#pragma once

#include <kj/io.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/context.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "deploy/slices/slices.h"

namespace tarcil {

inline constexpr const char* kLocalEtcd = "local";

struct LocalClusterPlan {
  std::string data;  // everything is below it
  uint32_t servers = 1;
  uint32_t rus = 0;  // per server; 0: one per core
  uint32_t agents = 1;
  std::string emulate;  // file; instead of `servers` real ones
  // Units of each server that late-bound tasks may have at most; none: all of a real server, none of others.
  std::optional<uint32_t> lateUnits{};
  // How often servers are measured, as --pressure-period takes it.
  std::string pressurePeriod = "off";
  // Most grace that tasks of real servers get when the cluster is stopped.
  Duration stopGrace = std::chrono::seconds(30);
  // Each server is a slice of the machine of this size; `cores` are shared out. None: servers share all of
  // it.
  std::optional<SliceSize> slices{};
  std::vector<uint32_t> cores{};
  // Further options of each real server's monitor, as `tarcil serve monitor` takes them.
  std::vector<std::string> monitorOptions{};
  bool letsAllIn = false;  // every user of this machine, by their uid, each with tasks that run as themselves
  bool hasPage = false;    // a gateway, at a free port of loopback
  uint32_t masters = 1;    // more than one: on etcd
  // URLs of the etcd that has the store, or kLocalEtcd for one that is brought along; empty: a folder has it.
  std::string etcd{};
};

// One process of the cluster.
struct RoleCommand {
  std::string role;                    // "master", "agent", "monitor", "gateway", "etcd"
  std::string name;                    // "master", "agent-1", "server-1", "gateway", "etcd-1"
  std::string address;                 // where it listens
  std::string metrics;                 // where it serves its metrics
  std::vector<std::string> arguments;  // of the tarcil executable
  std::string networkNamespace;        // path of the one that it is in; empty: the supervisor's
  int diskProcess = 0;                 // without which its disk fails; 0: it has no disk of its own
  std::string log;                     // file for its stdout and stderr
  std::string program{};  // another one than tarcil, which says nothing when it is ready; empty: tarcil
};

struct LocalCluster {
  Context context;
  // In the order of starting; processes of one stage may be started together. A later stage needs the
  // earlier ones.
  std::vector<std::vector<RoleCommand>> stages;
};

// Invalid where other users of this machine could not get to a folder in it.
Status checkReachable(const std::string& data);

// What servers of this machine share when nothing else is said, in bytes.
uint64_t memoryForServers();

// What slices are to be made of. Requires: plan.slices.
SlicesPlan slicesOf(const LocalClusterPlan& plan);

// Belongs to the `tarcil up` that starts and supervises the cluster in `data`, as long as it lives. Makes the
// folders. Fails with Invalid where another one has it, and names that, or where the folder cannot be used.
Result<kj::AutoCloseFd> lockLocalCluster(const std::string& data);

// Makes folders and, where there are none yet, tokens that only their owner can read, and the slices that the
// plan has; writes the context. What an earlier start left of slices goes. Fails with Invalid where the
// folder cannot be used, or a cluster is running in it. Slices are the caller's to remove when the cluster
// has ended.
Result<LocalCluster> prepareLocalCluster(const LocalClusterPlan& plan);

// <data>/run/supervisor: the process that supervises the cluster.
struct SupervisorRecord {
  int pid = 0;
  uint64_t startTime = 0;  // as /proc says; tells the process from a later one of the same number
  Duration grace{};        // that tasks get at most when it stops the cluster
};
Status writeSupervisorRecord(const std::string& data, const SupervisorRecord& record);
// Of a process that is alive; NotFound otherwise, Denied where this user may not look.
Result<SupervisorRecord> runningSupervisor(const std::string& data);
// In clock ticks since boot; 0 for a process that has ended.
uint64_t startTimeOf(int pid);

// Whether a role of the cluster's last start is still there: its supervisor was killed, and it ends by itself
// when its tasks have.
bool isStillEnding(const std::string& data);

}  // namespace tarcil
