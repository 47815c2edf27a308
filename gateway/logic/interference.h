// Application by application: what each loses beside each, by their profiles. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/contention.h"
#include "core/model/profile.h"
#include "core/model/quality.h"

namespace tarcil::gateway {

struct Application {
  Profile profile{};  // of its application's name
  bool isStored = false;
  uint32_t tasks = 0;       // that run
  uint32_t violations = 0;  // of these that perform below what is expected
};

// What one task of an application is expected to get beside one task of another, on a server of the reference
// platform.
struct Prediction {
  double satisfaction = 1;  // S; 1 where nothing is lost
  int32_t slack = 0;        // the least of what it tolerates less what the other causes
  size_t resource = 0;      // on which that is
};
// As the cluster judges slots.
struct Judging {
  QualityModel model = QualityModel::kComponentwise;
  ContentionModel contention = ContentionModel::kSum;
};
Prediction predict(const Profile& application, const Profile& beside, const Judging& judging);

// A task that fell short, and why that is likely to be so.
struct Observation {
  std::string application, beside;
  double performance = 0;  // as a part of what is expected
};

struct Pair {
  size_t application = 0, beside = 0;  // places in the list of applications
  Prediction predicted{};
  uint32_t violations = 0;
  std::optional<double> performance{};  // the least that was observed
};

// Every pair of them, also with itself; an observation of others counts for nothing. O(applications^2 +
// observations).
std::vector<Pair> pairsOf(const std::vector<Application>& applications,
                          const std::vector<Observation>& observations, const Judging& judging);

}  // namespace tarcil::gateway
