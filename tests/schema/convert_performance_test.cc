#include "schema/convert_performance.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

namespace tarcil::convert_performance_test {

Trouble sentTrouble(const Trouble& value) {
  capnp::MallocMessageBuilder message;
  write(value, message.initRoot<wire::Trouble>());
  return read(message.getRoot<wire::Trouble>().asReader());
}

TEST(ConvertPerformance, KeepsATrouble) {
  Trouble trouble;
  trouble.allocation = 7;
  trouble.metric = Metric::kCpuTime;
  trouble.expected = 1.5;
  trouble.measured = 0.75;
  trouble.since = WallTime(std::chrono::seconds(1000));
  trouble.causes = {
      {Cause::Kind::kNeighbour, Resource::kLlc, 9, 0.8, "llc 70 of 30"},
      {Cause::Kind::kNetwork, std::nullopt, 0, 0.1, ""},
  };
  EXPECT_EQ(sentTrouble(trouble), trouble);
  Trouble over;
  over.allocation = 7;
  over.over = true;
  EXPECT_EQ(sentTrouble(over), over);
}

TEST(ConvertPerformance, RefusesAResourceThatIsNone) {
  capnp::MallocMessageBuilder message;
  message.initRoot<wire::Trouble>().initCauses(1)[0].setResource(kResources);
  EXPECT_ANY_THROW(read(message.getRoot<wire::Trouble>().asReader()));
}

}  // namespace tarcil::convert_performance_test
