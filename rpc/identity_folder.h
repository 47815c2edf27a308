// The files of an identity: DATA/identity/{authority.pem,certificate.pem,key.pem}, and where the master is:
// {master,join}, a line each.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/time.h"
#include "identity/certificates.h"
#include "identity/logic/member.h"

namespace tarcil {

// As PEM. Whoever has no certificate of their own, as users have none, has only the authority's.
struct Credentials {
  std::string authority;
  std::string certificate{};
  std::string key{};
};

// Where the cluster's master is found by those who joined it.
struct MasterAddresses {
  std::string master;  // for roles
  std::string join;    // for new machines; empty: nowhere
};

// Random, from the kernel, and not 0.
uint64_t makeSerial();

// A new key with a certificate that is good from now on.
Result<Credentials> makeIdentity(const Authority& authority, const Identity& identity, WallTime now,
                                 Duration life);

std::string identityFolder(const std::string& data);

// Nothing where the folder, or the authority's certificate in it, is missing. Invalid, naming the file, for
// what cannot be used, also for a certificate that is not valid now, and for a key that others than its owner
// may read.
Result<std::optional<Credentials>> readIdentity(const std::string& data, WallTime now);

// The same, whatever the time.
Result<std::optional<Credentials>> readIdentityFiles(const std::string& data);

// Of whoever has no certificate. Invalid where the file is no certificate, or others than its owner may write
// it.
Result<Credentials> readAuthorityFile(const std::string& path);

// Empty where nothing says so.
Result<MasterAddresses> readMasterAddresses(const std::string& data);

// Makes the folder. Invalid where it has an identity already, and nothing is changed, or cannot be written.
Status writeIdentity(const std::string& data, const Credentials& credentials,
                     const MasterAddresses& addresses);

// In place of the one that is there, for the same key.
Status replaceCertificate(const std::string& data, const std::string& certificate);

// The authority's own files: DATA/master/authority/{certificate.pem,key.pem}. As for identities.
Result<std::optional<Authority>> readAuthority(const std::string& data);
Status writeAuthority(const std::string& data, const Authority& authority);

}  // namespace tarcil
