#include "sim/faults/etcd_model.h"

#include <gtest/gtest.h>

namespace tarcil::sim::etcd_model_test {

using namespace std::chrono_literals;

class EtcdModelTest : public testing::Test {
 protected:
  bool put(Term term, uint64_t number) {
    return etcd_.put(term, number, {Put{AgentRecord{"x", number}}},
                     [this](const std::vector<Mutation>&) { ++stored_; });
  }
  void pass(Duration duration) {
    until_ += duration;
    while (world_.step(until_)) {
    }
  }

  VirtualWorld world_{1, Log::kNone};
  MemoryStore store_;
  EtcdModel etcd_{world_, store_, EtcdBug::kNone};
  int stored_ = 0;

 private:
  MonotonicTime until_ = world_.now().steady;
};

TEST_F(EtcdModelTest, HasOneLeaderForAsLongAsItsLease) {
  const Term first = etcd_.elect();
  EXPECT_EQ(etcd_.elect(), 0u);
  pass(EtcdModel::kLease - 1ms);
  EXPECT_TRUE(etcd_.renew(first));
  pass(EtcdModel::kLease - 1ms);
  EXPECT_EQ(etcd_.leads(), first);
  pass(1s);
  EXPECT_FALSE(etcd_.renew(first)) << "nobody has renewed it for longer";
  EXPECT_GT(etcd_.elect(), first);
}

TEST_F(EtcdModelTest, TakesTheBatchesOfTheLeaderInOrderAndOnce) {
  const Term first = etcd_.elect();
  EXPECT_TRUE(put(first, 1));
  EXPECT_TRUE(put(first, 1)) << "it was put before";
  EXPECT_FALSE(put(first, 3)) << "2 is not there";
  EXPECT_EQ(stored_, 1);
  etcd_.resign(first);
  const Term second = etcd_.elect();
  EXPECT_FALSE(put(first, 2)) << "another one leads";
  EXPECT_TRUE(put(second, 2));
  EXPECT_FALSE(put(first, 2)) << "what is there is the other's";
  EXPECT_EQ(stored_, 2);
}

}  // namespace tarcil::sim::etcd_model_test
