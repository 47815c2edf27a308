// tarcil certificate: who has which certificates, and turning somebody out.
#include "cli/commands/commands.h"
#include "cli/operator_port.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "core/base/hex.h"
#include "core/base/units.h"
#include "env/clock.h"
#include "schema/convert_member.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

struct CertificateFlags {
  ContextFlags cluster;
  std::string role, name;
  bool json = false;
};

std::vector<MemberRecord> membersOf(OperatorPort& master) {
  std::vector<MemberRecord> members;
  for (bool more = true; more;) {
    const auto answer = master.ask([&members](wire::UserPort::Client& port) {
      auto request = port.membersRequest();
      if (!members.empty()) {
        request.initAfter().setRole(toWire(members.back().role));
        request.getAfter().setName(convert::text(members.back().name));
      }
      return request.send();
    });
    for (auto member : convert::elements(answer.getMembers())) members.push_back(read(member));
    more = answer.hasNext();
  }
  return members;
}

std::string stateOf(const MemberCertificate& certificate, WallTime now) {
  if (certificate.isRevoked) return "revoked";
  return certificate.until <= now ? "expired" : "good";
}

int list(const CertificateFlags& flags) {
  OperatorPort master(flags.cluster);
  const auto members = membersOf(master);
  const WallTime now = systemClock().now().wall;
  Json json = Json::array();
  Table table({"Role", "Name", "State", "Until", "Serial"});
  for (const MemberRecord& member : members) {
    const std::string role(name(member.role));
    Json certificates = Json::array();
    for (const MemberCertificate& each : member.certificates) {
      const std::string state = stateOf(each, now), serial = hexOf(each.serial);
      certificates.push_back({{"serial", serial},
                              {"from", jsonTime(each.from)},
                              {"until", jsonTime(each.until)},
                              {"state", state}});
      table.add({role, member.name, state, formatTime(each.until), serial});
    }
    if (member.invitation)
      table.add({role, member.name, "invited", formatTime(member.invitation->until), ""});
    json.push_back({{"role", role},
                    {"name", member.name},
                    {"certificates", std::move(certificates)},
                    {"invited_until", member.invitation ? jsonTime(member.invitation->until) : Json()}});
  }
  if (flags.json) {
    printJson(json);
  } else {
    print(table.empty() ? "no machine has joined or may join\n" : table.text());
  }
  return kExitDone;
}

int revoke(const CertificateFlags& flags) {
  const MemberRole role = *memberRoleNamed(flags.role);
  if (const Status named = checkMemberName("NAME", role, flags.name); !named)
    throw badInput(named.error().message);
  OperatorPort master(flags.cluster);
  master.ask([&](wire::UserPort::Client& port) {
    auto request = port.revokeMemberRequest();
    request.setRole(toWire(role));
    request.setName(convert::text(flags.name));
    return request.send();
  });
  if (flags.json) {
    printJson({{"role", flags.role}, {"name", flags.name}, {"revoked", true}});
  } else {
    print("The certificates of " + flags.role + " " + flags.name + " are revoked.\n");
  }
  return kExitDone;
}

void addRevoke(CLI::App& certificate) {
  addCommand(certificate, "revoke",
             {"certificate revoke ROLE NAME [OPTIONS]", "Turn a machine out.",
              "Its certificates, and a word that is out for it, let nobody in any more; its connections to "
              "the master, and those that "
              "agents and monitors have with it, end within a second. Tasks on its server run on until the "
              "server counts as lost "
              "(--server-timeout), and go elsewhere then. It may join again with a new word.",
              "  tarcil certificate revoke monitor s7\n", ""},
             [](CLI::App& command) {
               auto flags = std::make_shared<CertificateFlags>();
               command.add_option("role", flags->role, "master, agent or monitor.")
                   ->required()
                   ->check(oneOf({"master", "agent", "monitor"}))
                   ->type_name("ROLE");
               command.add_option("name", flags->name, "Its name.")->required()->type_name("NAME");
               addJsonFlag(command, flags->json);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return revoke(*flags); });
             });
}

void addList(CLI::App& certificate) {
  addCommand(certificate, "list",
             {"certificate list [OPTIONS]", "List machines that joined, or may join.",
              "Shows certificates that have not expired, and words that are out. Roles renew theirs, so that "
              "one may have two.",
              "  tarcil certificate list\n", ""},
             [](CLI::App& command) {
               auto flags = std::make_shared<CertificateFlags>();
               addJsonFlag(command, flags->json);
               addClusterFlags(command, flags->cluster);
               onRun(command, [flags]() { return list(*flags); });
             });
}

}  // namespace

void addCertificate(CLI::App& app) {
  addGroup(app, "certificate",
           {"certificate COMMAND ...", "See which machines belong to the cluster, and turn some out.",
            "Machines join with a word of `tarcil join-token`. Needs a token with the role operate; on the "
            "master's machine it finds that "
            "and the master in --data.",
            "  tarcil certificate list\n  tarcil certificate revoke monitor s7\n", ""},
           [](CLI::App& certificate) {
             addList(certificate);
             addRevoke(certificate);
           });
}

}  // namespace tarcil
