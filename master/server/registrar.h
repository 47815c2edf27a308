// The cluster's authority at work: makes words for new machines, and certificates for those who show one; to
// a new master it gives what all of them have.
#pragma once

#include <kj/async.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "identity/certificates.h"
#include "identity/logic/member.h"
#include "master/server/master_ports.h"
#include "master/server/master_server.h"

namespace tarcil {

struct RegistrarOptions {
  Authority authority;
  Duration certificateLife{};
  std::string master;  // address at which roles reach the master, or all of them
  // Reads those of this master. None where it is to stay the only one.
  std::function<Result<MasterKeys>()> masterKeys{};
};

// Single-threaded. What it answers is on disk, but for words for masters, which are void when another one
// leads. Secrets and serials come from the kernel.
class Registrar final {
 public:
  // `server` outlives it.
  Registrar(MasterServer& server, const Clock& clock, RegistrarOptions options);
  KJ_DISALLOW_COPY(Registrar);

  // As UserPort.inviteMember.
  kj::Promise<JoinWord> invite(MemberRole role, std::string name, Duration life, Transport transport,
                               audit::Requester by);
  struct Joined {
    std::string certificate;
    std::optional<MasterKeys> keys;  // a master's
  };
  // For the key of `request`. As JoinGate.join. `address`: of the new machine.
  kj::Promise<Joined> join(const std::string& word, std::string request, const std::string& address);
  // As MasterGate.renewCertificate; `shown` is whose certificate the peer's connection has.
  kj::Promise<std::string> renew(const Identity& shown, std::string request, const std::string& address);

  // Lists a certificate that was made elsewhere, as the master's own is by `tarcil init`, among those of
  // members.
  kj::Promise<void> note(const CertificateFacts& facts);

  const std::string& master() const { return options_.master; }

 private:
  MasterKeys readKeys();
  kj::Promise<std::string> certify(master::MemberChange change, std::string request, audit::Requester by);

  MasterServer& server_;
  const Clock& clock_;
  const RegistrarOptions options_;
  const Sha256 fingerprint_;
  // Digests of words for masters that are out, and until when. What the store has is not enough to get the
  // keys: whoever can write there, or bring a backup of it, cannot join as a master.
  std::map<Sha256, WallTime> wordsForMasters_;
};

}  // namespace tarcil
