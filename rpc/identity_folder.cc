#include "rpc/identity_folder.h"

#include <sys/random.h>

#include <cstdlib>
#include <filesystem>

#include "rpc/private_file.h"

namespace tarcil {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAuthority = "/authority.pem";
constexpr const char* kCertificate = "/certificate.pem";
constexpr const char* kKey = "/key.pem";
constexpr const char* kMaster = "/master";
constexpr const char* kJoin = "/join";

std::string authorityFolder(const std::string& data) {
  return data + "/master/authority";
}

bool isThere(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Status replace(const std::string& path, const std::string& text) {
  const auto folder = lockFolder(fs::path(path).parent_path());
  if (!folder) return folder.error();
  return replacePrivateFile(path, text, *folder);
}

Error wrong(const std::string& path, const Error& error) {
  return invalid(path + ": " + error.message);
}

// Empty where it is missing.
Result<std::string> readLine(const std::string& path) {
  if (!isThere(path)) return std::string();
  auto text = readTrustedFile(path);
  if (!text) return text;
  return text->substr(0, text->find('\n'));
}

}  // namespace

uint64_t makeSerial() {
  uint64_t serial = 0;
  // So few bytes are never cut short.
  if (::getrandom(&serial, sizeof serial, 0) != sizeof serial) std::abort();
  return serial == 0 ? 1 : serial;
}

Result<Credentials> makeIdentity(const Authority& authority, const Identity& identity, WallTime now,
                                 Duration life) {
  auto key = makeKey();
  if (!key) return key.error();
  const auto request = makeRequest(*key);
  if (!request) return request.error();
  auto certificate = issue(authority, *request, identity, {now - kClockSlack, now + life});
  if (!certificate) return certificate.error();
  return Credentials{authority.certificate, std::move(*certificate), std::move(*key)};
}

std::string identityFolder(const std::string& data) {
  return data + "/identity";
}

Result<Credentials> readAuthorityFile(const std::string& path) {
  auto authority = readTrustedFile(path);
  if (!authority) return authority.error();
  if (const auto read = readValidity(*authority); !read) return wrong(path, read.error());
  return Credentials{std::move(*authority)};
}

Result<std::optional<Credentials>> readIdentityFiles(const std::string& data) {
  const std::string folder = identityFolder(data);
  if (!isThere(folder + kAuthority)) return std::optional<Credentials>();
  auto known = readAuthorityFile(folder + kAuthority);
  if (!known) return known.error();
  if (!isThere(folder + kCertificate)) return std::optional(*known);
  auto certificate = readTrustedFile(folder + kCertificate);
  if (!certificate) return certificate.error();
  if (const auto read = readCertificate(*certificate); !read)
    return wrong(folder + kCertificate, read.error());
  auto key = readPrivateFile(folder + kKey);
  if (!key) return key.error();
  return std::optional(Credentials{known->authority, std::move(*certificate), std::move(*key)});
}

Result<std::optional<Credentials>> readIdentity(const std::string& data, WallTime now) {
  auto files = readIdentityFiles(data);
  if (!files || !*files || (*files)->certificate.empty()) return files;
  const Credentials& all = **files;
  if (const Status good = checkCertificate(all.certificate, all.key, all.authority, now); !good) {
    return wrong(identityFolder(data) + kCertificate, good.error());
  }
  return files;
}

Result<MasterAddresses> readMasterAddresses(const std::string& data) {
  auto master = readLine(identityFolder(data) + kMaster);
  if (!master) return master.error();
  auto join = readLine(identityFolder(data) + kJoin);
  if (!join) return join.error();
  return MasterAddresses{std::move(*master), std::move(*join)};
}

Status writeIdentity(const std::string& data, const Credentials& credentials,
                     const MasterAddresses& addresses) {
  const std::string folder = identityFolder(data);
  if (isThere(folder + kAuthority)) {
    return invalid(folder +
                   " has an identity already; give another --data DIR, or remove that folder to give it up");
  }
  // The authority's is last: without it the others count for nothing.
  for (const auto& [file, text] :
       {std::pair(kKey, credentials.key), std::pair(kCertificate, credentials.certificate),
        std::pair(kMaster, addresses.master + "\n"), std::pair(kJoin, addresses.join + "\n"),
        std::pair(kAuthority, credentials.authority)}) {
    if (Status written = replace(folder + file, text); !written) return written;
  }
  return {};
}

Status replaceCertificate(const std::string& data, const std::string& certificate) {
  return replace(identityFolder(data) + kCertificate, certificate);
}

Result<std::optional<Authority>> readAuthority(const std::string& data) {
  const std::string folder = authorityFolder(data);
  if (!isThere(folder + kKey)) return std::optional<Authority>();
  auto certificate = readTrustedFile(folder + kCertificate);
  if (!certificate) return certificate.error();
  auto key = readPrivateFile(folder + kKey);
  if (!key) return key.error();
  return std::optional(Authority{std::move(*certificate), std::move(*key)});
}

Status writeAuthority(const std::string& data, const Authority& authority) {
  const std::string folder = authorityFolder(data);
  if (isThere(folder + kKey)) {
    return invalid(folder + " has an authority already: this cluster was initialised");
  }
  if (Status written = replace(folder + kCertificate, authority.certificate); !written) return written;
  return replace(folder + kKey, authority.key);
}

}  // namespace tarcil
