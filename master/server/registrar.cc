#include "master/server/registrar.h"

#include <kj/debug.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>

#include <span>

#include "core/base/hex.h"
#include "rpc/errors.h"
#include "rpc/identity_folder.h"

namespace tarcil {
namespace {

// Of a few bytes, which are never cut short.
void fill(std::span<uint8_t> bytes) {
  KJ_ASSERT(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
}

template <typename T>
T orThrow(Result<T>&& result) {
  if (!result.ok()) kj::throwFatalException(toException(result.error()));
  return std::move(*result);
}

}  // namespace

Registrar::Registrar(MasterServer& server, const Clock& clock, RegistrarOptions options)
    : server_(server),
      clock_(clock),
      options_(std::move(options)),
      fingerprint_(orThrow(fingerprintOf(options_.authority.certificate))) {}

kj::Promise<JoinWord> Registrar::invite(MemberRole role, std::string name, Duration life, Transport transport,
                                        audit::Requester by) {
  if (role == MemberRole::kMaster && !options_.masterKeys) {
    return toException({ErrorCode::kConflict,
                        "this cluster has one master, whose store is in a folder; several need it in etcd: "
                        "docs/masters.md"});
  }
  JoinWord word{.role = role,
                .name = std::move(name),
                .until = std::chrono::floor<std::chrono::seconds>(clock_.now().wall + life),
                .authority = fingerprint_};
  fill(word.secret);
  return server_
      .changeMembers(master::MemberInvited{role, word.name, digestOf(textOf(word)), life,
                                           transport == Transport::kUnixSocket},
                     std::move(by))
      .then([this, word](MemberRecord&&) {
        if (word.role == MemberRole::kMaster) {
          std::erase_if(wordsForMasters_,
                        [this](const auto& out) { return out.second <= clock_.now().wall; });
          wordsForMasters_.emplace(digestOf(textOf(word)), word.until);
        }
        return word;
      });
}

kj::Promise<Registrar::Joined> Registrar::join(const std::string& word, std::string request,
                                               const std::string& address) {
  const Sha256 digest = digestOf(word);
  std::optional<MasterKeys> keys;
  if (const auto shown = parseJoinWord(word); shown && shown->role == MemberRole::kMaster) {
    if (!wordsForMasters_.contains(digest)) {
      return toException(
          denied("no such word for a master is out: it was used or replaced, its time is over, or another "
                 "master leads since; make a new one with `tarcil join-token`"));
    }
    keys = readKeys();
  }
  auto certified = certify(master::MemberJoined{digest, makeSerial(), options_.certificateLife},
                           std::move(request), {.knownBy = "joining word", .agent = {}, .address = address});
  return certified.then([this, digest, keys = std::move(keys)](std::string&& certificate) mutable {
    wordsForMasters_.erase(digest);
    return Joined{std::move(certificate), std::move(keys)};
  });
}

// Why they cannot be read is not for whoever joins.
MasterKeys Registrar::readKeys() {
  auto keys = options_.masterKeys();
  if (!keys) {
    spdlog::error("a master cannot join: {}", keys.error().message);
    kj::throwFatalException(
        toException({ErrorCode::kInternal, "the master cannot read its keys; its log says why"}));
  }
  return std::move(*keys);
}

kj::Promise<std::string> Registrar::renew(const Identity& shown, std::string request,
                                          const std::string& address) {
  return certify(
      master::CertificateRenewed{shown, makeSerial(), options_.certificateLife}, std::move(request),
      {.user = shown.name, .knownBy = "certificate " + hexOf(shown.serial), .agent = {}, .address = address});
}

kj::Promise<void> Registrar::note(const CertificateFacts& facts) {
  const MemberCertificate certificate{facts.identity.serial, facts.validity.from, facts.validity.until};
  return server_.changeMembers(master::CertificateNoted{facts.identity, certificate}, {})
      .then([](MemberRecord&&) {},
            [](kj::Exception&& exception) {
              if (fromException(exception).code != ErrorCode::kConflict)
                kj::throwFatalException(kj::mv(exception));
            });
}

kj::Promise<std::string> Registrar::certify(master::MemberChange change, std::string request,
                                            audit::Requester by) {
  // A request that is none uses no word up.
  requireOk(checkRequest(request));
  return server_.changeMembers(std::move(change), std::move(by))
      .then([this, request = std::move(request)](MemberRecord&& member) {
        const MemberCertificate& certificate = member.certificates.back();
        const Identity identity{member.role, member.name, certificate.serial};
        spdlog::info("{} gets a certificate", described(identity));
        return orThrow(issue(options_.authority, request, identity, {certificate.from, certificate.until}));
      });
}

}  // namespace tarcil
