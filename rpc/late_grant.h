// Grants: by them a monitor knows that an agent may have late-bound tasks of a user run, of which the master
// hears nothing. They are signed, since one holds at every monitor of the cluster: with a key that all of
// those have, each could make some.
#pragma once

#include <chrono>
#include <string>

#include "core/base/time.h"
#include "identity/signature.h"
#include "schema/late_binding.capnp.h"

namespace tarcil {

// How long one holds. An agent asks for the next one in time; who may submit no more has late-bound tasks run
// for no longer than this.
inline constexpr Duration kLateGrantLife = std::chrono::hours(1);

// In one message (LateAgentNews.grants): to check so many takes a monitor some 13 ms.
inline constexpr uint32_t kMaxGrantsAtOnce = 100;

struct LateGrant {
  std::string agent;
  std::string user;   // who submits
  std::string runAs;  // the system user
  WallTime until = kNever;
  std::string signature{};

  bool operator==(const LateGrant&) const = default;
};

// What the grant says, signed.
LateGrant signedGrant(LateGrant grant, const SigningKey& key);
bool isSignedBy(const LateGrant& grant, const PublicKey& key);

void write(const LateGrant& grant, wire::LateGrant::Builder to);
LateGrant read(wire::LateGrant::Reader from);

}  // namespace tarcil
