// tarcil token: tokens that expire, and lines for the master's file of tokens.
#include "rpc/token.h"

#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/people.h"
#include "core/base/failure.h"
#include "core/base/hex.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "schema/convert.h"
#include "schema/convert_people.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

struct TokenFlags {
  std::string role, user, write, add;
  std::vector<std::string> runAs;
  bool json = false;
};

void requireName(const char* flag, const std::string& name) {
  if (const Status good = checkName(flag, name); !good) throw badInput(good.error().message);
}

Caller callerOf(const TokenFlags& flags) {
  Caller caller{flags.user, *roleNamed(flags.role), flags.runAs};
  if (isOfUser(caller.role)) {
    if (caller.user.empty()) throw badInput("--user: say whose the token is to be, such as --user ann");
    if (caller.runAs.empty()) caller.runAs = {"nobody"};
  } else {
    if (!caller.runAs.empty())
      throw badInput("--run-as: goes with --role submit, operate or read: others run no jobs");
    if (caller.user.empty()) caller.user = flags.role;
  }
  requireName("--user", caller.user);
  for (const std::string& user : caller.runAs) requireName("--run-as", user);
  return caller;
}

int token(const TokenFlags& flags) {
  if (flags.role.empty()) throw badInput("--role: say whose the line is to be, such as --role submit");
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

void requireWritten(const Status& written) {
  if (!written) throw badInput("--write: " + written.error().message);
}

struct ExpiringFlags {
  ContextFlags cluster;
  std::string id, user, life = "8h", write;
  bool json = false;
};

Duration lifeOf(const ExpiringFlags& flags) {
  const auto life = parseDuration(flags.life);
  if (!life) throw badInput("--ttl: " + life.error().message);
  return *life;
}

int add(const ExpiringFlags& flags) {
  requireName("--user", flags.user);
  const Duration life = lifeOf(flags);
  if (!flags.write.empty() && std::filesystem::exists(flags.write))
    throw badInput("--write: " + flags.write + " exists; name a new file");
  OperatorPort master(flags.cluster);
  const auto answer = orBadInput([&]() {
    return master.ask([&](wire::UserPort::Client& port) {
      auto request = port.addTokenRequest();
      request.setUser(convert::text(flags.user));
      request.setLife(static_cast<uint64_t>(life.count()));
      return request.send();
    });
  });
  const std::string token = convert::text(answer.getToken()), id = hexOf(answer.getId());
  const WallTime until = wallTime(answer.getUntil());
  if (!flags.write.empty()) requireWritten(writeTokenFile(flags.write, token));
  if (flags.json) {
    printJson({{"token", token}, {"id", id}, {"user", flags.user}, {"until", jsonTime(until)}});
  } else if (flags.write.empty()) {
    print(token + "\n");
  } else {
    print(aligned({{"User", flags.user}, {"Until", formatTime(until)}, {"Token", "in " + flags.write}}));
  }
  return kExitDone;
}

int list(const ExpiringFlags& flags) {
  OperatorPort master(flags.cluster);
  Json json = Json::array();
  Table table({"Id", "User", "Made", "Until", "Made by"});
  uint64_t after = 0;
  do {
    const auto answer = master.ask([after](wire::UserPort::Client& port) {
      auto request = port.tokensRequest();
      request.setAfter(after);
      return request.send();
    });
    for (auto each : convert::elements(answer.getTokens())) {
      const TokenRecord token = read(each);
      json.push_back({{"id", hexOf(token.id)},
                      {"user", token.user},
                      {"made", jsonTime(token.made)},
                      {"until", jsonTime(token.until)},
                      {"made_by", token.madeBy}});
      table.add({hexOf(token.id), token.user, formatTime(token.made), formatTime(token.until), token.madeBy});
    }
    after = answer.getNext();
  } while (after != 0);
  if (flags.json) {
    printJson(json);
  } else {
    print(table.empty() ? "no tokens that expire are out\n" : table.text());
  }
  return kExitDone;
}

int revoke(const ExpiringFlags& flags) {
  if (flags.id.empty() == flags.user.empty())
    throw badInput(
        "say which: the ID of a token, as `tarcil token list` shows it, or --user NAME for all of a "
        "user's");
  const auto id = numberInHex(flags.id);
  if (!flags.id.empty() && !id)
    throw badInput("ID: " + shown(flags.id) + " is none; write 16 digits as `tarcil token list` shows them");
  OperatorPort master(flags.cluster);
  if (id) {
    master.ask([&id](wire::UserPort::Client& port) {
      auto request = port.revokeTokenRequest();
      request.setId(*id);
      return request.send();
    });
  } else {
    master.ask([&flags](wire::UserPort::Client& port) {
      auto request = port.revokeTokensRequest();
      request.setUser(convert::text(flags.user));
      return request.send();
    });
  }
  if (flags.json) {
    printJson({{"id", flags.id}, {"user", flags.user}, {"revoked", true}});
  } else {
    print(flags.user.empty() ? "The token is revoked.\n" : "All tokens of " + flags.user + " are revoked.\n");
  }
  return kExitDone;
}

constexpr const char* kRevokeExits =
    "  0  done\n  1  there is no such token\n  2  bad arguments\n  3  no cluster, or not allowed\n";

void addExpiring(CLI::App& token) {
  addCommand(
      token, "add",
      {"token add --user NAME [OPTIONS]", "Make a token that expires, for a user who is known.",
       "Prints it, or writes it into a new file that only its owner can read. The master keeps a digest of "
       "it and no more. Needs a token with the role operate; `tarcil login` makes one for oneself.",
       "  tarcil token add --user ann --ttl 8h --write ann.token\n",
       "  0  done\n  1  the user has too many\n  2  bad arguments, or no such user\n  3  no cluster, or not "
       "allowed\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<ExpiringFlags>();
        command.add_option("--user", flags->user, "Whose token it is.")->required()->type_name("NAME");
        command.add_option("--ttl", flags->life, "How long it lets in, 1s to 90d. Default: 8h")
            ->type_name("DURATION");
        command.add_option("--write", flags->write, "Write it into this new file, and print it not.")
            ->type_name("FILE");
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return add(*flags); });
      });
  addCommand(
      token, "list",
      {"token list [OPTIONS]", "List tokens that expire.",
       "Your own; everybody's with the role operate. What is in the master's file of tokens is not among "
       "them.",
       "  tarcil token list\n", ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<ExpiringFlags>();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return list(*flags); });
      });
  addCommand(
      token, "revoke",
      {"token revoke ID|--user NAME [OPTIONS]", "Take tokens back before they expire.",
       "They let nobody in any more, and what was logged in with them ends within a second. Your own; "
       "everybody's with the role operate.",
       "  tarcil token revoke 0f1e2d3c4b5a6978\n  tarcil token revoke --user ann\n", kRevokeExits},
      [](CLI::App& command) {
        auto flags = std::make_shared<ExpiringFlags>();
        command.add_option("ID", flags->id, "Of the token, as `tarcil token list` shows it.");
        command.add_option("--user", flags->user, "All tokens of this user that expire.")->type_name("NAME");
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return revoke(*flags); });
      });
}

}  // namespace

void addToken(CLI::App& app) {
  addCommand(
      app, "token",
      {"token --role ROLE [OPTIONS] | token COMMAND ...",
       "Make a token for a user, an agent or a monitor; list and revoke those that expire.",
       "With a command below: tokens of users that expire, which the master keeps.\n\n"
       "Without: prints a line for the master's file of tokens (DATA/master/tokens), with a new random "
       "token: "
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
        command.add_option("--role", flags->role, "submit, operate, read, agent or monitor.")
            ->check(oneOf({"submit", "operate", "read", "agent", "monitor"}))
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
        addExpiring(command);
        onRun(command,
              [flags, &command]() { return command.get_subcommands().empty() ? token(*flags) : kExitDone; });
      });
}

}  // namespace tarcil
