#include "master/server/secret_keeper.h"

#include "core/base/units.h"
#include "master/server/master_server.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// Sealed anew with one call: as much as one message may be, and the next batch of the store.
constexpr size_t kRekeyedBytes = 1u << 20;

Error noKey() {
  return {ErrorCode::kConflict, kNoSecretsKey};
}

}  // namespace

std::string SecretKeeper::warning() const {
  size_t locked = 0;
  std::string key;
  for (const auto& [name, secret] : server_.logic().secrets().all()) {
    if (keys_.has(secret.value.key)) continue;
    ++locked;
    key = secret.value.key;
  }
  if (locked == 0) return "";
  return std::to_string(locked) + (locked == 1 ? " secret is" : " secrets are") + " sealed with the key " +
         key + " or others that this master does not have: tasks that need them are not started. " +
         (keys_.empty() ? kNoSecretsKey : "All masters need the same --secrets-key");
}

kj::Promise<uint64_t> SecretKeeper::put(std::string owner, std::string name, const SecretBytes& value,
                                        audit::Requester by) {
  if (keys_.empty()) return toException(noKey());
  if (value.size() == 0) return toException(invalid("value: is empty; write what is to be secret"));
  if (value.size() > kMaxSecretBytes) {
    return toException(invalid("value: has " + std::to_string(value.size()) + " bytes; write at most " +
                               formatSize(kMaxSecretBytes) +
                               ", and put large data where the servers can read it"));
  }
  SealedValue sealed = keys_.seal(owner, name, value);
  const SecretTable::Key key{owner, name};
  return server_
      .changeSecrets(master::SecretPut{std::move(owner), std::move(name), std::move(sealed)}, std::move(by))
      .then([this, key]() {
        const SecretRecord* secret = server_.logic().secrets().find(key);
        return secret == nullptr ? uint64_t{0} : secret->version;  // deleted meanwhile
      });
}

kj::Promise<SecretKeeper::Rekeyed> SecretKeeper::rekey(const audit::Requester& by) {
  if (keys_.empty()) return toException(noKey());
  std::vector<master::SecretResealed> changes;
  Rekeyed rekeyed;
  size_t bytes = 0;
  for (const auto& [name, secret] : server_.logic().secrets().all()) {
    if (secret.value.key == keys_.current()) continue;
    if (!changes.empty() && bytes + secret.value.bytes.size() > kRekeyedBytes) {
      ++rekeyed.left;
      continue;
    }
    const auto value = keys_.open(secret);
    if (!value) return toException(value.error());
    bytes += secret.value.bytes.size();
    changes.push_back(
        {secret.owner, secret.name, secret.version, keys_.seal(secret.owner, secret.name, *value)});
  }
  rekeyed.sealed = static_cast<uint32_t>(changes.size());
  auto done = kj::heapArrayBuilder<kj::Promise<void>>(changes.size());
  for (master::SecretResealed& change : changes) done.add(server_.changeSecrets(std::move(change), by));
  return kj::joinPromises(done.finish()).then([rekeyed]() { return rekeyed; });
}

kj::Promise<std::vector<TaskSecret>> SecretKeeper::handOut(SessionId session, AllocationId allocation,
                                                           std::string address) {
  return server_.askSecrets(session, allocation, std::move(address))
      .then([this](std::vector<SecretRecord>&& secrets) {
        std::vector<TaskSecret> opened;
        for (const SecretRecord& secret : secrets) {
          auto value = keys_.open(secret);
          if (!value) {
            server_.note({.action = "secret.read",
                          .object = "secret " + fullName(secret.owner, secret.name),
                          .outcome = name(value.error().code),
                          .detail = "it cannot be opened"});
            kj::throwFatalException(toException(value.error()));
          }
          opened.push_back({secret.name, std::move(*value)});
        }
        return opened;
      });
}

}  // namespace tarcil
