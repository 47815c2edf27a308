// tarcil token: a line for the master's file of tokens.
#include "rpc/token.h"

#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "core/base/failure.h"
#include "core/base/names.h"

namespace tarcil {
namespace {

struct TokenFlags {
  std::string role, user, write, add;
  std::vector<std::string> runAs;
  bool json = false;
};

bool isForPeople(Role role) {
  return role == Role::kSubmit || role == Role::kOperate;
}

void requireName(const char* flag, const std::string& name) {
  if (const Status good = checkName(flag, name); !good) throw badInput(good.error().message);
}

Caller callerOf(const TokenFlags& flags) {
  Caller caller{flags.user, *roleNamed(flags.role), flags.runAs};
  if (isForPeople(caller.role)) {
    if (caller.user.empty()) throw badInput("--user: say whose the token is to be, such as --user ann");
    if (caller.runAs.empty()) caller.runAs = {"nobody"};
  } else {
    if (!caller.runAs.empty())
      throw badInput("--run-as: goes with --role submit or operate: others run no jobs");
    if (caller.user.empty()) caller.user = flags.role;
  }
  requireName("--user", caller.user);
  for (const std::string& user : caller.runAs) requireName("--run-as", user);
  return caller;
}

int token(const TokenFlags& flags) {
  const TokenTable::Entry entry{makeToken(), callerOf(flags)};
  if (!flags.write.empty()) {
    // A secret that somebody has is not to be lost for a mistyped name.
    if (std::filesystem::exists(flags.write))
      throw badInput("--write: " + flags.write + " exists; name a new file");
    if (const Status written = writeTokenFile(flags.write, entry.token); !written) {
      throw badInput("--write: " + written.error().message);
    }
  }
  if (!flags.add.empty()) {
    if (const Status added = TokenTable::add(flags.add, entry); !added) {
      // A token that nothing knows is of no use to anybody.
      if (!flags.write.empty()) std::filesystem::remove(flags.write);
      throw badInput("--add: " + added.error().message);
    }
  }
  const std::string line = TokenTable::lineOf(entry);
  if (flags.json) {
    printJson({{"token", entry.token},
               {"user", entry.caller.user},
               {"role", flags.role},
               {"run_as", entry.caller.runAs},
               {"line", line},
               {"added_to", flags.add.empty() ? Json() : Json(flags.add)}});
  } else if (!flags.add.empty()) {
    // Where it is in a file, a terminal need not show the secret.
    print(aligned({{"User", entry.caller.user},
                   {"Role", flags.role},
                   {"Added to", flags.add},
                   {"Token", flags.write.empty() ? entry.token : "in " + flags.write}}));
  } else {
    print(line + "\n");
  }
  return kExitDone;
}

}  // namespace

void addToken(CLI::App& app) {
  addCommand(
      app, "token",
      {"token --role ROLE [OPTIONS]", "Make a token for a user, an agent or a monitor.",
       "Prints a line for the master's file of tokens (DATA/master/tokens), with a new random token: "
       "TOKEN USER ROLE [RUN-AS,...]. With --add the line is put into that file instead, which is made, "
       "with its folder, where it is missing. Nothing knows the token before the line is in that file "
       "and the master has read it: at its start, or at SIGHUP. With --write, whoever is to have the "
       "token finds it in a file for --token-file.\n\n"
       "What it prints is a secret: keep it in files that only their owner can read.",
       "  tarcil token --role submit --user ann --run-as ann --write ann.token \\\n"
       "      --add /var/lib/tarcil/master/tokens\n"
       "  tarcil token --role monitor --write monitor.token --add DATA/master/tokens\n",
       "  0  done\n  2  bad arguments, or a file that cannot be read or written\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<TokenFlags>();
        command.add_option("--role", flags->role, "submit, operate, agent or monitor.")
            ->required()
            ->check(oneOf({"submit", "operate", "agent", "monitor"}))
            ->type_name("ROLE");
        command
            .add_option("--user", flags->user,
                        "Whose token it is. Default for agents and monitors: the role.")
            ->type_name("NAME");
        command
            .add_option("--run-as", flags->runAs,
                        "System users that jobs may run as, with commas between them, the default first. "
                        "Default: nobody.")
            ->delimiter(',')
            ->type_name("NAME,...");
        command.add_option("--write", flags->write, "Write the token alone into this new file, too.")
            ->type_name("FILE");
        command
            .add_option("--add", flags->add,
                        "Add the line to this file of tokens; refused where the user is in it already.")
            ->type_name("FILE");
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return token(*flags); });
      });
}

}  // namespace tarcil
