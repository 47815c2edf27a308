#include "metrics/series_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "formats/metrics_text.h"

namespace tarcil::series_text_test {

using testing::ElementsAre;

TEST(SeriesText, IsReadAsTheRegistrysIs) {
  SeriesText series("a_share", "As.");
  series.add({{"server", "x"}, {"resource", "llc"}}, 0.25);
  series.add({{"server", "y"}, {"resource", "llc"}}, -99);
  series.add({}, 1e6);
  EXPECT_THAT(parseMetrics(series.text()),
              ElementsAre(MetricSample{"a_share", {{"server", "x"}, {"resource", "llc"}}, 0.25},
                          MetricSample{"a_share", {{"server", "y"}, {"resource", "llc"}}, -99},
                          MetricSample{"a_share", {}, 1e6}));
  EXPECT_THAT(describedMetrics(series.text()),
              ElementsAre(testing::Pair("a_share", MetricDescription{"gauge", "As."})));
}

TEST(SeriesText, LetsNoValueOfALabelEndIt) {
  SeriesText series("a", "As.");
  const std::string hostile = "x\"} 7\nb 8\\";
  series.add({{"application", hostile}}, 1);
  EXPECT_THAT(series.text(), testing::HasSubstr("a{application=\"x\\\"} 7\\nb 8\\\\\"} 1\n"));
  EXPECT_THAT(parseMetrics(series.text()), ElementsAre(MetricSample{"a", {{"application", hostile}}, 1}));
}

TEST(SeriesText, HasNoSignOfWhatIsNoNumber) {
  SeriesText series("a", "As.");
  series.add({}, -std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(series.text(), testing::EndsWith("\na NaN\n"));
}

TEST(SeriesText, WithoutSeriesIsDescribedAllTheSame) {
  EXPECT_EQ(describedMetrics(SeriesText("a", "As.").text()).size(), 1u);
}

}  // namespace tarcil::series_text_test
