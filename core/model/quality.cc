#include "core/model/quality.h"

#include <algorithm>

#include "core/model/contention.h"

namespace tarcil {
namespace {

// S = 1 - max(0, T_W - U_H), from the exact values.
double encodedSatisfaction(const JobView& job, const Judgement& judgement) {
  if (judgement.meetsTarget) return 1.0;
  return normalized(2 * kEncodedMax - judgement.encoded - job.target);
}

// S = 1 - max_i max(0, C[i] - t_p[i]) / 99.
double componentwiseSatisfaction(const JobView& job, const Judgement& judgement) {
  int worst = 0;
  for (size_t i = 0; i < kResources; ++i) {
    worst = std::max(worst, int{judgement.contention[i]} - int{job.tolerated[i]});
  }
  return static_cast<double>(kMaxPressure - worst) / kMaxPressure;
}

}  // namespace

JobView viewOn(const Profile& profile, const Share& share, double platformFactor) {
  return viewOn(profile, orderOf(demandOf(profile.tolerated)), share, platformFactor);
}

JobView viewOn(const Profile& profile, const Order& order, const Share& share, double platformFactor) {
  JobView view;
  const Pressure arriving = scaled(demandOf(profile.tolerated), share);
  view.order = order;
  view.target = encode(arriving, view.order);
  view.platformFactor = platformFactor;
  for (size_t i = 0; i < kResources; ++i) {
    view.tolerated[i] = static_cast<uint8_t>(kMaxPressure - arriving[i]);
    view.caused[i] = scaled(int32_t{profile.caused[i]}, share[i]);
  }
  return view;
}

double uH(const Judgement& judgement) {
  return normalized(kEncodedMax - judgement.encoded);
}

double q(const Judgement& judgement) {
  return normalized(judgement.qNumerator);
}

Judgement judge(const JobView& job, const Pressure& contention, QualityModel model, int margin) {
  Judgement judgement;
  for (size_t i = 0; i < kResources; ++i) {
    judgement.contention[i] = withMargin(contention[i], margin);
  }
  judgement.encoded = encode(judgement.contention, job.order);
  const Encoded u = kEncodedMax - judgement.encoded;
  judgement.meetsTarget = u >= job.target;
  judgement.qNumerator = judgement.meetsTarget ? kEncodedMax - (u - job.target) : u;
  judgement.satisfaction = model == QualityModel::kEncoded ? encodedSatisfaction(job, judgement)
                                                           : componentwiseSatisfaction(job, judgement);
  return judgement;
}

double literalQ(const JobView& job, const Judgement& judgement) {
  if (judgement.meetsTarget) return q(judgement);
  return normalized(job.target - (kEncodedMax - judgement.encoded));
}

double expectedPerformance(const JobView& job, const Judgement& judgement) {
  return judgement.satisfaction * job.platformFactor;
}

}  // namespace tarcil
