#include "core/decide/prepared_job.h"

#include <algorithm>
#include <cstring>

#include "core/model/residents.h"

namespace tarcil {
namespace {

constexpr size_t kKept = 256;

size_t placeOf(const Profile& profile) {
  static_assert(sizeof(Pressure) >= sizeof(uint64_t));
  uint64_t caused = 0, tolerated = 0;
  std::memcpy(&caused, profile.caused.data(), sizeof caused);
  std::memcpy(&tolerated, profile.tolerated.data(), sizeof tolerated);
  return (caused * 0x9e3779b97f4a7c15ULL ^ tolerated * 0xbf58476d1ce4e5b9ULL) >> 32 & (kKept - 1);
}

}  // namespace

const PreparedJob& PreparedJobs::prepare(const ClusterState& state, const JobSpec& spec,
                                         const Judging& judging) {
  if (kept_.empty()) kept_.resize(kKept);
  PreparedJob& job = kept_[placeOf(spec.profile)];
  const bool same = job.look == state.look() && job.rus == spec.rusPerTask && job.judging == judging &&
                    job.profile.caused == spec.profile.caused &&
                    job.profile.tolerated == spec.profile.tolerated &&
                    job.profile.platforms == spec.profile.platforms;
  if (same) return job;
  job.profile = spec.profile;
  job.rus = spec.rusPerTask;
  job.judging = judging;
  job.look = state.look();
  job.newcomers.clear();
  job.ownTasks.clear();
  const Order order = orderOf(demandOf(spec.profile.tolerated));
  for (size_t i = 0; i < state.platformCount(); ++i) {
    const auto platform = static_cast<PlatformId>(i);
    const double factor = platformFactor(spec.profile, state.platformName(platform));
    const JobView view = viewOn(spec.profile, order, state.share(platform), factor);
    Newcomer& made = job.newcomers.emplace_back(newcomer(view, judging, spec.rusPerTask));
    if (spec.profile.isUnknown()) {
      made.isUnknown = true;
      std::fill_n(made.tolerated.begin(), kResources, uint8_t{0});
    }
    job.ownTasks.push_back({spec.profile.caused, residentBound(view), spec.rusPerTask});
  }
  return job;
}

}  // namespace tarcil
