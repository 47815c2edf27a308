#include "master/server/master_metrics.h"

#include <gtest/gtest.h>

namespace tarcil::master_metrics_test {

CommitAnswer answerWith(const std::vector<Verdict>& verdicts) {
  CommitAnswer answer;
  for (Verdict verdict : verdicts) answer.grants.push_back({verdict});
  return answer;
}

double conflicts(const MasterMetrics& metrics, Verdict verdict) {
  return metrics.conflicts[static_cast<size_t>(verdict) - 1]->Value();
}

TEST(MasterMetrics, CountsEveryClaimAndEachConflictOnce) {
  MasterMetrics metrics;
  metrics.count(answerWith({Verdict::kGranted, Verdict::kGranted}));
  metrics.count(answerWith({Verdict::kGranted, Verdict::kNotFree, Verdict::kBelowFloor}));
  EXPECT_EQ(metrics.commits[0]->Value(), 2);
  EXPECT_EQ(metrics.claims[static_cast<size_t>(Verdict::kGranted)]->Value(), 3);
  EXPECT_EQ(metrics.claims[static_cast<size_t>(Verdict::kBelowFloor)]->Value(), 1);
  EXPECT_EQ(conflicts(metrics, Verdict::kNotFree), 1);
  EXPECT_EQ(conflicts(metrics, Verdict::kBelowFloor), 0);
}

TEST(MasterMetrics, NamesWhatAGangWasRefusedFor) {
  MasterMetrics metrics;
  metrics.count(answerWith({Verdict::kNotAll, Verdict::kNoExtras, Verdict::kNotAll}));
  EXPECT_EQ(conflicts(metrics, Verdict::kNoExtras), 1);
  EXPECT_EQ(conflicts(metrics, Verdict::kNotAll), 0);
}

}  // namespace tarcil::master_metrics_test
