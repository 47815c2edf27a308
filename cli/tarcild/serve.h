// What the commands that run a role share.
#pragma once

#include "cli/option_table.h"
#include "deploy/roles/role.h"

namespace tarcil {

// Exit codes of roles, as their help lists them.
inline constexpr const char* kRoleExits =
    "  0  stopped by SIGTERM or SIGINT\n"
    "  1  could not go on (for instance a failed disk write, or no memory left)\n"
    "  2  bad arguments, or a file or folder that cannot be used\n"
    "  3  the master refuses the token\n";

// Options that every role has.
void addRoleOptions(OptionTable& options, RoleFlags& flags);

// The name of something that others in the cluster will read. Throws bad input that names the flag.
void requireName(const std::string& flag, const std::string& name);

// `tarcil serve master`, `agent`, `monitor`, `gateway`.
void addServeMaster(CLI::App& serve);
void addServeAgent(CLI::App& serve);
void addServeMonitor(CLI::App& serve);
void addServeGateway(CLI::App& serve);

}  // namespace tarcil
