// tarcil init: the authority of a new cluster, and its master's identity.
#include <sys/random.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/tarcild/commands.h"
#include "cli/tarcild/own_addresses.h"
#include "core/base/failure.h"
#include "core/base/hex.h"
#include "core/base/names.h"
#include "deploy/roles/role.h"
#include "deploy/roles/role_identity.h"
#include "deploy/roles/secret_keys.h"
#include "env/clock.h"
#include "rpc/private_file.h"
#include "rpc/token.h"

namespace tarcil {
namespace {

struct InitFlags {
  std::string data, listen, join, name = "master", user = "operator";
  bool json = false;
};

// Ten years: what it signs is good for days, and whoever has its key has the cluster.
constexpr Duration kAuthorityLife = std::chrono::days(3650);

// Of an operator, for the first commands.
std::string makeOperatorToken(const std::string& data, const std::string& user) {
  std::string file = data + "/tokens/operate.token";
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return file;
  const TokenTable::Entry entry{makeToken(), {user, Role::kOperate, {"nobody"}}};
  if (const auto folder = lockFolder(data + "/tokens"); !folder) throw badInput(folder.error().message);
  if (const Status added = TokenTable::add(data + "/master/tokens", entry); !added)
    throw badInput(added.error().message);
  if (const Status written = writeTokenFile(file, entry.token); !written)
    throw badInput(written.error().message);
  return file;
}

int init(const InitFlags& flags) {
  const std::string data = absolutePath(requireInput(dataFolder(flags.data)));
  if (const Status named = checkName("--name", flags.name); !named) throw badInput(named.error().message);
  if (const Status named = checkName("--user", flags.user); !named) throw badInput(named.error().message);
  const MasterAddresses addresses = ownAddresses(flags.listen, flags.join);
  if (requireInput(readAuthority(data))) {
    throw badInput("--data: " + data + " has an authority already: this cluster was initialised");
  }
  const WallTime now = systemClock().now().wall;
  const std::string cluster = hexOf(makeSerial()).substr(0, 8);
  const Authority authority = requireInput(makeAuthority(cluster, {now - kClockSlack, now + kAuthorityLife}));
  const Credentials credentials = requireInput(
      makeIdentity(authority, {MemberRole::kMaster, flags.name, makeSerial()}, now, kCertificateLife));
  if (const Status written = writeIdentity(data, credentials, addresses); !written)
    throw badInput("--data: " + written.error().message);
  if (const Status written = writeAuthority(data, authority); !written)
    throw badInput("--data: " + written.error().message);
  if (const Status made = makeSecretKeys(data); !made) throw badInput("--data: " + made.error().message);
  const std::string token = makeOperatorToken(data, flags.user);
  const std::string fingerprint = hexOf(requireInput(fingerprintOf(authority.certificate)));
  if (flags.json) {
    printJson({{"data", data},
               {"cluster", cluster},
               {"authority", fingerprint},
               {"listen", addresses.master},
               {"join", addresses.join},
               {"token_file", token}});
    return kExitDone;
  }
  print(aligned({{"Data", data},
                 {"Cluster", cluster},
                 {"Authority", fingerprint},
                 {"Master", addresses.master},
                 {"Joining", addresses.join},
                 {"Token", token}}));
  print("\nStart the master:               tarcil serve master --data " + data +
        "\nThen, for each new machine:     tarcil join-token monitor --name NAME --data " + data +
        "\nand there, with what it prints: tarcil join " + addresses.join + " --token WORD\n");
  return kExitDone;
}

}  // namespace

void addInit(CLI::App& app) {
  addCommand(
      app, "init",
      {"init [OPTIONS] --listen HOST:PORT", summaryOf("init"),
       "Makes the authority that signs for the machines of a new cluster, its master's identity, a key for "
       "secrets, and a token for an operator. From then "
       "on the roles speak TLS with certificates on both sides over every TCP connection. Nothing is "
       "started, and a folder that has an "
       "authority is left as it is.\n\n"
       "Whoever has DATA/master/authority/key.pem has the cluster: back it up with the store, and where "
       "nobody else reads it. So with DATA/master/secrets.key: without it the secrets in the store are lost.",
       "  tarcil init --listen 10.0.0.1:7001 --data /var/lib/tarcil\n"
       "  tarcil serve master --data /var/lib/tarcil\n"
       "  tarcil join-token monitor --name s7 --ttl 10m --data /var/lib/tarcil\n",
       "  0  done\n  2  bad arguments, or a folder that cannot be used or has an authority\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<InitFlags>();
        command.add_option("--data", flags->data, "Folder of the master. Default: as for other commands.")
            ->type_name("DIR");
        command.add_option("--listen", flags->listen, "The master's address, as other machines dial it.")
            ->required()
            ->type_name("HOST:PORT");
        command.add_option("--join", flags->join, "Where new machines join. Default: the next port.")
            ->type_name("HOST:PORT");
        command.add_option("--name", flags->name, "Name of the master. Default: master")->type_name("NAME");
        command.add_option("--user", flags->user, "Whose the operator's token is. Default: operator")
            ->type_name("NAME");
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return init(*flags); });
      });
}

}  // namespace tarcil
