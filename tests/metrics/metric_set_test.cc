#include "metrics/metric_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/metrics_text.h"

namespace tarcil::metric_set_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(MetricSet, WritesEveryKindInPrometheusFormat) {
  MetricSet set;
  set.counter("a_total", "As.").Increment(3);
  set.gauge("b_bytes", "Bs.").Set(-1.5);
  set.histogram("c_seconds", "Cs.", {0.5, 1}).Observe(0.7);
  EXPECT_THAT(describedMetrics(set.text()),
              UnorderedElementsAre(testing::Pair("a_total", MetricDescription{"counter", "As."}),
                                   testing::Pair("b_bytes", MetricDescription{"gauge", "Bs."}),
                                   testing::Pair("c_seconds", MetricDescription{"histogram", "Cs."})));
  EXPECT_THAT(
      parseMetrics(set.text()),
      UnorderedElementsAre(MetricSample{"a_total", {}, 3}, MetricSample{"b_bytes", {}, -1.5},
                           MetricSample{"c_seconds_bucket", {{"le", "0.5"}}, 0},
                           MetricSample{"c_seconds_bucket", {{"le", "1"}}, 1},
                           MetricSample{"c_seconds_bucket", {{"le", "+Inf"}}, 1},
                           MetricSample{"c_seconds_sum", {}, 0.7}, MetricSample{"c_seconds_count", {}, 1}));
}

TEST(MetricSet, ShowsEveryValueOfALabelBeforeAnythingHappens) {
  MetricSet set;
  const auto counters = set.counters("a_total", "As.", "kind", {"x", "y"});
  counters[1]->Increment();
  EXPECT_THAT(parseMetrics(set.text()), UnorderedElementsAre(MetricSample{"a_total", {{"kind", "x"}}, 0},
                                                             MetricSample{"a_total", {{"kind", "y"}}, 1}));
}

TEST(MetricSet, ServesAMetricByItsEarlierNamesToo) {
  MetricSet set;
  const auto counters = set.counters({"b_total", {"a_total", "z_total"}}, "Bs.", "kind", {"x", "y"});
  set.gauge("c", "Cs.");
  counters[1]->Increment(2);
  EXPECT_THAT(
      describedMetrics(set.text()),
      UnorderedElementsAre(testing::Pair("b_total", MetricDescription{"counter", "Bs."}),
                           testing::Pair("a_total", MetricDescription{"counter", "Earlier name of b_total."}),
                           testing::Pair("z_total", MetricDescription{"counter", "Earlier name of b_total."}),
                           testing::Pair("c", MetricDescription{"gauge", "Cs."})));
  std::vector<MetricSample> expected = {{"c", {}, 0}};
  for (const char* name : {"b_total", "a_total", "z_total"}) {
    expected.push_back({name, {{"kind", "x"}}, 0});
    expected.push_back({name, {{"kind", "y"}}, 2});
  }
  EXPECT_THAT(parseMetrics(set.text()), testing::UnorderedElementsAreArray(expected));
}

TEST(MetricSet, ServesHistogramsByEarlierNamesToo) {
  MetricSet set;
  set.histogram({"b_seconds", {"a_seconds"}}, "Bs.", {1}).Observe(0.5);
  EXPECT_THAT(parseMetrics(set.text()), testing::IsSupersetOf({MetricSample{"a_seconds_count", {}, 1},
                                                               MetricSample{"b_seconds_count", {}, 1},
                                                               MetricSample{"a_seconds_sum", {}, 0.5}}));
}

TEST(GaugeByName, ForgetsWhatIsGone) {
  MetricSet set;
  GaugeByName gauge = set.gaugeByName("a_seconds", "As.", "agent");
  gauge.set({{"x", 1}, {"y", 2}});
  gauge.set({{"y", 3}, {"a \"quoted\" name", 4}});
  EXPECT_THAT(parseMetrics(set.text()),
              UnorderedElementsAre(MetricSample{"a_seconds", {{"agent", "y"}}, 3},
                                   MetricSample{"a_seconds", {{"agent", "a \"quoted\" name"}}, 4}));
}

TEST(MetricsText, LeavesOutWhatIsNoSample) {
  EXPECT_THAT(parseMetrics("# HELP a b\n\nonly-a-name\n{} 1\na{b=\"c} 1\na{b} 1\na nothing\n"), IsEmpty());
  EXPECT_THAT(parseMetrics("a 1"), ElementsAre(MetricSample{"a", {}, 1}));
}

}  // namespace tarcil::metric_set_test
