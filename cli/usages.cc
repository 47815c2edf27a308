#include "cli/usages.h"

#include "schema/convert.h"

namespace tarcil {
namespace {

Json jsonOf(const Usage& usage) {
  return {{"user", usage.user},
          {"shares", usage.shares},
          {"ru_seconds", ruSeconds(usage)},
          {"attempts", usage.attempts},
          {"jobs",
           {{"done", usage.done},
            {"failed", usage.failed},
            {"cancelled", usage.cancelled},
            {"lost", usage.lost}}}};
}

}  // namespace

std::vector<Usage> fetchUsages(Cluster& cluster) {
  std::vector<Usage> usages;
  cluster.askByName(
      [](Session& session, const char* after) {
        auto request = session.user.usageRequest();
        request.setAfter(after);
        return request.send();
      },
      [&usages](const auto& answer) {
        for (auto usage : answer.getUsers()) usages.push_back(read(usage));
      });
  return usages;
}

Json jsonOf(const std::vector<Usage>& usages) {
  Json json = Json::array();
  for (const Usage& usage : usages) json.push_back(jsonOf(usage));
  return json;
}

}  // namespace tarcil
