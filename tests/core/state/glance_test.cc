// The quick judgement of slots is the judgement of core/model, bit for bit.
#include "core/state/glance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "core/model/residents.h"
#include "core/state/vacancy.h"
#include "tests/core/model/generators.h"

namespace tarcil::glance_test {

// A server's status, a job and the way of judging, all at random; what both come to is near each other often.
struct Case {
  ServerStatus status;
  Share share = *aShare();
  uint32_t rus = *rc::gen::inRange(1u, 70u);
  Profile profile = *aProfile();
  double factor = *rc::gen::element(1.0, 0.7);
  Judging judging;
  uint32_t rusOfTask = *rc::gen::inRange(1u, 4u);

  Case() {
    status.up = *rc::gen::inRange(0, 5) > 0;
    status.cordoned = *rc::gen::inRange(0, 5) == 0;
    status.background = *aPressure();
    const auto free = *rc::gen::inRange(0u, rus + 1);
    for (RuIndex ru = 0; ru < free; ++ru) status.free.insert(ru);
    for (int residents = *rc::gen::element(0, 0, 1, 2, 7, 300); residents > 0; --residents) {
      const Profile resident = *aProfile();
      for (size_t i = 0; i < kResources; ++i) status.sum[i] += resident.caused[i] / 8;
      tightenBound(status.bound, residentBound(viewOn(resident, share, 1)));
    }
    judging.model = *rc::gen::element(QualityModel::kEncoded, QualityModel::kComponentwise);
    judging.contention = *rc::gen::element(ContentionModel::kSum, ContentionModel::kMean);
    judging.margin = *rc::gen::element(0, 1, 7, 99);
    judging.noiseFloor = *rc::gen::element(0, 2, 30, 99);
    judging.protectNeighbours = *rc::gen::inRange(0, 4) > 0;
  }

  JobView view() const { return viewOn(profile, share, factor); }
  Vacancy vacancy() const { return vacancyOf(status, rus, share, judging.contention); }
  Newcomer newcomer() const { return tarcil::newcomer(view(), judging, rusOfTask); }
};

// What core/model says, without the shortcuts of Newcomer and Vacancy.
struct Expected {
  Judgement judgement;
  Obstacle obstacle = Obstacle::kNone;
  int resource = 0;

  explicit Expected(const Case& c) {
    const JobView view = c.view();
    judgement = judge(
        view,
        contention(c.judging.contention, c.status.sum, c.share, c.status.background, static_cast<int>(c.rus)),
        c.judging.model, c.judging.margin);
    const PressureSum slack = slackOf(c.status.bound, c.status.sum, c.share, c.status.background);
    const int broken =
        c.judging.protectNeighbours ? brokenResource(view.caused, slack, c.judging.noiseFloor) : -1;
    if (!c.status.up || c.status.cordoned) {
      obstacle = Obstacle::kNotUsable;
    } else if (c.status.free.size() < c.rusOfTask) {
      obstacle = Obstacle::kNotEnoughFree;
    } else if (broken >= 0) {
      obstacle = Obstacle::kNeighbour;
      resource = broken;
    }
  }
};

RC_GTEST_PROP(Glance, IsTheJudgementOfTheModel, ()) {
  const Case c;
  const Expected expected(c);
  const Newcomer newcomer = c.newcomer();
  const Glance seen = glance(newcomer, c.vacancy());
  RC_ASSERT(seen.encoded == expected.judgement.encoded);
  RC_ASSERT(seen.obstacle == expected.obstacle);
  RC_ASSERT(seen.resource == expected.resource);
  RC_ASSERT(satisfaction(newcomer, seen) == expected.judgement.satisfaction);
  RC_ASSERT(qNumerator(newcomer, seen) == expected.judgement.qNumerator);
  RC_ASSERT(expectedPerformance(newcomer, seen) == expectedPerformance(c.view(), expected.judgement));
  RC_TAG(static_cast<int>(seen.obstacle));
}

RC_GTEST_PROP(Glance, IsTheSameWithoutVectorInstructions, ()) {
  const Case c;
  RC_ASSERT(glance(c.newcomer(), c.vacancy()) == glancePortably(c.newcomer(), c.vacancy()));
}

// Vacancies as no server ever has them, too.
RC_GTEST_PROP(Glance, IsTheSameWithoutVectorInstructionsForAnyBytes, ()) {
  const Case c;
  Vacancy vacancy;
  vacancy.contention = *aPressure();
  for (uint8_t& bears : vacancy.slack) {
    bears = static_cast<uint8_t>(
        *rc::gen::element(0, 1, 99, 100, 128, int{Vacancy::kMaxSlack}, int{Vacancy::kUnbounded}));
  }
  vacancy.platform = *rc::gen::arbitrary<PlatformId>();
  vacancy.free = *rc::gen::arbitrary<uint16_t>();
  vacancy.rus = *rc::gen::arbitrary<uint16_t>();
  vacancy.rack = *rc::gen::arbitrary<RackId>();
  vacancy.usable = true;
  RC_ASSERT(glance(c.newcomer(), vacancy) == glancePortably(c.newcomer(), vacancy));
}

RC_GTEST_PROP(Glance, OfManyServersIsThatOfEach, ()) {
  const Case a, b;
  const std::vector<Newcomer> newcomers = {a.newcomer(), b.newcomer()};
  std::vector<Vacancy> vacancies = {a.vacancy(), b.vacancy(), a.vacancy()};
  vacancies[1].platform = 1;
  const auto servers = *rc::gen::container<std::vector<ServerId>>(rc::gen::inRange<ServerId>(0, 3));
  std::vector<Glance> seen(servers.size());
  glance(newcomers, vacancies, servers, seen);
  for (size_t i = 0; i < servers.size(); ++i) {
    const Vacancy& vacancy = vacancies[servers[i]];
    RC_ASSERT(seen[i] == glance(newcomers[vacancy.platform], vacancy));
  }
}

// A vacancy keeps slack in a byte: what that cuts off changes nothing for the heaviest newcomer.
TEST(Glance, ComparesSlackBeyondWhatAByteHolds) {
  const Profile loudest{"", Profile::filled(kMaxPressure), Profile::filled(kMaxPressure), {}};
  Share share{};
  share.fill(4 * kShareUnit);  // 396 arrive of 99
  const Newcomer heavy = newcomer(viewOn(loudest, share, 1), Judging(), 1);
  ServerStatus status;
  status.up = true;
  status.free = RuSet::all(1);
  EXPECT_EQ(glance(heavy, vacancyOf(status, 1, share, ContentionModel::kSum)).obstacle, Obstacle::kNone);
  status.bound.fill(kMaxPressure - 1);  // of a resident that causes nothing and tolerates all but a little
  EXPECT_EQ(glance(heavy, vacancyOf(status, 1, share, ContentionModel::kSum)).obstacle, Obstacle::kNeighbour);
}

// Below the target the paper's Eq. 5 ranks a slot by how far it misses, ours by how quiet it is.
RC_GTEST_PROP(LiteralQ, DiffersOnlyBelowTheTarget, ()) {
  const JobView view = viewOn(*aProfile(), *aShare(), 1);
  const Judgement judgement = judge(view, *aPressure(), QualityModel::kEncoded, 0);
  const double u = uH(judgement), t = normalized(view.target);
  if (judgement.meetsTarget) {
    RC_ASSERT(literalQ(view, judgement) == q(judgement));
    RC_ASSERT(std::abs(q(judgement) - (1 - (u - t))) < 1e-12);
  } else {
    RC_ASSERT(std::abs(literalQ(view, judgement) - (t - u)) < 1e-12);
    RC_ASSERT(q(judgement) == u);
    RC_ASSERT(judgement.qNumerator < view.target);
  }
}

}  // namespace tarcil::glance_test
