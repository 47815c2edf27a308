#include "schema/convert_performance.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

namespace tarcil::convert_performance_test {

Violation sentViolation(const Violation& value) {
  capnp::MallocMessageBuilder message;
  write(value, message.initRoot<wire::Violation>());
  return read(message.getRoot<wire::Violation>().asReader());
}

TEST(ConvertPerformance, KeepsAViolation) {
  Violation violation;
  violation.allocation = 7;
  violation.metric = Metric::kCpuTime;
  violation.expected = 1.5;
  violation.measured = 0.75;
  violation.since = WallTime(std::chrono::seconds(1000));
  violation.causes = {
      {Cause::Kind::kNeighbour, Resource::kLlc, 9, 0.8, "llc 70 of 30"},
      {Cause::Kind::kNetwork, std::nullopt, 0, 0.1, ""},
  };
  EXPECT_EQ(sentViolation(violation), violation);
  Violation over;
  over.allocation = 7;
  over.over = true;
  EXPECT_EQ(sentViolation(over), over);
}

TEST(ConvertPerformance, RefusesAResourceThatIsNone) {
  capnp::MallocMessageBuilder message;
  message.initRoot<wire::Violation>().initCauses(1)[0].setResource(kResources);
  EXPECT_ANY_THROW(read(message.getRoot<wire::Violation>().asReader()));
}

}  // namespace tarcil::convert_performance_test
