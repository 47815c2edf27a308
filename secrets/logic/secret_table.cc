#include "secrets/logic/secret_table.h"

#include <algorithm>

#include "core/base/names.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/task_secret.h"

namespace tarcil {
namespace {

Error noSuchSecret(const SecretTable::Key& key) {
  return notFound("there is no secret " + shown(fullName(key.first, key.second)) +
                  "; `tarcil secret list` shows those that there are");
}

Error exhausted(std::string message) {
  return {ErrorCode::kExhausted, std::move(message) + "; delete some with `tarcil secret delete`"};
}

Status checkKey(const SecretTable::Key& key) {
  if (Status named = checkName("owner", key.first); !named) return named;
  return checkName("name", key.second);
}

Status checkValue(const SealedValue& value) {
  const size_t most = kMaxSecretBytes + SealedValue::kTagBytes;
  if (value.bytes.size() >= SealedValue::kTagBytes && value.bytes.size() <= most) return {};
  return invalid("value: is larger than a secret may be; write at most " + formatSize(kMaxSecretBytes) +
                 ", and put large data where the servers can read it");
}

Status checkGrant(const SecretGrant& grant) {
  if (grant.user.empty() && grant.application.empty())
    return invalid("grant: is for nobody in particular; name a user, an application, or both");
  if (!grant.user.empty()) {
    if (Status named = checkName("user", grant.user); !named) return named;
  }
  return grant.application.empty() ? Status() : checkName("application", grant.application);
}

bool covers(const SecretGrant& grant, const std::string& user, const std::string& application) {
  return (grant.user.empty() || grant.user == user) &&
         (grant.application.empty() || grant.application == application);
}

}  // namespace

SecretTable::SecretTable(std::vector<SecretRecord> secrets) {
  for (SecretRecord& secret : secrets) {
    ++ofOwner_[secret.owner];
    sealedBytes_ += secret.value.bytes.size();
    Key key{secret.owner, secret.name};
    secrets_.emplace(std::move(key), std::move(secret));
  }
}

Result<SecretRecord> SecretTable::put(const Key& key, SealedValue value, WallTime now) {
  if (Status named = checkKey(key); !named) return named.error();
  if (Status good = checkValue(value); !good) return good.error();
  const auto found = secrets_.find(key);
  const bool isNew = found == secrets_.end();
  const size_t before = isNew ? 0 : found->second.value.bytes.size();
  if (isNew && secrets_.size() >= kMaxSecrets)
    return exhausted("the cluster has " + std::to_string(kMaxSecrets) + " secrets, as many as it takes");
  if (const auto owned = ofOwner_.find(key.first);
      isNew && owned != ofOwner_.end() && owned->second >= kMaxSecretsOfUser)
    return exhausted(key.first + " has " + std::to_string(kMaxSecretsOfUser) +
                     " secrets, as many as one user may");
  if (sealedBytes_ - before + value.bytes.size() > kMaxSealedBytes)
    return exhausted("the values of all secrets would take more than " + formatSize(kMaxSealedBytes));
  SecretRecord& secret = secrets_[key];
  if (isNew) ++ofOwner_[key.first];
  secret.owner = key.first;
  secret.name = key.second;
  secret.version = isNew ? 1 : secret.version + 1;
  secret.changed = now;
  sealedBytes_ += value.bytes.size() - before;
  secret.value = std::move(value);
  return secret;
}

Result<SecretRecord> SecretTable::reseal(const Key& key, uint64_t version, SealedValue value) {
  const auto found = secrets_.find(key);
  if (found == secrets_.end()) return noSuchSecret(key);
  SecretRecord& secret = found->second;
  if (secret.version != version || secret.value.bytes.size() != value.bytes.size())
    return Error{ErrorCode::kConflict, "the secret has another value by now"};
  secret.value = std::move(value);
  return secret;
}

Result<SecretRecord> SecretTable::grant(const Key& key, const SecretGrant& grant) {
  const auto found = secrets_.find(key);
  if (found == secrets_.end()) return noSuchSecret(key);
  if (Status good = checkGrant(grant); !good) return good.error();
  std::vector<SecretGrant>& grants = found->second.grants;
  if (std::ranges::find(grants, grant) != grants.end()) return found->second;
  if (grants.size() >= kMaxGrantsOfSecret)
    return Error{ErrorCode::kExhausted,
                 "the secret has " + std::to_string(kMaxGrantsOfSecret) +
                     " grants, as many as it may; revoke some with `tarcil secret revoke`"};
  grants.push_back(grant);
  return found->second;
}

Result<SecretRecord> SecretTable::revoke(const Key& key, const SecretGrant& grant) {
  const auto found = secrets_.find(key);
  if (found == secrets_.end()) return noSuchSecret(key);
  if (Status good = checkGrant(grant); !good) return good.error();
  std::erase(found->second.grants, grant);
  return found->second;
}

Status SecretTable::remove(const Key& key) {
  const auto found = secrets_.find(key);
  if (found == secrets_.end()) return noSuchSecret(key);
  sealedBytes_ -= found->second.value.bytes.size();
  if (const auto owned = ofOwner_.find(key.first); --owned->second == 0) ofOwner_.erase(owned);
  secrets_.erase(found);
  return {};
}

Result<const SecretRecord*> SecretTable::usable(std::string_view reference, const std::string& user,
                                                const std::string& application) const {
  SecretReference named = secretReference(reference);
  if (named.owner.empty()) named.owner = user;
  const SecretRecord* secret = find({named.owner, named.name});
  const bool isOwn = named.owner == user;
  const auto grants = [&](const SecretGrant& grant) { return covers(grant, user, application); };
  if (secret != nullptr && (isOwn || std::ranges::any_of(secret->grants, grants))) return secret;
  const std::string name = shown(fullName(named.owner, named.name));
  if (isOwn)
    return notFound("there is no secret " + name + "; put it first: tarcil secret put " + named.name);
  return notFound("secret " + name + " is not there, or not granted to " + user +
                  (application.empty() ? "" : " for application " + application) +
                  "; have its owner or an operator grant it: tarcil secret grant " +
                  fullName(named.owner, named.name) + " --user " + user);
}

const SecretRecord* SecretTable::find(const Key& key) const {
  const auto found = secrets_.find(key);
  return found == secrets_.end() ? nullptr : &found->second;
}

bool isFor(const SecretRecord& secret, const std::string& user) {
  return secret.owner == user || std::ranges::any_of(secret.grants, [&user](const SecretGrant& grant) {
           return grant.user.empty() || grant.user == user;
         });
}

Status checkSecret(const SecretRecord& secret) {
  if (Status named = checkKey({secret.owner, secret.name}); !named) return named;
  if (Status good = checkValue(secret.value); !good) return good;
  if (secret.value.key.empty()) return invalid("key: is empty");
  if (secret.grants.size() > kMaxGrantsOfSecret) return invalid("grants: are too many");
  for (const SecretGrant& grant : secret.grants) {
    if (Status good = checkGrant(grant); !good) return good;
  }
  return {};
}

}  // namespace tarcil
