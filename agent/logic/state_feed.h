// The master's feed of the shared state: servers, settings, platforms, and checksums to compare
// the copy with.
#pragma once

#include <vector>

#include "agent/logic/tables.h"

namespace tarcil::agent {

// Applies newer states of servers, and sends launches that waited for a server's address.
void takeServers(EventContext& context, const std::vector<ServerUpdate>& updates, StateCopy::Source source);

// The snapshot is complete: lays claims in flight over it, and launches what waited for it.
void takeSnapshotEnd(EventContext& context);

// Compares the copy with the master's checksum. If they differ, drops it and asks for a snapshot. O(servers).
void compare(EventContext& context, const StateChecksum& told);

void takeSettings(Tables& tables, const QualitySettings& settings);
void takePlatform(Tables& tables, const PlatformUpdated& event);

// Drops the copy; a snapshot is to follow.
void dropCopy(Tables& tables);

}  // namespace tarcil::agent
