// The secrets of a cluster: which there are, and whose jobs may have them. Decides, and does no I/O; what is
// in them it cannot see.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "secrets/logic/secret.h"

namespace tarcil {

inline constexpr size_t kMaxSecretsOfUser = 100;
inline constexpr size_t kMaxSecrets = 10'000;
inline constexpr size_t kMaxSealedBytes = 64u << 20;  // of all values
inline constexpr size_t kMaxGrantsOfSecret = 100;

// Whoever calls it stores what it gives, before the answer is told. Where something fails nothing has
// changed. Messages are for people. Single-threaded.
class SecretTable final {
 public:
  using Key = std::pair<std::string, std::string>;  // owner, name

  SecretTable() = default;
  explicit SecretTable(std::vector<SecretRecord> secrets);

  // A new secret, or another value of one that is there, whose grants stay. Invalid: a name or a size is
  // wrong. Exhausted: its owner, or all, have too many.
  Result<SecretRecord> put(const Key& key, SealedValue value, WallTime now);
  // The same value, sealed with another key. NotFound; Conflict where it has another value by now.
  Result<SecretRecord> reseal(const Key& key, uint64_t version, SealedValue value);
  // NotFound; Invalid: the grant is for nobody in particular, or names one wrongly; Exhausted. What is
  // granted already, or was not, is no failure.
  Result<SecretRecord> grant(const Key& key, const SecretGrant& grant);
  Result<SecretRecord> revoke(const Key& key, const SecretGrant& grant);
  // NotFound.
  Status remove(const Key& key);

  // The secret that a job of the user names, to be given to its tasks. NotFound, with one message whether it
  // is not there or not granted: nobody learns what others have.
  Result<const SecretRecord*> usable(std::string_view reference, const std::string& user,
                                     const std::string& application) const;

  // Null where there is none.
  const SecretRecord* find(const Key& key) const;
  const std::map<Key, SecretRecord>& all() const { return secrets_; }

 private:
  std::map<Key, SecretRecord> secrets_;
  std::map<std::string, size_t> ofOwner_;  // none is 0
  size_t sealedBytes_ = 0;
};

// Whether jobs of the user get it, of some application at least.
bool isFor(const SecretRecord& secret, const std::string& user);

// Invalid, naming the field, where no secret can be as this says.
Status checkSecret(const SecretRecord& secret);

}  // namespace tarcil
