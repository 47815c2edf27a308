// What a role's process is told by the identity in its folder, and how that is kept fresh.
#pragma once

#include <kj/function.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deploy/roles/role.h"
#include "rpc/identity_folder.h"

namespace tarcil {

// All empty where there is none.
struct RoleIdentity {
  std::optional<Credentials> credentials;
  std::optional<CertificateFacts> facts;  // none where there is no certificate either
  MasterAddresses addresses;
};

// Bad input where it cannot be used, or is another role's.
RoleIdentity readRoleIdentity(const std::string& data, MemberRole role);

// What the flags leave open: the name, and where the masters are, are those of the identity. `masters` is one
// address each then. Bad input where neither says so, where they differ, where one is no address, and where
// there is neither an identity nor a token.
void complete(const RoleIdentity& identity, MemberRole role, std::string& name,
              std::vector<std::string>& masters, const std::string& tokenFile);
// Each of the given is one or several addresses with commas between them. Bad input, naming the flag.
std::vector<std::string> addressesIn(const std::string& flag, const std::vector<std::string>& given);
// With commas between them.
std::string listOf(const std::vector<std::string>& addresses);

// A master that was away for long has the authority to make its own certificate anew, for the same key. Bad
// input where it cannot.
void renewIfExpired(const std::string& data, const Authority& authority, Duration life);

// A certificate for a request, from the authority that the master has itself, in place of the one shown.
Result<std::string> signOwn(const Authority& authority, Identity shown, const std::string& request,
                            Duration life);

// Asks for another certificate for a request, and gives it.
using AskCertificate = kj::Function<kj::Promise<std::string>(const std::string& request)>;

// As a role does, over a connection of its own, at the first of the masters that leads.
AskCertificate askMaster(Net net, std::vector<std::string> masters);

// Has the certificate in `data` replaced at two thirds of its life, and goes on with the new one without a
// restart; where that fails it is tried again. A certificate that somebody else has put there counts from the
// next reread() on. Runs until dropped; never resolves. `security` outlives it.
class CertificateRenewal final {
 public:
  // Requires: there is a certificate.
  CertificateRenewal(kj::Timer& timer, Security& security, std::string data, Credentials credentials,
                     AskCertificate ask);
  KJ_DISALLOW_COPY(CertificateRenewal);

  // Of the certificate that the process shows.
  CertificateFacts facts() const;

  // What is in the folder now; where it cannot be used, the log says so and nothing changes.
  void reread();

 private:
  kj::Promise<void> run();
  kj::Promise<void> renew();
  void take(const std::string& certificate);
  Duration untilDue() const;

  kj::Timer& timer_;
  Security& security_;
  const std::string data_;
  Credentials credentials_;
  Validity validity_;
  AskCertificate ask_;
  kj::Promise<void> running_;
};

// Renews the certificate while the role runs, and reads it again at SIGHUP. Null where there is none.
std::unique_ptr<CertificateRenewal> keepFresh(RoleProcess& process, const std::string& data,
                                              const RoleIdentity& identity, AskCertificate ask);

// The token in a file; empty where none is given.
std::string readToken(const std::string& file);

}  // namespace tarcil
