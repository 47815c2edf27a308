#include "gateway/logic/interference.h"

#include <algorithm>
#include <map>

#include "core/model/slowdown.h"

namespace tarcil::gateway {

namespace {

// One neighbour's pressure is all that there is: their sum and their mean are the same.
double satisfactionBeside(const Profile& application, const Pressure& felt, const Judging& judging) {
  if (judging.contention != ContentionModel::kSlowdowns)
    return judge(viewOn(application, fullShare(), 1), felt, judging.model, 0).satisfaction;
  int excess = 0;
  for (size_t i = 0; i < kResources; ++i) excess = std::max(excess, felt[i] - application.tolerated[i]);
  Slowdowns slowdowns;
  slowdowns.add(slowdownBeside(felt, onsetsOf(application.tolerated)));
  return satisfaction(slowdownBy(slowdowns, static_cast<uint8_t>(excess)));
}

}  // namespace

Prediction predict(const Profile& application, const Profile& beside, const Judging& judging) {
  const Pressure felt = beside.caused;
  Prediction predicted{.satisfaction = satisfactionBeside(application, felt, judging), .slack = INT32_MAX};
  for (size_t i = 0; i < kResources; ++i) {
    const int32_t slack = static_cast<int32_t>(application.tolerated[i]) - felt[i];
    if (slack >= predicted.slack) continue;
    predicted.slack = slack;
    predicted.resource = i;
  }
  return predicted;
}

std::vector<Pair> pairsOf(const std::vector<Application>& applications,
                          const std::vector<Observation>& observations, const Judging& judging) {
  std::map<std::string, size_t> places;
  std::vector<Pair> pairs;
  pairs.reserve(applications.size() * applications.size());
  for (size_t i = 0; i < applications.size(); ++i) {
    places[applications[i].profile.application] = i;
    for (size_t j = 0; j < applications.size(); ++j)
      pairs.push_back({.application = i,
                       .beside = j,
                       .predicted = predict(applications[i].profile, applications[j].profile, judging)});
  }
  for (const Observation& observation : observations) {
    const auto application = places.find(observation.application), beside = places.find(observation.beside);
    if (application == places.end() || beside == places.end()) continue;
    Pair& pair = pairs[application->second * applications.size() + beside->second];
    ++pair.violations;
    pair.performance = std::min(pair.performance.value_or(observation.performance), observation.performance);
  }
  return pairs;
}

}  // namespace tarcil::gateway
