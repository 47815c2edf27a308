// The options that say where etcd is, the same for each command that has them.
#pragma once

#include "cli/option_table.h"
#include "deploy/etcd_access.h"

namespace tarcil {

CLI::Option& addEtcdOptions(OptionTable& table, EtcdFlags& flags);

}  // namespace tarcil
