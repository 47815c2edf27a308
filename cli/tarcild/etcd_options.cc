#include "cli/tarcild/etcd_options.h"

#include <CLI/CLI.hpp>

namespace tarcil {

CLI::Option& addEtcdOptions(OptionTable& table, EtcdFlags& flags) {
  CLI::Option& etcd =
      table.text("--etcd", flags.urls, "URL,...",
                 "The store is in etcd: http://host:port or https://host:port of its members. Any number of "
                 "masters may be "
                 "started so; one leads, the others wait. Default: in a folder of this machine.");
  table.text("--etcd-prefix", flags.store.prefix, "PREFIX",
             "Under which the cluster's keys are: another one for each cluster.");
  table.text(
      "--etcd-authority", flags.authority, "FILE",
      "Certificate of the authority that signed etcd's, for https. Default: those that the machine trusts.");
  table.text("--etcd-certificate", flags.certificate, "FILE",
             "Certificate of its own, where etcd asks for one.");
  table.text("--etcd-key", flags.key, "FILE", "The key of that.");
  table.text("--etcd-user", flags.user, "NAME", "User of etcd.");
  table.text("--etcd-password-file", flags.passwordFile, "FILE",
             "File with that user's password, which only its owner may read.");
  return etcd;
}

}  // namespace tarcil
