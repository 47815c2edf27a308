// What operators set for the whole cluster.
#pragma once

#include <map>
#include <string>

#include "cli/cluster.h"
#include "core/decide/options.h"
#include "core/model/resources.h"

namespace tarcil {

// By the platform's name; one that has no entry gets the full share of everything.
using Platforms = std::map<std::string, Share>;

QualitySettings fetchSettings(Cluster& cluster);
Platforms fetchPlatforms(Cluster& cluster);

}  // namespace tarcil
