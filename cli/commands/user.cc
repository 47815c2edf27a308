// tarcil user: who may use the cluster, as what, and what they get beside each other.
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/people.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/state/usage.h"

namespace tarcil {
namespace {

struct UserFlags {
  ContextFlags cluster;
  bool json = false;
  std::string name;
  std::optional<std::string> role, account;
  std::optional<std::vector<std::string>> runAs;
  std::optional<uint32_t> shares;
};

void requireUserName(const std::string& name) {
  if (const Status good = checkName("NAME", name); !good) throw badInput(good.error().message);
}

void show(const UserFlags& flags, const UserRecord& user) {
  if (flags.json) {
    printJson(jsonOf(user));
  } else {
    print(aligned({{"Name", user.name},
                   {"Role", std::string(name(user.role))},
                   {"Account", user.account},
                   {"Runs as", joined(user.runAs)}}));
  }
}

UserRecord changed(const UserFlags& flags, UserRecord user) {
  if (flags.role) user.role = *roleNamed(*flags.role);
  if (flags.account) user.account = *flags.account == "none" ? "" : *flags.account;
  if (flags.runAs) user.runAs = *flags.runAs;
  return user;
}

void setShares(OperatorPort& master, const UserFlags& flags) {
  orBadInput([&]() {
    master.ask([&flags](wire::UserPort::Client& port) {
      auto request = port.setSharesRequest();
      request.setUser(flags.name.c_str());
      request.setShares(*flags.shares);
      return request.send();
    });
  });
}

int add(const UserFlags& flags) {
  requireUserName(flags.name);
  OperatorPort master(flags.cluster);
  UserRecord user{.name = flags.name, .runAs = {flags.name}};
  if (flags.name == "root") user.runAs = {"nobody"};
  user = changed(flags, std::move(user));
  setUser(master, std::nullopt, user);
  show(flags, user);
  return kExitDone;
}

int set(const UserFlags& flags) {
  requireUserName(flags.name);
  const bool changesUser = flags.role || flags.account || flags.runAs;
  if (!changesUser && !flags.shares)
    throw badInput("say what to set: --role, --account, --run-as or --shares");
  OperatorPort master(flags.cluster);
  if (changesUser) {
    const auto seen = findUser(master, flags.name);
    if (!seen) {
      throw badInput("NAME: there is no user " + shown(flags.name) + "; add them with: tarcil user add " +
                     flags.name);
    }
    const UserRecord next = changed(flags, *seen);
    setUser(master, seen, next);
    if (!flags.shares) {
      show(flags, next);
      return kExitDone;
    }
  }
  setShares(master, flags);
  if (flags.json) {
    printJson({{"name", flags.name}, {"shares", *flags.shares}});
  } else {
    print(aligned({{"Name", flags.name}, {"Shares", std::to_string(*flags.shares)}}));
  }
  return kExitDone;
}

int list(const UserFlags& flags) {
  OperatorPort master(flags.cluster);
  const auto users = usersOf(master);
  Json json = Json::array();
  Table table({"Name", "Role", "Account", "Runs as", "Changed by"});
  for (const UserRecord& user : users) {
    json.push_back(jsonOf(user));
    table.add({user.name, std::string(name(user.role)), user.account, joined(user.runAs), user.changedBy});
  }
  if (flags.json) {
    printJson(json);
  } else {
    print(table.empty() ? "no users are known; `tarcil user add` makes one known\n" : table.text());
  }
  return kExitDone;
}

int remove(const UserFlags& flags) {
  requireUserName(flags.name);
  OperatorPort master(flags.cluster);
  orBadInput([&]() {
    master.ask([&flags](wire::UserPort::Client& port) {
      auto request = port.removeUserRequest();
      request.setName(flags.name.c_str());
      return request.send();
    });
  });
  if (flags.json) {
    printJson({{"name", flags.name}, {"removed", true}});
  } else {
    print("User " + flags.name + " is not known any more, and has no tokens that expire.\n");
  }
  return kExitDone;
}

void addUserFlags(CLI::App& command, UserFlags& flags) {
  command
      .add_option("--role", flags.role,
                  "read: sees what a submitter sees, and changes nothing. submit: own jobs. operate: jobs of "
                  "everybody, settings, servers, users. Default for a new user: submit.")
      ->check(oneOf({"read", "submit", "operate"}))
      ->type_name("ROLE");
  command.add_option("--account", flags.account, "The account whose bounds count, or none.")
      ->type_name("NAME");
  command
      .add_option(
          "--run-as", flags.runAs,
          "System users that jobs may run as, with commas between them, the default first. Default for "
          "a new user: the one of the same name.")
      ->delimiter(',')
      ->type_name("NAME,...");
}

void addUserAdd(CLI::App& user) {
  addCommand(
      user, "add",
      {"user add [OPTIONS] NAME", "Make a user known.",
       "Takes effect at once. How the user gets in is another matter: by their user id on a machine whose "
       "agent vouches for users (--vouch), or with a token of `tarcil token add`. Needs a token with the "
       "role operate.",
       "  tarcil user add ann --account physics\n  tarcil user add guest --role read\n",
       "  0  done\n  2  bad arguments, a user that is there, an account that is not\n  3  no cluster, or "
       "not allowed\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<UserFlags>();
        command.add_option("NAME", flags->name, "The user.")->required();
        addUserFlags(command, *flags);
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return add(*flags); });
      });
}

void addUserSet(CLI::App& user) {
  addCommand(
      user, "set",
      {"user set [OPTIONS] NAME", "Change a user, or a user's shares.",
       "Takes effect at once: logins that give other rights end, and the user logs in anew.\n\n"
       "Where jobs of one priority wait, units that come free go to the user whose tasks hold the fewest "
       "per share: with 3 shares alice comes to hold three times as many units as bob with one, if both "
       "have enough jobs. A single user gets everything, whatever their shares; everybody starts with one. "
       "Shares can be set of users that are not known, too. Needs a token with the role operate.",
       "  tarcil user set alice --shares 3\n  tarcil user set ann --role operate --account none\n",
       "  0  done\n  1  somebody else changed the user meanwhile\n  2  bad arguments, no such user or "
       "account, "
       "the last operator\n  3  no cluster, or not allowed\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<UserFlags>();
        command.add_option("NAME", flags->name, "The user.")->required();
        addUserFlags(command, *flags);
        command.add_option("--shares", flags->shares, "Shares, 1 to 1000.")
            ->check(wholeNumber(1, kMaxShares))
            ->type_name("N");
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return set(*flags); });
      });
}

void addUserList(CLI::App& user) {
  addCommand(
      user, "list",
      {"user list [OPTIONS]", "List users that were made known.",
       "Those that the master's file of tokens names, and others that are let in by their user id, are not "
       "among them. Without the role operate: yourself.",
       "  tarcil user list\n", ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<UserFlags>();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return list(*flags); });
      });
}

void addUserRemove(CLI::App& user) {
  addCommand(
      user, "remove",
      {"user remove NAME [OPTIONS]", "Forget a user.",
       "Their tokens that expire are gone, and what they are logged in with ends within a second. Jobs go "
       "on. A line in the master's file of tokens stays. Needs a token with the role operate.",
       "  tarcil user remove ann\n",
       "  0  done\n  2  no such user, or the last operator\n  3  no cluster, or not allowed\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<UserFlags>();
        command.add_option("NAME", flags->name, "The user.")->required();
        addJsonFlag(command, flags->json);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return remove(*flags); });
      });
}

}  // namespace

void addUser(CLI::App& app) {
  addGroup(
      app, "user",
      {"user COMMAND ...", "Say who may use the cluster, and what they get beside each other.",
       "Users are those that were made known here, those that the master's file of tokens names, and, where "
       "an agent vouches for everybody on its machine, these. `tarcil usage` shows what they used.",
       "  tarcil user add ann --account physics\n  tarcil user set alice --shares 3\n", ""},
      [](CLI::App& user) {
        addUserAdd(user);
        addUserSet(user);
        addUserList(user);
        addUserRemove(user);
      });
}

}  // namespace tarcil
