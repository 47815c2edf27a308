#include "deploy/roles/role_identity.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/failure.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "env/clock.h"
#include "env/stop.h"
#include "rpc/errors.h"
#include "rpc/token.h"
#include "schema/convert_support.h"
#include "schema/master.capnp.h"

namespace tarcil {
namespace {

// A sleeping machine and a clock that is set are noticed that soon.
constexpr Duration kMostWaited = std::chrono::hours(1);
constexpr Duration kLeastWaited = std::chrono::milliseconds(100);
constexpr auto kAnswerTime = 30 * kj::SECONDS;

Validity validityOf(const Credentials& credentials) {
  return requireInput(readCertificate(credentials.certificate)).validity;
}

// From when it was made.
Duration lifeOf(const Validity& validity) {
  return std::max(validity.until - validity.from - kClockSlack, Duration::zero());
}

kj::Duration toKj(Duration duration) {
  return duration.count() * kj::MICROSECONDS;
}

// At this one of the masters, or at the next where that is out of reach or does not lead. `masters` outlives
// the promise.
kj::Promise<std::string> askFrom(Net net, const std::vector<std::string>& masters, size_t first,
                                 const std::string& request) {
  auto asked = connect(net, masters[first]).then([request](kj::Own<Connection>&& connection) {
    auto call = connection->bootstrap().castAs<wire::MasterGate>().renewCertificateRequest();
    call.setRequest(convert::text(request));
    return call.send()
        .then([](auto&& answer) { return convert::text(answer.getCertificate()); })
        .attach(kj::mv(connection));
  });
  return asked.catch_([net, &masters, first, request](kj::Exception&& exception) -> kj::Promise<std::string> {
    const bool isAway = fromException(exception).code == ErrorCode::kUnavailable;
    if (!isAway || first + 1 == masters.size()) return kj::mv(exception);
    return askFrom(net, masters, first + 1, request);
  });
}

}  // namespace

RoleIdentity readRoleIdentity(const std::string& data, MemberRole role) {
  RoleIdentity identity;
  if (data.empty()) return identity;
  identity.credentials = requireInput(readIdentity(data, systemClock().now().wall));
  if (!identity.credentials) return identity;
  identity.addresses = requireInput(readMasterAddresses(data));
  if (identity.credentials->certificate.empty()) {
    // A user's: by it nobody can be let in.
    identity.credentials.reset();
    return identity;
  }
  identity.facts = requireInput(readCertificate(identity.credentials->certificate));
  if (identity.facts->identity.role != role) {
    throw badInput(identityFolder(data) + ": is the identity of " + described(identity.facts->identity) +
                   ", and this is to be a role " + std::string(name(role)) + "; give another --data");
  }
  return identity;
}

std::vector<std::string> addressesIn(const std::string& flag, const std::vector<std::string>& given) {
  std::vector<std::string> addresses;
  for (const std::string& list : given) {
    const auto parsed = parseAddresses(list);
    if (!parsed) throw badInput(flag + ": " + parsed.error().message);
    addresses.insert(addresses.end(), parsed->begin(), parsed->end());
  }
  if (addresses.size() > kMaxMasters) {
    throw badInput(flag + ": " + std::to_string(addresses.size()) + " masters are too many; name " +
                   std::to_string(kMaxMasters) + " at most");
  }
  return addresses;
}

std::string listOf(const std::vector<std::string>& addresses) {
  return joined(addresses, ",");
}

void complete(const RoleIdentity& identity, MemberRole role, std::string& name,
              std::vector<std::string>& masters, const std::string& tokenFile) {
  const std::string hint = "; or join a cluster first, as `tarcil join --help` says";
  if (identity.facts) {
    const Identity& who = identity.facts->identity;
    if (name.empty()) name = who.name;
    if (!mayBeCalled(who, name)) {
      throw badInput("--name: " + shown(name) + " is not the name of the identity, which is for " +
                     described(who) + "; leave it out, or join under that name");
    }
  }
  if (name.empty())
    throw badInput("--name is required: the name of this " + std::string(tarcil::name(role)) + hint);
  if (masters.empty() && !identity.addresses.master.empty()) masters = {identity.addresses.master};
  if (masters.empty()) throw badInput("--master is required: the address of the master" + hint);
  if (tokenFile.empty() && !identity.facts) {
    throw badInput("--token-file is required: a file with a token of role " +
                   std::string(tarcil::name(role)) + hint);
  }
  masters = addressesIn("--master", masters);
}

void renewIfExpired(const std::string& data, const Authority& authority, Duration life) {
  const auto files = requireInput(readIdentityFiles(data));
  if (!files || files->certificate.empty()) return;
  const WallTime now = systemClock().now().wall;
  const auto facts = requireInput(readCertificate(files->certificate));
  if (now < facts.validity.until) return;
  const auto certificate =
      requireInput(signOwn(authority, facts.identity, requireInput(makeRequest(files->key)), life));
  if (const Status written = replaceCertificate(data, certificate); !written)
    throw badInput(written.error().message);
}

Result<std::string> signOwn(const Authority& authority, Identity shown, const std::string& request,
                            Duration life) {
  const WallTime now = systemClock().now().wall;
  shown.serial = makeSerial();
  return issue(authority, request, shown, {now - kClockSlack, now + life});
}

AskCertificate askMaster(Net net, std::vector<std::string> masters) {
  return [net, masters = std::move(masters)](const std::string& request) {
    auto tooLate = net.timer.afterDelay(kAnswerTime).then([]() -> std::string {
      kj::throwFatalException(toException({ErrorCode::kUnavailable, "the master does not answer"}));
    });
    return askFrom(net, masters, 0, request).exclusiveJoin(kj::mv(tooLate));
  };
}

CertificateRenewal::CertificateRenewal(kj::Timer& timer, Security& security, std::string data,
                                       Credentials credentials, AskCertificate ask)
    : timer_(timer),
      security_(security),
      data_(std::move(data)),
      credentials_(std::move(credentials)),
      validity_(validityOf(credentials_)),
      ask_(kj::mv(ask)),
      running_(run().eagerlyEvaluate(stopsIfFailed("the renewal of the certificate"))) {}

CertificateFacts CertificateRenewal::facts() const {
  return requireInput(readCertificate(credentials_.certificate));
}

// A third of its life before it expires.
Duration CertificateRenewal::untilDue() const {
  return validity_.until - lifeOf(validity_) / 3 - systemClock().now().wall;
}

kj::Promise<void> CertificateRenewal::run() {
  const Duration due = std::clamp(untilDue(), kLeastWaited, kMostWaited);
  return timer_.afterDelay(toKj(due))
      .then([this]() -> kj::Promise<void> {
        if (untilDue() > Duration::zero()) return kj::READY_NOW;
        return renew();
      })
      .then([this]() { return run(); });
}

// Tried again after a thirtieth of its life: ten times before it expires.
kj::Promise<void> CertificateRenewal::renew() {
  return kj::evalNow([this]() { return ask_(requireInput(makeRequest(credentials_.key))); })
      .then([this](std::string&& certificate) -> kj::Promise<void> {
        take(certificate);
        return kj::READY_NOW;
      })
      .catch_([this](kj::Exception&& exception) {
        spdlog::warn("the certificate, which expires at {}, is not renewed: {}; trying again",
                     formatTime(validity_.until), fromException(exception).message);
        return timer_.afterDelay(toKj(std::clamp(lifeOf(validity_) / 30, kLeastWaited, kMostWaited)));
      });
}

void CertificateRenewal::take(const std::string& certificate) {
  requireOk(
      checkCertificate(certificate, credentials_.key, credentials_.authority, systemClock().now().wall));
  requireOk(replaceCertificate(data_, certificate));
  credentials_.certificate = certificate;
  security_.renew(credentials_);
  validity_ = validityOf(credentials_);
  spdlog::info("the certificate is renewed, until {}", formatTime(validity_.until));
}

std::unique_ptr<CertificateRenewal> keepFresh(RoleProcess& process, const std::string& data,
                                              const RoleIdentity& identity, AskCertificate ask) {
  if (!identity.facts) return nullptr;
  auto renewal = std::make_unique<CertificateRenewal>(process.net().timer, process.security(), data,
                                                      *identity.credentials, kj::mv(ask));
  process.onReread([&renewal = *renewal]() { renewal.reread(); });
  return renewal;
}

std::string readToken(const std::string& file) {
  return file.empty() ? "" : requireInput(readTokenFile(absolutePath(file)));
}

void CertificateRenewal::reread() {
  const auto read = readIdentity(data_, systemClock().now().wall);
  if (!read || !*read || (*read)->certificate.empty()) {
    spdlog::error("SIGHUP: the identity stays as it was: {}",
                  read ? identityFolder(data_) + " has none" : read.error().message);
    return;
  }
  credentials_ = **read;
  security_.renew(credentials_);
  validity_ = validityOf(credentials_);
  spdlog::info("SIGHUP: the identity in {} is read again, until {}", identityFolder(data_),
               formatTime(validity_.until));
}

}  // namespace tarcil
