// tarcil user: what users get of the cluster, beside each other.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/state/usage.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct UserFlags {
  ContextFlags cluster;
  bool json = false;
  std::string name;
  uint32_t shares = 1;
};

int set(const UserFlags& flags) {
  if (const Status good = checkName("NAME", flags.name); !good) throw badInput(good.error().message);
  Cluster cluster(flags.cluster);
  cluster.ask([&flags](Session& session) {
    auto request = session.user.setSharesRequest();
    request.setUser(flags.name.c_str());
    request.setShares(flags.shares);
    return request.send();
  });
  if (flags.json) {
    printJson({{"name", flags.name}, {"shares", flags.shares}});
  } else {
    print(aligned({{"Name", flags.name}, {"Shares", std::to_string(flags.shares)}}));
  }
  return kExitDone;
}

void addUserSet(CLI::App& user) {
  addCommand(
      user, "set",
      {"user set [OPTIONS] NAME", "Set a user's shares.",
       "Where jobs of one priority wait, units that come free go to the user whose tasks hold the fewest "
       "per share: with 3 shares alice comes to hold three times as many units as bob with one, if both "
       "have enough jobs. A single user gets everything, whatever their shares; everybody starts with one. "
       "Takes effect at once; needs a token with the role operate.",
       "  tarcil user set alice --shares 3\n", ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<UserFlags>();
        command.add_option("NAME", flags->name, "The user, as named by tokens.")->required();
        command.add_option("--shares", flags->shares, "Shares, 1 to 1000.")
            ->required()
            ->check(wholeNumber(1, kMaxShares))
            ->type_name("N");
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return set(*flags); });
      });
}

}  // namespace

void addUser(CLI::App& app) {
  addGroup(app, "user",
           {"user COMMAND ...", "Set what users get of the cluster, beside each other.",
            "Users are those that tokens name. `tarcil usage` shows them.",
            "  tarcil user set alice --shares 3\n", ""},
           addUserSet);
}

}  // namespace tarcil
