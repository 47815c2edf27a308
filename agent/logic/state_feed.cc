#include "agent/logic/state_feed.h"

#include "agent/logic/assignments.h"

namespace tarcil::agent {

void takeServers(EventContext& context, const std::vector<ServerUpdate>& updates, StateCopy::Source source) {
  Tables& tables = context.tables;
  const ClusterState& state = tables.copy.state();
  for (const ServerUpdate& update : updates) {
    tables.copy.apply(update, source);
    if (state.known(update.id)) tables.likely.update(state, update.id);
    if (update.facts) tables.launches.serverKnown(update.id, state, context.actions);
  }
}

void takeSnapshotEnd(EventContext& context) {
  Tables& tables = context.tables;
  tables.hasSnapshot = true;
  tables.inFlight.layOver(tables.copy.state());
  launchGangs(context);
}

void compare(EventContext& context, const StateChecksum& told) {
  Tables& tables = context.tables;
  // An answer to a commit may overtake the feed; the copy is ahead then, and is compared next time.
  if (!isReady(tables) || tables.copy.isAhead()) return;
  ++tables.comparisons;
  const StateChecksum ours = tables.copy.checksum(tables.inFlight.servers());
  const bool hasFacts = told.facts != 0;  // older masters send none
  if (ours.statuses == told.statuses && (!hasFacts || ours.facts == told.facts)) return;
  ++tables.mismatches;
  dropCopy(tables);
  context.actions.push_back(AskSnapshot{});
}

void takeSettings(Tables& tables, const QualitySettings& settings) {
  tables.settings = settings;
  tables.copy.state().setContention(settings.contention);
  tables.copy.state().keepNeighbours(looksAtNeighbours(settings));
  tables.likely.updateAll(tables.copy.state());
}

void takePlatform(Tables& tables, const PlatformUpdated& event) {
  tables.copy.state().setShare(event.platform, event.share);
  tables.likely.updateAll(tables.copy.state());
}

void dropCopy(Tables& tables) {
  tables.hasSnapshot = false;
  tables.copy = StateCopy();
  tables.chooser = Chooser();
  tables.copy.state().setContention(tables.settings.contention);
  tables.copy.state().keepNeighbours(looksAtNeighbours(tables.settings));
  tables.likely = LikelyServers();
}

}  // namespace tarcil::agent
