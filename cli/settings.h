// What operators set for the whole cluster.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "cli/cluster.h"
#include "core/decide/options.h"
#include "core/model/resources.h"
#include "formats/json.h"

namespace tarcil {

// By the platform's name; one that has no entry gets the full share of everything.
using Platforms = std::map<std::string, Share>;

QualitySettings fetchSettings(Cluster& cluster);
Platforms fetchPlatforms(Cluster& cluster);

// Of a value, by the names of its enumeration in their order.
template <typename Value, size_t kNames>
std::string nameIn(const std::array<std::string_view, kNames>& names, Value value) {
  return std::string(names[static_cast<size_t>(value)]);
}

// The reverse. Requires: it is one of the names.
template <typename Value, size_t kNames>
Value valueNamed(const std::array<std::string_view, kNames>& names, std::string_view name) {
  return static_cast<Value>(std::ranges::find(names, name) - names.begin());
}

// As `tune --json` shows them.
Json jsonOf(const QualitySettings& settings);

}  // namespace tarcil
