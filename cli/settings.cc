#include "cli/settings.h"

#include "core/decide/sample_plan.h"
#include "schema/convert.h"

namespace tarcil {

QualitySettings fetchSettings(Cluster& cluster) {
  auto answer = cluster.ask([](Session& session) { return session.user.settingsRequest().send(); });
  return read(answer.getSettings());
}

Platforms fetchPlatforms(Cluster& cluster) {
  Platforms platforms;
  cluster.askByName(
      [](Session& session, const char* after) {
        auto request = session.user.platformsRequest();
        request.setAfter(after);
        return request.send();
      },
      [&platforms](const auto& answer) {
        for (auto platform : answer.getPlatforms())
          platforms[platform.getName().cStr()] = readShare(platform);
      });
  return platforms;
}

Json jsonOf(const QualitySettings& settings) {
  return {{"target", settings.target},
          {"rarity", settings.rarity},
          {"confidence", settings.confidence},
          {"draws", drawLimit(settings, settings.confidence, 1)},
          {"cap", settings.cap ? Json(*settings.cap) : Json()},
          {"floor", settings.floor},
          {"ratio", settings.ratio ? Json(*settings.ratio) : Json()},
          {"model", nameIn(kQualityModelNames, settings.model)},
          {"contention", nameIn(kContentionModelNames, settings.contention)},
          {"ranking", nameIn(kRankByNames, settings.ranking)},
          {"margin", settings.margin},
          {"noise_floor", settings.noiseFloor},
          {"protect_neighbours", settings.protectNeighbours},
          {"neighbour_floor", settings.neighbourFloor},
          {"profile_unknown", settings.profileUnknown},
          {"throttling", nameIn(kThrottlingNames, settings.throttling)},
          {"version", settings.version}};
}

}  // namespace tarcil
