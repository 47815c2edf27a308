// tarcil secret: values that jobs name and only their tasks see.
#include <fcntl.h>
#include <kj/io.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/operator_port.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/people.h"
#include "core/base/failure.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/task_secret.h"
#include "schema/convert.h"
#include "schema/convert_secret.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

struct SecretFlags {
  ContextFlags cluster;
  std::string secret, file, user, application;
  std::string argument;  // where a value was given as one
  bool json = false;
};

// Nothing that is typed is shown, and no signal ends this process while that is so.
class SilentTerminal final {
 public:
  explicit SilentTerminal(int fd) : fd_(fd) {
    if (::tcgetattr(fd, &before_) != 0)
      throw badInput("the terminal cannot be told to be silent; use --file");
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
    if (::tcsetattr(fd, TCSAFLUSH, &silent) != 0)
      throw badInput("the terminal cannot be told to be silent; use --file");
  }
  ~SilentTerminal() { ::tcsetattr(fd_, TCSAFLUSH, &before_); }
  KJ_DISALLOW_COPY(SilentTerminal);

 private:
  const int fd_;
  termios before_{};
};

constexpr uint8_t kControlC = 3;

// All that is there, or up to the end of a line. Bad input where it is more than a secret may be.
SecretBytes readValue(int fd, const std::string& where, bool isLine) {
  SecretBytes buffer(kMaxSecretBytes + 1);
  size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = ::read(fd, buffer.bytes().data() + size, isLine ? 1 : buffer.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw badInput(where + ": cannot be read: " + std::strerror(errno));
    const uint8_t last = got == 0 ? '\n' : buffer.bytes()[size];
    if (isLine && last == kControlC) throw Failure(kExitFailed, "nothing was put");
    if (got == 0 || (isLine && last == '\n')) break;
    size += static_cast<size_t>(got);
  }
  if (size > kMaxSecretBytes) {
    throw badInput(where + ": has more than " + formatSize(kMaxSecretBytes) +
                   "; put large data where the servers can read it");
  }
  if (size == 0) throw badInput(where + ": is empty; write what is to be secret");
  return SecretBytes(std::as_const(buffer).bytes().first(size));
}

SecretBytes valueFor(const SecretFlags& flags) {
  if (!flags.file.empty()) {
    const kj::AutoCloseFd file(::open(flags.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) throw badInput("--file: " + flags.file + ": cannot be read: " + std::strerror(errno));
    return readValue(file, "--file: " + flags.file, false);
  }
  if (::isatty(STDIN_FILENO) == 0) return readValue(STDIN_FILENO, "standard input", false);
  say("type the value of " + flags.secret + ", which is not shown, and Enter");
  const SilentTerminal silent(STDIN_FILENO);
  return readValue(STDIN_FILENO, "standard input", true);
}

SecretReference referenceOf(const SecretFlags& flags) {
  if (std::string problem = whyNotSecret(flags.secret); !problem.empty())
    throw badInput("NAME: " + shown(flags.secret) + " " + problem);
  return secretReference(flags.secret);
}

template <typename Request>
void name(const SecretReference& secret, Request& request) {
  request.setOwner(text(secret.owner));
  request.setName(text(secret.name));
}

void printDone(const SecretFlags& flags, const char* key, const std::string& sentence) {
  if (flags.json) {
    printJson({{"secret", flags.secret}, {key, true}});
  } else {
    print(sentence + "\n");
  }
}

int put(const SecretFlags& flags) {
  const SecretReference secret = referenceOf(flags);
  if (!flags.argument.empty()) {
    throw badInput(
        "a value is no argument: others on this machine can see those, and your shell keeps them; give it on "
        "standard input or as --file, and choose another one than you wrote here");
  }
  const SecretBytes value = valueFor(flags);
  OperatorPort master(flags.cluster);
  const auto answer = orBadInput([&]() {
    return master.ask([&](wire::UserPort::Client& port) {
      auto request = port.putSecretRequest();
      name(secret, request);
      request.setValue(kj::arrayPtr(value.bytes().data(), value.size()));
      return request.send();
    });
  });
  if (flags.json) {
    printJson({{"secret", flags.secret}, {"version", answer.getVersion()}});
  } else {
    print(aligned({{"Secret", flags.secret}, {"Version", std::to_string(answer.getVersion())}}));
  }
  return kExitDone;
}

std::string grantText(const SecretGrant& grant) {
  const std::string user = grant.user.empty() ? "everybody" : grant.user;
  return grant.application.empty() ? user : user + " for " + grant.application;
}

std::vector<SecretRecord> secretsOf(OperatorPort& master) {
  std::vector<SecretRecord> secrets;
  std::string owner, name;
  while (true) {
    const auto answer = master.ask([&](wire::UserPort::Client& port) {
      auto request = port.secretsRequest();
      request.initAfter().setOwner(text(owner));
      request.getAfter().setName(text(name));
      return request.send();
    });
    for (auto each : convert::elements(answer.getSecrets())) secrets.push_back(read(each));
    if (!answer.hasNext()) return secrets;
    owner = text(answer.getNext().getOwner());
    name = text(answer.getNext().getName());
  }
}

Json jsonOf(const SecretRecord& secret) {
  Json grants = Json::array();
  for (const SecretGrant& grant : secret.grants)
    grants.push_back({{"user", grant.user}, {"application", grant.application}});
  return {{"owner", secret.owner},     {"name", secret.name},
          {"version", secret.version}, {"changed", jsonTime(secret.changed)},
          {"key", secret.value.key},   {"grants", std::move(grants)}};
}

int list(const SecretFlags& flags) {
  OperatorPort master(flags.cluster);
  Json json = Json::array();
  Table table({"Secret", "Version", "Changed", "Key", "Granted to"});
  for (const SecretRecord& secret : secretsOf(master)) {
    std::vector<std::string> grants;
    for (const SecretGrant& grant : secret.grants) grants.push_back(grantText(grant));
    table.add({fullName(secret.owner, secret.name), std::to_string(secret.version),
               formatTime(secret.changed), secret.value.key, joined(grants, ", ")});
    json.push_back(jsonOf(secret));
  }
  if (flags.json) {
    printJson(json);
  } else {
    print(table.empty() ? "no secrets are there for you\n" : table.text());
  }
  return kExitDone;
}

int change(const SecretFlags& flags, bool revokes) {
  const SecretReference secret = referenceOf(flags);
  if (flags.user.empty() && flags.application.empty())
    throw badInput("say whose jobs are meant: --user NAME, --application NAME, or both");
  OperatorPort master(flags.cluster);
  orBadInput([&]() {
    return master.ask([&](wire::UserPort::Client& port) {
      auto request = port.grantSecretRequest();
      name(secret, request);
      write(SecretGrant{flags.user, flags.application}, request.initGrant());
      request.setRevoke(revokes);
      return request.send();
    });
  });
  const std::string whom = grantText({flags.user, flags.application});
  if (revokes) {
    printDone(flags, "revoked", "The grant to " + whom + " is revoked; what tasks have that run, they keep.");
  } else {
    printDone(flags, "granted", "Jobs of " + whom + " may name " + flags.secret + ".");
  }
  return kExitDone;
}

int remove(const SecretFlags& flags) {
  const SecretReference secret = referenceOf(flags);
  OperatorPort master(flags.cluster);
  master.ask([&](wire::UserPort::Client& port) {
    auto request = port.deleteSecretRequest();
    name(secret, request);
    return request.send();
  });
  printDone(flags, "deleted", "The secret is deleted; what tasks have that run, they keep.");
  return kExitDone;
}

int rekey(const SecretFlags& flags) {
  OperatorPort master(flags.cluster);
  uint64_t sealed = 0, left = 0;
  do {
    const auto answer =
        master.ask([](wire::UserPort::Client& port) { return port.rekeySecretsRequest().send(); });
    sealed += answer.getSealed();
    left = answer.getLeft();
  } while (left > 0);
  if (flags.json) {
    printJson({{"sealed", sealed}});
  } else {
    print("Sealed anew: " + std::to_string(sealed) +
          ". All secrets are sealed with the first key now; the other one may go.\n");
  }
  return kExitDone;
}

constexpr const char* kExits =
    "  0  done\n  1  refused: there is no such secret, too many, or the master has no key for secrets\n"
    "  2  bad arguments\n  3  no cluster, or not allowed\n";

using Body = int (*)(const SecretFlags& flags);

void addSecretCommand(CLI::App& secret, const char* verb, const Help& help, Body body,
                      void (*addFlags)(CLI::App&, SecretFlags&)) {
  addCommand(secret, verb, help, [body, addFlags](CLI::App& command) {
    auto flags = std::make_shared<SecretFlags>();
    addFlags(command, *flags);
    addJsonFlag(command, flags->json);
    addClusterFlags(command, flags->cluster);
    onRun(command, [flags, body]() { return body(*flags); });
  });
}

void addName(CLI::App& command, SecretFlags& flags) {
  command.add_option("NAME", flags.secret, "Of your own; OWNER/NAME for another user's, as an operator.")
      ->required();
}

void addNameAndFile(CLI::App& command, SecretFlags& flags) {
  addName(command, flags);
  command.add_option("VALUE", flags.argument)->group("");
  command.add_option("--file", flags.file, "Take what is in this file. Default: standard input.")
      ->type_name("FILE");
}

void addNameAndGrant(CLI::App& command, SecretFlags& flags) {
  addName(command, flags);
  command.add_option("--user", flags.user, "Jobs of this user. Default: of everybody.")->type_name("NAME");
  command
      .add_option("--application", flags.application,
                  "Jobs that say they run this application. Default: any.")
      ->type_name("NAME");
}

void addNothing(CLI::App&, SecretFlags&) {}

}  // namespace

void addSecret(CLI::App& app) {
  addGroup(
      app, "secret",
      {"secret COMMAND ...", "Keep passwords and keys that jobs name and only their tasks see.",
       "A job file names them (secrets: [db-password]); each task finds the value in a file of the folder "
       "that "
       "TARCIL_SECRETS names. The master keeps them encrypted, and no command shows a value. docs/secrets.md "
       "has "
       "more.",
       "  tarcil secret put db-password < password\n  tarcil secret grant db-password --user bob\n"
       "  tarcil secret list\n",
       ""},
      [](CLI::App& secret) {
        addSecretCommand(
            secret, "put",
            {"secret put [OPTIONS] NAME", "Keep a value, or another one in its place.",
             "Takes standard input as it is, or a file, of at most 64KiB; on a terminal a line, which is not "
             "shown. "
             "It is never an argument, which others on this machine could see. Where NAME is there already "
             "it gets another version, and keeps its grants: tasks that start from then on find the new "
             "value.",
             "  printf %s \"$PASSWORD\" | tarcil secret put db-password\n"
             "  tarcil secret put tls-key --file server.key\n  tarcil secret put db-password\n",
             kExits},
            put, addNameAndFile);
        addSecretCommand(
            secret, "list",
            {"secret list [OPTIONS]", "List secrets, without their values.",
             "Yours, and those that your jobs may name; everybody's with the role operate. Key: which "
             "of the master's keys it is encrypted with.",
             "  tarcil secret list\n  tarcil secret list --json\n", ""},
            list, addNothing);
        addSecretCommand(
            secret, "grant",
            {"secret grant [OPTIONS] NAME", "Let jobs of others name a secret.",
             "Of a user, of those who run an application, or of a user for one application alone. An "
             "application "
             "is what a job file says: --application alone grants it to everybody who writes that.",
             "  tarcil secret grant db-password --user bob\n"
             "  tarcil secret grant db-password --user bob --application logreg\n",
             kExits},
            [](const SecretFlags& flags) { return change(flags, false); }, addNameAndGrant);
        addSecretCommand(
            secret, "revoke",
            {"secret revoke [OPTIONS] NAME", "Take a grant back.",
             "Says what was granted, as for `secret grant`. Tasks that start from then on do not get it, "
             "and jobs that name it are refused; put another value where those that run should not "
             "know it any more.",
             "  tarcil secret revoke db-password --user bob\n", kExits},
            [](const SecretFlags& flags) { return change(flags, true); }, addNameAndGrant);
        addSecretCommand(
            secret, "delete",
            {"secret delete [OPTIONS] NAME", "Delete a secret.",
             "Tasks that start from then on do not get it and end without having been started; those "
             "that run keep it. Backups of the store have it still, encrypted.",
             "  tarcil secret delete db-password\n", kExits},
            remove, addName);
        addSecretCommand(
            secret, "rekey",
            {"secret rekey [OPTIONS]", "Encrypt all secrets with the master's first key.",
             "To change the key: write the new one as the first line of the file of keys of every master, in "
             "front of the old one, send the master SIGHUP, run this, and take the old line out. Needs the "
             "role "
             "operate.",
             "  tarcil secret rekey\n", kExits},
            rekey, addNothing);
      });
}

}  // namespace tarcil
