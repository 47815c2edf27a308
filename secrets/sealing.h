// How values of secrets are kept: sealed by AES-256-GCM, with a key that the store does not have. By OpenSSL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/secret_bytes.h"
#include "secrets/logic/secret.h"

namespace tarcil {

// The master's keys: the first seals, each opens, so that a key can be followed by another. Single-threaded.
class SecretKeys final {
 public:
  static constexpr size_t kMost = 2;
  static constexpr size_t kKeyBytes = 32;

  // None, which neither seals nor opens.
  SecretKeys() = default;

  // As a file of keys has them: one a line, 64 hexadecimal digits or base64 (44 characters), the one that
  // seals first. Empty lines and such as begin with # are passed over. Invalid where none, or more than two,
  // are there, or a line is no key; messages say the line and never what is in it.
  static Result<SecretKeys> parse(std::string_view text);
  // A file of one new key.
  static SecretBytes newFile();

  bool empty() const { return keys_.empty(); }
  // Whether one of them has this id.
  bool has(const std::string& key) const { return find(key) != nullptr; }
  // Of the one that seals. Requires: !empty().
  const std::string& current() const { return keys_.front().id; }

  // Bound to owner and name: as another secret's it does not open. Requires: !empty().
  SealedValue seal(const std::string& owner, const std::string& name, const SecretBytes& value) const;
  // Conflict: none of the keys is the one that it was sealed with. Internal: it was changed since, or is
  // another secret's.
  Result<SecretBytes> open(const SecretRecord& secret) const;

 private:
  struct Key {
    std::string id;  // of its SHA-256, which tells nothing of it
    SecretBytes bytes;
  };
  const Key* find(const std::string& id) const;

  std::vector<Key> keys_;
};

// What to do where a master has no key.
inline constexpr const char* kNoSecretsKey =
    "this master has no key for secrets; start it with --secrets-key FILE, or with a credential "
    "tarcil-secrets-key of systemd (docs/secrets.md)";

}  // namespace tarcil
