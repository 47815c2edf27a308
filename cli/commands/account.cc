// tarcil account: what groups of users may have together.
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/people.h"
#include "core/base/failure.h"
#include "core/base/names.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/state/usage.h"

namespace tarcil {
namespace {

struct AccountFlags {
  ContextFlags cluster;
  bool json = false;
  std::string name;
  std::optional<uint32_t> shares;
  std::optional<std::string> runningUnits, waitingTasks, jobsSize, optOut;
  std::optional<uint32_t> priority;
};

constexpr const char* kNoBound = "none";

std::optional<uint32_t> readCount(const char* flag, std::string text) {
  if (text == kNoBound) return std::nullopt;
  const std::string problem = wholeNumber(0, UINT32_MAX)(text);
  if (!problem.empty()) throw badInput(std::string(flag) + ": " + problem + "; or write none");
  return static_cast<uint32_t>(std::stoul(text));
}

std::optional<uint64_t> readSize(const char* flag, const std::string& text) {
  if (text == kNoBound) return std::nullopt;
  const auto bytes = parseSize(text);
  if (!bytes) throw badInput(std::string(flag) + ": " + bytes.error().message + "; or write none");
  return *bytes;
}

AccountRecord changed(const AccountFlags& flags, AccountRecord account) {
  setIfGiven(account.shares, flags.shares);
  AccountBounds& bounds = account.bounds;
  if (flags.runningUnits) bounds.runningUnits = readCount("--max-running-units", *flags.runningUnits);
  if (flags.waitingTasks) bounds.waitingTasks = readCount("--max-waiting-tasks", *flags.waitingTasks);
  if (flags.jobsSize) bounds.specificationBytes = readSize("--max-jobs-size", *flags.jobsSize);
  setIfGiven(bounds.highestPriority, flags.priority);
  if (flags.optOut) bounds.mayOptOut = *flags.optOut == "yes";
  return account;
}

template <typename T>
std::string textOfBound(const std::optional<T>& bound) {
  return bound ? std::to_string(*bound) : "";
}

std::string textOfSize(const std::optional<uint64_t>& bytes) {
  return bytes ? formatSize(*bytes) : "";
}

void show(const AccountFlags& flags, const AccountRecord& account) {
  const AccountBounds& bounds = account.bounds;
  if (flags.json) {
    printJson(jsonOf(account));
  } else {
    print(aligned({{"Name", account.name},
                   {"Shares", std::to_string(account.shares)},
                   {"Running units", textOfBound(bounds.runningUnits)},
                   {"Waiting tasks", textOfBound(bounds.waitingTasks)},
                   {"Size of jobs", textOfSize(bounds.specificationBytes)},
                   {"Priority", std::to_string(bounds.highestPriority)},
                   {"May opt out", bounds.mayOptOut ? "yes" : "no"}}));
  }
}

void requireAccountName(const std::string& name) {
  if (const Status good = checkName("NAME", name); !good) throw badInput(good.error().message);
}

int addOne(const AccountFlags& flags) {
  requireAccountName(flags.name);
  const AccountRecord account = changed(flags, {.name = flags.name});
  OperatorPort master(flags.cluster);
  setAccount(master, std::nullopt, account);
  show(flags, account);
  return kExitDone;
}

int setOne(const AccountFlags& flags) {
  requireAccountName(flags.name);
  OperatorPort master(flags.cluster);
  const auto seen = findAccount(master, flags.name);
  if (!seen) {
    throw badInput("NAME: there is no account " + shown(flags.name) +
                   "; `tarcil account list` shows those that there are");
  }
  const AccountRecord next = changed(flags, *seen);
  setAccount(master, seen, next);
  show(flags, next);
  return kExitDone;
}

int listAll(const AccountFlags& flags) {
  OperatorPort master(flags.cluster);
  const auto accounts = accountsOf(master);
  Json json = Json::array();
  Table table({"Name", "Shares", "Running units", "Waiting tasks", "Size of jobs", "Priority", "May opt out",
               "Changed by"});
  for (const AccountRecord& account : accounts) {
    const AccountBounds& bounds = account.bounds;
    json.push_back(jsonOf(account));
    table.add({account.name, std::to_string(account.shares), textOfBound(bounds.runningUnits),
               textOfBound(bounds.waitingTasks), textOfSize(bounds.specificationBytes),
               std::to_string(bounds.highestPriority), bounds.mayOptOut ? "yes" : "no", account.changedBy});
  }
  if (flags.json) {
    printJson(json);
  } else {
    print(table.empty() ? "there are no accounts; `tarcil account add` makes one\n" : table.text());
  }
  return kExitDone;
}

int removeOne(const AccountFlags& flags) {
  requireAccountName(flags.name);
  OperatorPort master(flags.cluster);
  orBadInput([&]() {
    master.ask([&flags](wire::UserPort::Client& port) {
      auto request = port.removeAccountRequest();
      request.setName(flags.name.c_str());
      return request.send();
    });
  });
  if (flags.json) {
    printJson({{"name", flags.name}, {"removed", true}});
  } else {
    print("Account " + flags.name + " is removed.\n");
  }
  return kExitDone;
}

void addBounds(CLI::App& command, AccountFlags& flags) {
  command.add_option("--shares", flags.shares, "Shares beside other accounts, 1 to 1000. Default: 1")
      ->check(wholeNumber(1, kMaxShares))
      ->type_name("N");
  command
      .add_option("--max-running-units", flags.runningUnits,
                  "Units that its members' tasks hold at once; more wait. Default: none")
      ->type_name("N|none");
  command
      .add_option(
          "--max-waiting-tasks", flags.waitingTasks,
          "Tasks of its members that have not started; beyond, submissions are refused. Default: none")
      ->type_name("N|none");
  command
      .add_option("--max-jobs-size", flags.jobsSize,
                  "Memory of the master that unfinished jobs of its members take; beyond, submissions are "
                  "refused. Default: none")
      ->type_name("SIZE|none");
  command.add_option("--max-priority", flags.priority, "Highest priority of a job, 0 to 100. Default: 100")
      ->check(wholeNumber(0, kMaxPriority))
      ->type_name("N");
  command
      .add_option(
          "--allow-opt-out", flags.optOut,
          "Whether jobs may say `protect_neighbours: false`, or tolerate no pressure of a resource at "
          "all. Default: yes")
      ->check(oneOf({"yes", "no"}))
      ->type_name("yes|no");
}

void addVerb(CLI::App& account, const char* verb, const Help& help, int (*body)(const AccountFlags&)) {
  const bool hasBounds = body == addOne || body == setOne, hasName = body != listAll;
  addCommand(account, verb, help, [hasBounds, hasName, body](CLI::App& command) {
    auto flags = std::make_shared<AccountFlags>();
    if (hasName) command.add_option("NAME", flags->name, "The account.")->required();
    if (hasBounds) addBounds(command, *flags);
    addJsonFlag(command, flags->json);
    addClusterFlags(command, flags->cluster);
    onRun(command, [flags, body]() { return body(*flags); });
  });
}

}  // namespace

void addAccount(CLI::App& app) {
  addGroup(
      app, "account",
      {"account COMMAND ...", "Bound what users may have together.",
       "An account's bounds count for all its members together, on top of what each user may have. Users are "
       "put "
       "into one with `tarcil user set NAME --account ACCOUNT`. The account `default`, where there is one, "
       "is "
       "that of everybody who is in no other.",
       "  tarcil account add physics --max-running-units 64 --max-priority 50\n", ""},
      [](CLI::App& account) {
        addVerb(
            account, "add",
            {"account add [OPTIONS] NAME", "Make an account.", "Needs a token with the role operate.",
             "  tarcil account add physics --max-running-units 64 --shares 3\n",
             "  0  done\n  2  bad arguments, or an account that is there\n  3  no cluster, or not allowed\n"},
            addOne);
        addVerb(account, "set",
                {"account set [OPTIONS] NAME", "Change an account's bounds.",
                 "What is not named stays. Counts from the next job, change of a job or placement on: "
                 "nothing that "
                 "is there ends. Needs a token with the role operate.",
                 "  tarcil account set physics --max-running-units none\n",
                 "  0  done\n  1  somebody else changed it meanwhile\n  2  bad arguments, or no such "
                 "account\n  3  "
                 "no cluster, or not allowed\n"},
                setOne);
        addVerb(account, "list",
                {"account list [OPTIONS]", "List accounts and their bounds.",
                 "Without the role operate: the one that bounds your jobs.", "  tarcil account list\n", ""},
                listAll);
        addVerb(account, "remove",
                {"account remove NAME [OPTIONS]", "Remove an account that has no members.",
                 "Needs a token with the role operate.", "  tarcil account remove physics\n",
                 "  0  done\n  2  no such account, or it has members\n  3  no cluster, or not allowed\n"},
                removeOne);
      });
}

}  // namespace tarcil
