#include "master/logic/health/interference.h"

namespace tarcil::master {

Pressure interferenceOn(const Profile& profile, const Server& server, ContentionModel model) {
  PressureSum others = server.status.sum;
  for (size_t i = 0; i < others.size(); ++i) others[i] -= profile.caused[i];
  return contention(model, others, server.share, server.status.background,
                    static_cast<int>(server.record.facts.rus));
}

}  // namespace tarcil::master
