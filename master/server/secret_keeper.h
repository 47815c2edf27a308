// Seals and opens secrets: between users and monitors, who have values, and the logic and the store, which
// have what is sealed.
#pragma once

#include <kj/async.h>

#include <string>
#include <vector>

#include "audit/logic/entry.h"
#include "core/base/ids.h"
#include "core/base/secret_bytes.h"
#include "core/model/task_secret.h"
#include "master/logic/events.h"
#include "secrets/sealing.h"

namespace tarcil {

class MasterServer;

// Single-threaded. What it answers is on disk. Without a key it fails as Conflict, saying what to do.
class SecretKeeper final {
 public:
  // `server` outlives it.
  explicit SecretKeeper(MasterServer& server) : server_(server) {}
  KJ_DISALLOW_COPY(SecretKeeper);

  // In place of those that it had.
  void setKeys(SecretKeys keys) { keys_ = std::move(keys); }
  const SecretKeys& keys() const { return keys_; }
  // Secrets that none of the keys opens, for people; empty where there are none. Opens nothing; O(secrets).
  std::string warning() const;

  // The version. As UserPort.putSecret, by the owner or an operator.
  kj::Promise<uint64_t> put(std::string owner, std::string name, const SecretBytes& value,
                            audit::Requester by);
  // As UserPort.rekeySecrets.
  struct Rekeyed {
    uint32_t sealed = 0, left = 0;
  };
  kj::Promise<Rekeyed> rekey(const audit::Requester& by);
  // As MonitorPort.secrets.
  kj::Promise<std::vector<TaskSecret>> handOut(SessionId session, AllocationId allocation,
                                               std::string address);

 private:
  MasterServer& server_;
  SecretKeys keys_;
};

}  // namespace tarcil
