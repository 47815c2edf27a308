#include "cli/output/table.h"

#include <gtest/gtest.h>

#include "cli/output/help.h"
#include "cli/output/render.h"

namespace tarcil::table_test {

TEST(Table, AlignsColumnsAndMarksEmptyCells) {
  Table table({"Id", "Name"});
  table.add({"1", "größer"});
  table.add({"ä", ""});
  EXPECT_EQ(table.text(),
            "Id  Name\n"
            "1   größer\n"
            "ä   <none>\n");
}

TEST(Table, CutsTheLastColumnWhereATerminalIsTooNarrow) {
  Table table({"Id", "Reason"});
  table.add({"1", "für die nächste Nacht"});
  EXPECT_EQ(table.text(18), "Id  Reason\n1   für die nächs…\n");
  EXPECT_EQ(table.text(0), "Id  Reason\n1   für die nächste Nacht\n");
  EXPECT_EQ(table.text(10), table.text(0)) << "there is no room for anything";
}

TEST(Table, LetsNobodySteerTheTerminal) {
  Table table({"Name"});
  table.add({"a\x1b[2Jb\n"});
  EXPECT_EQ(table.text(), "Name\na?[2Jb?\n");
  EXPECT_EQ(withoutControls("gr\u00fcn \u009b31m \xff"), "gr\u00fcn ?31m ?");
}

TEST(Aligned, PutsTheSignsBelowEachOther) {
  EXPECT_EQ(aligned({{"Id", "1"}, {"Name", ""}}), "Id   = 1\nName = <none>\n");
}

TEST(Ranges, JoinNeighbours) {
  EXPECT_EQ(ranges(std::vector<RuIndex>{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(ranges(std::vector<TaskIndex>{70'000}), "70000");
}

TEST(PressureText, NamesTheLargestFirstAndLeavesOutZeros) {
  Pressure pressure{};
  pressure[4] = 3;
  pressure[5] = 8;
  EXPECT_EQ(pressureText(pressure), "memory_bandwidth 8, llc 3");
}

TEST(Wrapped, BreaksAtSpacesAndKeepsBreaksThatWereMeant) {
  const std::string word(40, 'x');
  EXPECT_EQ(wrapped(word + " " + word, 2), word + "\n  " + word);
  EXPECT_EQ(wrapped("a\n\n  as it   is\nb", 0), "a\n\n  as it   is\nb");
}

}  // namespace tarcil::table_test
