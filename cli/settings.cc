#include "cli/settings.h"

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

}  // namespace tarcil
