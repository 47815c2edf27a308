#include "core/decide/prepared_job.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "core/decide/chooser.h"
#include "tests/core/model/generators.h"
#include "tests/support/builders.h"

namespace tarcil::prepared_job_test {

void expectAlike(const PreparedJob& kept, const PreparedJob& anew) {
  RC_ASSERT(kept.newcomers.size() == anew.newcomers.size());
  RC_ASSERT(kept.ownTasks.size() == anew.ownTasks.size());
  for (size_t i = 0; i < kept.newcomers.size(); ++i) {
    const Newcomer &a = kept.newcomers[i], &b = anew.newcomers[i];
    RC_ASSERT(a.order == b.order);
    RC_ASSERT(a.tolerated == b.tolerated);
    RC_ASSERT(a.hurts == b.hurts);
    RC_ASSERT(a.target == b.target);
    RC_ASSERT(a.rus == b.rus);
    RC_ASSERT(a.margin == b.margin);
    RC_ASSERT(a.model == b.model);
    RC_ASSERT(a.platformFactor == b.platformFactor);
    RC_ASSERT(kept.ownTasks[i].caused == anew.ownTasks[i].caused);
    RC_ASSERT(kept.ownTasks[i].bound == anew.ownTasks[i].bound);
    RC_ASSERT(kept.ownTasks[i].rus == anew.ownTasks[i].rus);
  }
}

// Profiles that differ in one place only, so that they share their place among those kept.
Profile oneOfFew() {
  Profile profile;
  profile.caused[static_cast<size_t>(*rc::gen::element(0, 9))] = *rc::gen::element<uint8_t>(0, 40);
  profile.tolerated[static_cast<size_t>(*rc::gen::element(0, 9))] = *rc::gen::element<uint8_t>(99, 40);
  if (*rc::gen::arbitrary<bool>()) {
    profile.platforms = {{"p0", 1.0}, {"p" + std::to_string(*rc::gen::inRange(0, 5)), 0.7}};
  }
  return profile;
}

struct Asked {
  JobSpec spec = aJob(1, oneOfFew());
  QualitySettings settings;

  Asked() {
    spec.rusPerTask = *rc::gen::inRange(1u, 3u);
    spec.protectNeighbours = *rc::gen::arbitrary<bool>();
    settings.margin = *rc::gen::inRange(0, 2);
    settings.noiseFloor = *rc::gen::inRange(0, 2);
    settings.model = *rc::gen::element(QualityModel::kEncoded, QualityModel::kComponentwise);
  }
};

// Few jobs that come again and again, while platforms come and their shares change.
RC_GTEST_PROP(PreparedJobs, AreAsIfPreparedAnew, ()) {
  ClusterState state;
  PreparedJobs prepared;
  const std::vector<Asked> jobs(*rc::gen::inRange<size_t>(1, 4));
  for (int steps = *rc::gen::inRange(1, 60); steps > 0; --steps) {
    const std::string platform = "p" + std::to_string(*rc::gen::inRange(0, 5));
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        state.setShare(platform, *aShare());
        break;
      case 1: {
        const auto id = *rc::gen::inRange<ServerId>(0, 4);
        state.apply(aServer("s" + std::to_string(id)).platform(platform).update(id));
        break;
      }
      default: {
        const auto& [spec, settings] = jobs[*rc::gen::inRange<size_t>(0, jobs.size())];
        const Judging judging = judgingFor(spec, settings);
        expectAlike(prepared.prepare(state, spec, judging), PreparedJobs().prepare(state, spec, judging));
      }
    }
  }
}

}  // namespace tarcil::prepared_job_test
