// The roles as processes: `tarcil serve master|agent|monitor|gateway`. Each returns the exit code. Paths
// among the flags may be relative to the folder that the process was started in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/late/late_binding.h"
#include "agent/logic/options.h"
#include "audit/log_writer.h"
#include "core/model/job.h"
#include "deploy/etcd_access.h"
#include "deploy/roles/role.h"
#include "gateway/server/gateway_options.h"
#include "master/logic/options.h"
#include "monitor/container/device_nodes.h"
#include "monitor/container/system_user.h"
#include "monitor/container/task_view.h"
#include "monitor/pressure/meter.h"

namespace tarcil {

struct MasterFlags {
  RoleFlags role;
  std::string listen;      // address
  std::string store;       // folder
  EtcdFlags etcd;          // given: the store is there, and not in the folder
  std::string tokens;      // file (rpc/token.h)
  std::string secretsKey;  // file (deploy/roles/secret_keys.h); empty: where there is one by default
  std::string data;        // folder with the authority and the master's identity, if there are any
  std::string join;        // address for new machines; empty: as the identity says, if there is an authority
  std::vector<std::string> masters;             // as of an agent: what new machines are told; empty: this one
  Duration certificateLife = kCertificateLife;  // of those that it makes
  std::string audit;                            // folder of the audit log
  audit::LogOptions auditLog;
  std::vector<std::string> dropJobs;  // ids of jobs to start without (master/store/drop_jobs.h)
  MasterOptions options;
};
int serveMaster(const MasterFlags& flags);

struct AgentFlags {
  RoleFlags role;
  std::string data;  // folder of its identity, if it has one
  std::string name;
  std::string listen;
  std::string advertise;             // what others are to dial; empty: where it listens
  std::vector<std::string> masters;  // addresses, one or several with commas between them in each
  std::string tokenFile;             // empty: its identity says who it is
  bool vouch = false;                // for users of this machine, who reach its socket
  AgentOptions options;
  LateBindingOptions lateBinding;
};
int serveAgent(const AgentFlags& flags);

struct MonitorFlags {
  RoleFlags role;
  std::string name;  // of the server
  std::string listen;
  std::string advertise;             // as of an agent
  std::vector<std::string> masters;  // as of an agent
  std::string tokenFile;             // as of an agent
  std::string data;                  // folder of this monitor alone, and of its identity
  std::string emulate;               // file of servers that are timers; empty: this machine
  std::string platform = "default";
  std::string rack;
  std::map<std::string, std::string> attributes;
  Extras extras;
  std::vector<ExtraDevice> extraDevices;  // nodes of these, closed to tasks that do not hold them
  uint32_t rus = 0;                       // 0: as many as cores
  std::vector<uint32_t> cores;            // empty: all of this machine's
  uint64_t memoryBytes = 0;               // of all units together; 0: nine tenths of the machine's
  double memoryOvercommit = 1;            // how much of it tasks may claim together
  bool enforceMemory = false;             // tasks together get no more
  uint64_t workDiskBytes = 0;  // for work folders; 0: nine tenths of what is free on the disk of `data`
  std::string tag = "tarcil";  // tells clusters on one machine apart, in names of cgroups
  bool allowRoot = false;      // tasks may run as uid 0
  std::vector<std::string> allowedRoots;  // folders that tasks may have as their root file system
  bool hostView = false;                  // tasks see the server's own files as their users do
  std::vector<std::string> shares;        // files of the server that tasks may write to, as their users may
  std::vector<std::string> hidden;        // files of the server that they do not see
  std::vector<gid_t> groups;              // that tasks may be in besides their user's own one
  uint64_t taskMemoryBytes = 0;           // that a task gets at most; 0: what all units have together
  uint32_t taskPids = 32768;              // processes and threads that it gets at most
  Duration keepLogs = std::chrono::hours(7 * 24);
  uint64_t keepLogsBytes = uint64_t{4} << 30;
  uint64_t taskDiskBytes = 0;                  // of tasks whose job does not say; 0: the share of their units
  uint64_t diskReserve = uint64_t{256} << 20;  // free on the disk of `data`; with less no task starts
  ImageOptions images;                         // those that an operator may choose
  std::string imageUser = "nobody";            // who fetches them
  bool stopTasks = false;                      // on SIGTERM stop the tasks too
  Duration stopGrace = std::chrono::seconds(30);  // then, at most
  late::PoolOptions lateUnits;  // of late-bound tasks, on each server; most 0: it takes none
  PressureOptions pressure;
  Duration performancePeriod = std::chrono::milliseconds(500);  // between two samples of a task's performance
};
int serveMonitor(const MonitorFlags& flags);

struct GatewayFlags {
  RoleFlags role;
  std::string listen;
  std::string cluster;                            // addresses of agents, with commas between them
  std::string tokenFile;                          // of role operate
  std::string data;                               // folder with the authority's certificate, if there is one
  uint64_t recordingBytes = uint64_t{256} << 20;  // of the last day, if it is recorded
  gateway::GatewayOptions options;
};
int serveGateway(const GatewayFlags& flags);

// What a monitor with this folder lets its tasks claim of the disk: nine tenths of what is free, in steps of
// 256 MiB, so that one that starts again seldom registers another size; 0, which is not counted, where there
// is less. Invalid where it cannot be found out.
Result<uint64_t> diskForTasks(const std::string& folder);

}  // namespace tarcil
