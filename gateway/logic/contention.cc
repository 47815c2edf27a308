#include "gateway/logic/contention.h"

#include <algorithm>

#include "core/model/residents.h"

namespace tarcil::gateway {
namespace {

const std::string& nameOf(const ServerPressures& server, RowsBy by) {
  switch (by) {
    case RowsBy::kServer:
      return server.name;
    case RowsBy::kPlatform:
      return server.platform;
    case RowsBy::kRack:
      return server.rack;
    case RowsBy::kBucket:
      return server.bucket;
  }
  return server.name;
}

void add(const ServerPressures& server, ContentionRow& row) {
  ++row.servers;
  ++row.states[server.state];
  row.units += server.units;
  row.freeUnits += server.freeUnits;
  for (size_t i = 0; i < kResources; ++i) {
    row.contention[i] = std::max(row.contention[i], server.contention[i]);
    row.notMeasured[i] += server.absent[i] ? 1 : 0;
    const auto slack = boundedSlack(server.slack[i]);
    if (!slack || (row.slack[i] && *row.slack[i] <= *slack)) continue;
    row.slack[i] = slack;
    row.at[i] = server.name;
  }
}

}  // namespace

std::vector<ContentionRow> contentionRows(const std::vector<ServerPressures>& servers, RowsBy by) {
  std::map<std::string, ContentionRow> rows;
  for (const ServerPressures& server : servers) {
    const std::string& name = nameOf(server, by);
    if (by == RowsBy::kBucket && name.empty()) continue;
    ContentionRow& row = rows[name];
    row.name = name;
    if (by != RowsBy::kRack) row.platform = server.platform;
    if (by == RowsBy::kServer || by == RowsBy::kRack) row.rack = server.rack;
    if (by == RowsBy::kServer || by == RowsBy::kBucket) row.bucket = server.bucket;
    add(server, row);
  }
  std::vector<ContentionRow> sorted;
  sorted.reserve(rows.size());
  for (auto& [name, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

}  // namespace tarcil::gateway
