// Keys and certificates of a cluster (EC P-256, X.509), as PEM texts. Signing and making keys takes
// randomness from OpenSSL; serials and times are the caller's. Reads and writes no files. Whatever is no such
// text is Invalid, with OpenSSL's reason.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "identity/logic/identity.h"
#include "identity/logic/join_word.h"

namespace tarcil {

// SHA-256.
Sha256 digestOf(std::string_view bytes);

// A private key.
Result<std::string> makeKey();

// Who signs for a cluster: its own certificate, and the key that nobody but the master has.
struct Authority {
  std::string certificate;
  std::string key;
};

struct Validity {
  WallTime from{}, until{};
};

// Signed by itself; the cluster's name stands in its common name.
Result<Authority> makeAuthority(const std::string& cluster, Validity validity);

// What the holder of a key sends to have it certified. It proves that it has the key, and says nothing else.
Result<std::string> makeRequest(const std::string& key);

// Invalid where it is no request, whoever made it did not have its key, or that is no P-256 key.
Status checkRequest(const std::string& request);

// A certificate for the key of the request. Invalid where whoever made that did not have the key, or it is no
// P-256 key. What else the request says is not looked at. It is good for both ends of a connection, and its
// host name is hostNameOf(role).
Result<std::string> issue(const Authority& authority, const std::string& request, const Identity& identity,
                          Validity validity);

// The name that a role's certificate is checked for when it is dialled.
std::string hostNameOf(MemberRole role);

// Of a certificate's binary form: what joining words tell an authority by.
Result<Sha256> fingerprintOf(const std::string& certificate);

struct CertificateFacts {
  Identity identity;
  Validity validity;
};
// Invalid where its common name is no identity.
Result<CertificateFacts> readCertificate(const std::string& certificate);
// When a certificate that OpenSSL holds, an X509, is good no more.
WallTime endOf(void* certificate);
// Of a certificate whatever its name, such as an authority's.
Result<Validity> readValidity(const std::string& certificate);

// Invalid, with what to do, where the certificate is not of this key, not signed by this authority, itself or
// through those behind it in its text, or not valid now.
Status checkCertificate(const std::string& certificate, const std::string& key, const std::string& authority,
                        WallTime now);

}  // namespace tarcil
