// tarcil join-token: a word with which a new machine joins.
#include "cli/commands/commands.h"
#include "cli/operator_port.h"
#include "cli/output/output.h"
#include "core/base/failure.h"
#include "core/base/units.h"
#include "schema/convert.h"
#include "schema/convert_member.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

struct WordFlags {
  ContextFlags cluster;
  std::string role, name, life = "10m";
  bool json = false;
};

int joinToken(const WordFlags& flags) {
  const MemberRole role = *memberRoleNamed(flags.role);
  if (const Status named = checkMemberName("--name", role, flags.name); !named)
    throw badInput(named.error().message);
  const auto life = parseDuration(flags.life);
  if (!life) throw badInput("--ttl: " + life.error().message);
  OperatorPort master(flags.cluster);
  const auto answer = master.ask([&](wire::UserPort::Client& port) {
    auto request = port.inviteMemberRequest();
    request.setRole(toWire(role));
    request.setName(convert::text(flags.name));
    request.setLife(static_cast<uint64_t>(life->count()));
    return request.send();
  });
  const std::string word = convert::text(answer.getWord());
  if (flags.json) {
    printJson({{"token", word},
               {"role", flags.role},
               {"name", flags.name},
               {"until", formatTime(wallTime(answer.getUntil()))}});
  } else {
    print(word + "\n");
  }
  return kExitDone;
}

}  // namespace

void addJoinToken(CLI::App& app) {
  addCommand(
      app, "join-token",
      {"join-token ROLE --name NAME [OPTIONS]", "Make a word with which a new machine joins.",
       "Prints a word that works once: on the new machine, `tarcil join HOST:PORT --token WORD` gets a "
       "certificate with it, for this role "
       "and this name. The word tells the machine by which authority it knows the cluster; the master keeps "
       "a digest of it and no more. An "
       "earlier word for the name is void. A monitor's name is that of its server; one that ends in * stands "
       "for all that begin so "
       "(docs/emulated-servers.md).\n\n"
       "Needs a token with the role operate; on the master's machine it finds that and the master in --data. "
       "A word for another master is made there alone, and where the store is in etcd: whoever uses it gets "
       "all that masters have, with the key of the authority and those for secrets (docs/masters.md).",
       "  tarcil join-token monitor --name s7 --ttl 10m\n"
       "  tarcil join-token agent --name a1 --json\n"
       "  tarcil join-token master --name m2 --data /var/lib/tarcil\n",
       "  0  done\n  1  refused: the name is taken, the cluster has no authority, or its store is for one "
       "master\n  2  bad arguments\n  3  no cluster, or not allowed\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<WordFlags>();
        command.add_option("role", flags->role, "agent, monitor or master.")
            ->required()
            ->check(oneOf({"agent", "monitor", "master"}))
            ->type_name("ROLE");
        command.add_option("--name", flags->name, "Name of the agent, server or master in the cluster.")
            ->required()
            ->type_name("NAME");
        command.add_option("--ttl", flags->life, "How long the word may be used, 1s to 7d. Default: 10m")
            ->type_name("DURATION");
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return joinToken(*flags); });
      });
}

}  // namespace tarcil
