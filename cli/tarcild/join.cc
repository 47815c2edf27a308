// tarcil join: the identity of a new machine, from the master and with a word of `tarcil join-token`.
#include <kj/async-io.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/output/output.h"
#include "cli/output/table.h"
#include "cli/tarcild/commands.h"
#include "cli/tarcild/own_addresses.h"
#include "core/base/failure.h"
#include "core/base/units.h"
#include "deploy/roles/master_keys.h"
#include "deploy/roles/role.h"
#include "env/clock.h"
#include "identity/certificates.h"
#include "rpc/connection.h"
#include "rpc/errors.h"
#include "schema/convert_member.h"
#include "schema/convert_support.h"
#include "schema/members.capnp.h"

namespace tarcil {
namespace {

struct JoinFlags {
  std::string address, word, data, listen, join;
  bool json = false;
};

constexpr auto kPatience = 10 * kj::SECONDS;
constexpr Duration kSameClock = std::chrono::minutes(1);

struct Joined {
  Credentials credentials;
  std::string master;
  std::optional<MasterKeys> keys;
};

// What to add to a message where the clocks differ; empty where they do not.
std::string differenceOf(WallTime masters, WallTime ours) {
  const Duration behind = masters - ours;
  if (std::chrono::abs(behind) <= kSameClock) return "";
  return "; this machine's clock is " +
         formatDuration(std::chrono::floor<std::chrono::seconds>(std::chrono::abs(behind))) +
         (behind > Duration::zero() ? " behind" : " ahead of") + " the master's: set it right first";
}

// One attempt: the greeting, the comparison, and only then the word.
class Joining final {
 public:
  Joining(kj::AsyncIoContext& io, const JoinFlags& flags, const JoinWord& word)
      : net_{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()},
        flags_(flags),
        word_(word),
        key_(requireInput(makeKey())),
        request_(requireInput(makeRequest(key_))) {}

  kj::Promise<Joined> run() {
    auto tooLate = net_.timer.afterDelay(kPatience).then([this]() -> Joined {
      kj::throwFatalException(toException({ErrorCode::kUnavailable, flags_.address + " does not answer"}));
    });
    return connectTo(net_.network, net_.io, flags_.address)
        .then([this](kj::Own<kj::AsyncIoStream>&& stream) {
          auto greeting = readGreeting(*stream);
          return greeting.then([this, stream = kj::mv(stream)](Greeting&& greeting) mutable {
            return greeted(kj::mv(stream), std::move(greeting));
          });
        })
        .exclusiveJoin(kj::mv(tooLate));
  }

  // By the greeting, if there was one.
  std::string clockDifference() const { return clockDifference_; }

 private:
  kj::Promise<Joined> greeted(kj::Own<kj::AsyncIoStream> stream, Greeting greeting) {
    clockDifference_ = differenceOf(greeting.now, systemClock().now().wall);
    const auto fingerprint = fingerprintOf(greeting.authority);
    if (!fingerprint || !isSameSecret(*fingerprint, word_.authority)) {
      return toException(denied(
          "what listens at " + flags_.address +
          " is not the cluster that the word is for: its authority is another one. Nothing was told to it; "
          "somebody may stand between, or the address is wrong"));
    }
    security_.renew({greeting.authority});
    return security_.dial(kj::mv(stream), {MemberRole::kMaster})
        .then([this, authority = std::move(greeting.authority)](Security::Dialled&& dialled) mutable {
          auto connection = connectionOver(net_.timer, kj::mv(dialled.stream));
          auto request = connection->bootstrap().castAs<wire::JoinGate>().joinRequest();
          request.setWord(convert::text(flags_.word));
          request.setRequest(convert::text(request_));
          return request.send()
              .then([this, authority = std::move(authority)](auto&& answer) {
                if (word_.role == MemberRole::kMaster && !answer.hasKeys()) {
                  kj::throwFatalException(toException(denied("the master gives no keys to another one")));
                }
                Joined joined{{authority, convert::text(answer.getCertificate()), key_},
                              convert::text(answer.getMaster()),
                              answer.hasKeys() ? std::optional(read(answer.getKeys())) : std::nullopt};
                requireOk(checkCertificate(joined.credentials.certificate, key_, authority,
                                           systemClock().now().wall));
                return joined;
              })
              .attach(kj::mv(connection));
        });
  }

  const Net net_;
  const JoinFlags& flags_;
  const JoinWord& word_;
  const std::string key_, request_;
  Security security_{systemClock(), {}};
  std::string clockDifference_;
};

Joined join(const JoinFlags& flags, const JoinWord& word) {
  auto io = kj::setupAsyncIo();
  Joining joining(io, flags, word);
  try {
    return joining.run().wait(io.waitScope);
  } catch (const kj::Exception& exception) {
    const Error error = fromException(exception);
    throw Failure(exitCodeOf(error.code), error.message + joining.clockDifference());
  }
}

// Of a master that is to be; nothing for other roles.
std::optional<MasterAddresses> addressesOf(const JoinFlags& flags, bool isMaster, const std::string& data) {
  if (!isMaster) {
    if (!flags.listen.empty() || !flags.join.empty()) {
      throw badInput(std::string(flags.listen.empty() ? "--join" : "--listen") +
                     ": is for a master; leave it out, and give `tarcil serve` its --listen");
    }
    return std::nullopt;
  }
  if (flags.listen.empty())
    throw badInput("--listen is required for a master: its address, as other machines dial it");
  if (const Status good = checkNoMaster(data); !good) throw badInput("--data: " + good.error().message);
  return ownAddresses(flags.listen, flags.join);
}

// The identity is last: where there is none, nothing has joined.
Status keep(const std::string& data, const Joined& joined, const MasterAddresses& addresses) {
  Status written;
  if (joined.keys) written = writeMasterKeys(data, joined.credentials.authority, *joined.keys);
  if (written) written = writeIdentity(data, joined.credentials, addresses);
  if (!written && joined.keys) removeMasterKeys(data);
  return written;
}

int join(JoinFlags flags) {
  requireAddress("HOST:PORT", flags.address, AddressUse::kConnect);
  if (!isTcp(flags.address))
    throw badInput("HOST:PORT: write the master's joining address, which `tarcil init` printed");
  if (flags.word == "-") std::getline(std::cin, flags.word);
  const auto word = parseJoinWord(flags.word);
  if (!word) throw badInput("--token: " + word.error().message);
  if (const Status good = checkTime(*word, systemClock().now().wall); !good)
    throw badInput("--token: " + good.error().message);
  const std::string data = absolutePath(requireInput(dataFolder(flags.data)));
  if (requireInput(readIdentity(data, systemClock().now().wall))) {
    throw badInput("--data: " + identityFolder(data) +
                   " has an identity already; give another folder, or remove that one to give it up");
  }
  const bool isMaster = word->role == MemberRole::kMaster;
  const std::string role(name(word->role));
  const std::optional<MasterAddresses> own = addressesOf(flags, isMaster, data);
  const Joined joined = join(flags, *word);
  if (const Status written = keep(data, joined, own.value_or(MasterAddresses{joined.master, flags.address}));
      !written) {
    throw Failure(kExitFailed, written.error().message +
                                   "; the word is used up, and the name taken: `tarcil certificate revoke " +
                                   role + " " + word->name +
                                   "`, then make a new one with `tarcil join-token`");
  }
  const auto facts = requireInput(readCertificate(joined.credentials.certificate));
  if (flags.json) {
    printJson({{"data", data},
               {"role", role},
               {"name", facts.identity.name},
               {"master", joined.master},
               {"until", formatTime(facts.validity.until)}});
    return kExitDone;
  }
  print(aligned({{"Role", role},
                 {"Name", facts.identity.name},
                 {isMaster ? "Masters" : "Master", joined.master},
                 {"Identity", identityFolder(data)},
                 {"Until", formatTime(facts.validity.until) + ", renewed by the role"}}));
  print("\nStart it: tarcil serve " + role + " --data " + data +
        (isMaster ? " --etcd URL,... --masters ADDR,...\n" : " --listen HOST:PORT\n"));
  return kExitDone;
}

}  // namespace

void addJoin(CLI::App& app) {
  addCommand(
      app, "join",
      {"join [OPTIONS] HOST:PORT --token WORD", summaryOf("join"),
       "Makes a key, which never leaves this machine, and has the cluster's authority certify it for the "
       "role and the name that the word "
       "was made for. Before anything secret is sent, the authority is compared with what the word says of "
       "it, so that nobody between can "
       "pretend to be the master. The word works once. `tarcil serve` finds what is written. A master gets "
       "with it what all masters of the cluster have: the authority, the file of tokens, and the keys for "
       "secrets.",
       "  tarcil join 10.0.0.1:7002 --token monitor:s7:...\n"
       "  tarcil join 10.0.0.1:7002 --token - --data /var/lib/tarcil-agent < word\n"
       "  tarcil join 10.0.0.1:7002 --token - --listen 10.0.0.2:7001 < word\n",
       "  0  joined\n  1  the identity cannot be written\n  2  bad arguments, a word that is mistyped or has "
       "expired, or a folder that has an "
       "identity\n  3  no master there, it is another cluster's, or it refuses the word\n"},
      [](CLI::App& command) {
        auto flags = std::make_shared<JoinFlags>();
        command.add_option("address", flags->address, "Where the master lets machines join.")
            ->required()
            ->type_name("HOST:PORT");
        command
            .add_option("--token", flags->word, "What `tarcil join-token` printed; - reads it from stdin.")
            ->required()
            ->type_name("WORD");
        command.add_option("--data", flags->data, "Folder of the new role. Default: as for other commands.")
            ->type_name("DIR");
        command
            .add_option("--listen", flags->listen,
                        "For a master, which needs it: its own address, as other machines dial it.")
            ->type_name("HOST:PORT");
        command
            .add_option("--join", flags->join,
                        "For a master: where new machines join while it leads. Default: the next port.")
            ->type_name("HOST:PORT");
        addJsonFlag(command, flags->json);
        onRun(command, [flags]() { return join(*flags); });
      });
}

}  // namespace tarcil
