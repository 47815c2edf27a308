#include "monitor/container/cpu_topology.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "monitor/container/core_choice.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::cpu_topology_test {

// The files below /sys of a machine of some nodes with cores of two threads, numbered as Linux numbers them:
// first one thread of each core, then the others.
class Machine {
 public:
  Machine(uint32_t nodes, uint32_t coresPerNode) : cores_(nodes * coresPerNode) {
    for (uint32_t core = 0; core < cores_; ++core) {
      const std::string siblings = std::to_string(core) + "," + std::to_string(core + cores_);
      for (const uint32_t thread : {core, core + cores_})
        write("cpu/cpu" + std::to_string(thread) + "/topology/thread_siblings_list", siblings);
    }
    for (uint32_t node = 0; node < nodes; ++node) {
      const uint32_t first = node * coresPerNode, last = first + coresPerNode - 1;
      write("node/node" + std::to_string(node) + "/cpulist",
            range(first, last) + "," + range(first + cores_, last + cores_));
    }
    write("node/online", "0-1");
  }

  CpuTopology topology(const std::vector<uint32_t>& threads) const {
    return cpuTopology(folder_.path(), threads);
  }
  CpuTopology topology() const {
    std::vector<uint32_t> all;
    for (uint32_t thread = 0; thread < 2 * cores_; ++thread) all.push_back(thread);
    return topology(all);
  }

 private:
  static std::string range(uint32_t first, uint32_t last) {
    return std::to_string(first) + "-" + std::to_string(last);
  }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path() + "/devices/system/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }

  const uint32_t cores_;
  TemporaryFolder folder_;
};

TEST(CpuTopology, KnowsCoresAndNodes) {
  const CpuTopology expected{{{{0, 4}, 0}, {{1, 5}, 0}, {{2, 6}, 1}, {{3, 7}, 1}}, 2, 2};
  EXPECT_EQ(Machine(2, 2).topology(), expected);
}

TEST(CpuTopology, IsOfTheThreadsThatTasksMayUse) {
  const CpuTopology expected{{{{1, 5}, 0}, {{2}, 1}}, 2, 2};
  EXPECT_EQ(Machine(2, 2).topology({1, 5, 2}), expected);
  EXPECT_EQ(Machine(2, 2).topology({3}), (CpuTopology{{{{3}, 1}}, 1, 1}));
}

TEST(CpuTopology, WithoutFilesEachThreadIsACoreOfNodeZero) {
  const TemporaryFolder empty;
  const CpuTopology expected{{{{0}, 0}, {{7}, 0}}, 1, 1};
  EXPECT_EQ(cpuTopology(empty.path(), {7, 0}), expected);
}

TEST(CoreUnits, AreWholeCoresUnlessThereAreMoreOfThem) {
  const CpuTopology topology = Machine(1, 2).topology();
  const std::vector<CoreUnit> cores{{{0, 2}, 0}, {{1, 3}, 0}};
  const std::vector<CoreUnit> threads{{{0}, 0}, {{2}, 0}, {{1}, 0}, {{3}, 0}};
  EXPECT_EQ(coreUnits(topology, 0), cores);
  EXPECT_EQ(coreUnits(topology, 2), cores);
  EXPECT_EQ(coreUnits(topology, 1), (std::vector<CoreUnit>{cores[0]}));
  EXPECT_EQ(coreUnits(topology, 3), (std::vector<CoreUnit>{threads[0], threads[1], threads[2]}));
  EXPECT_EQ(coreUnits(topology, 4), threads);
  EXPECT_EQ(coreUnits(topology, 9), threads);
}

TEST(ChooseCores, TakesOneNodeThatFitsBest) {
  const auto units = coreUnits(Machine(2, 4).topology(), 0);
  EXPECT_EQ(chooseCores(units, {}, {}, {0, 1, 2}), (std::vector<uint32_t>{0, 1, 2, 8, 9, 10}));
  // Three are free on node 0 and four on node 1.
  EXPECT_EQ(chooseCores(units, {0, 8}, {}, {7}), (std::vector<uint32_t>{1, 9}));
  EXPECT_EQ(chooseCores(units, {0, 8}, {}, {0, 1, 2, 3}),
            (std::vector<uint32_t>{4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_EQ(chooseCores(units, {4, 12, 5, 13, 6, 14}, {}, {0}), (std::vector<uint32_t>{7, 15}));
}

TEST(ChooseCores, TakesTheNodeWithMostWhereNoneIsEnough) {
  const auto units = coreUnits(Machine(2, 2).topology(), 0);
  EXPECT_EQ(chooseCores(units, {0, 4}, {}, {0, 1, 2}), (std::vector<uint32_t>{1, 2, 3, 5, 6, 7}));
}

TEST(ChooseCores, LeavesSiblingsOfOthersAlone) {
  const auto units = coreUnits(Machine(1, 2).topology(), 0);
  EXPECT_EQ(chooseCores(units, {2}, {}, {0}), (std::vector<uint32_t>{1, 3}));
}

TEST(ChooseCores, ATaskKeepsWhatItHas) {
  const auto units = coreUnits(Machine(2, 2).topology(), 0);
  // Beside what it has on node 1, although node 0 is as free as that.
  EXPECT_EQ(chooseCores(units, {}, {3, 7}, {0, 1}), (std::vector<uint32_t>{2, 3, 6, 7}));
  EXPECT_EQ(chooseCores(units, {2, 6}, {3, 7}, {0, 1}), (std::vector<uint32_t>{0, 3, 4, 7}));
  EXPECT_EQ(chooseCores(units, {}, {2, 6, 3, 7}, {0}), (std::vector<uint32_t>{2, 6}));
}

TEST(ChooseCores, IsFixedWhereTooFewAreFree) {
  const auto units = coreUnits(Machine(1, 2).topology(), 0);
  EXPECT_EQ(chooseCores(units, {0, 1}, {}, {1}), (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(fixedCores(units, {3, 5}), (std::vector<uint32_t>{1, 3}));
  EXPECT_TRUE(chooseCores({}, {}, {}, {1}).empty());
}

TEST(ParseCoreList, ReadsListsAndNothingElse) {
  EXPECT_EQ(parseCoreList("0-2,8\n"), (std::vector<uint32_t>{0, 1, 2, 8}));
  for (const char* bad :
       {"", "\n", "x", "1-", "-1", "2-1", "1,,2", "1-2-3", "1 2", "0-99999999", "4294967296"})
    EXPECT_TRUE(parseCoreList(bad).empty()) << bad;
}

}  // namespace tarcil::cpu_topology_test
