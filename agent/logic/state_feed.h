// The feed that keeps the agent's copy of the shared state: servers, settings, platforms, and checksums that
// the copy is compared with.
#pragma once

#include <vector>

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Takes servers' states where they are newer; launches that waited for a server's address are sent.
void takeServers(EventContext& context, const std::vector<ServerUpdate>& updates, StateCopy::Source source);

// The snapshot is whole. Claims in flight are laid over it.
void takeSnapshotEnd(Tables& tables);

// A copy that differs from the master's is dropped, and asked for anew. O(servers).
void compare(EventContext& context, const StateChecksum& told);

void takeSettings(Tables& tables, const QualitySettings& settings);
void takePlatform(Tables& tables, const PlatformUpdated& event);

// Drops the copy; a snapshot is to follow.
void startCopyAnew(Tables& tables);

}  // namespace tarcil::agent
