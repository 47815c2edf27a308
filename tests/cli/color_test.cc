// Colours: where there are any, and that nothing else changes by them.
#include "cli/output/color.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/output/table.h"
#include "tests/cli/running_tarcil.h"
#include "tests/cli/terminal.h"

namespace tarcil::color_test {

using testing::HasSubstr;
using testing::Not;

const std::string kEscape = "\x1b[";

// What `tarcil job list` prints of a running job.
class ColorsTest : public testing::Test {
 protected:
  std::string onTerminal(const Words& arguments, const Environment& changes) const {
    return Terminal(tarcilWith(arguments), with(changes)).finish().out;
  }
  std::string elsewhere(const Words& arguments, const Environment& changes = {}) const {
    return runProcess(tarcilWith(arguments), with(changes)).out;
  }

 private:
  Environment with(const Environment& changes) const {
    Environment environment = cluster_.environment();
    environment["TERM"] = "xterm";
    for (const auto& [key, value] : changes) environment[key] = value;
    return environment;
  }
  static ClusterScript script() {
    ClusterScript script;
    script.jobs = {aJob(idOf(0x12), RunState::kRunning)};
    return script;
  }

  const ScriptedCluster cluster_{script()};
};

TEST_F(ColorsTest, AreForTerminals) {
  EXPECT_THAT(onTerminal({"job", "list"}, {}), HasSubstr("\x1b[32mrunning\x1b[0m"));
  EXPECT_THAT(onTerminal({"job", "status", "18"}, {}), HasSubstr("State     = \x1b[32mrunning\x1b[0m"));
  EXPECT_THAT(elsewhere({"job", "list"}), Not(HasSubstr(kEscape)));
}

TEST_F(ColorsTest, AreNotWhereTheUserOrTheTerminalDoesWithoutThem) {
  EXPECT_THAT(onTerminal({"job", "list"}, {{"NO_COLOR", "1"}}), Not(HasSubstr(kEscape)));
  EXPECT_THAT(onTerminal({"job", "list"}, {{"NO_COLOR", ""}}), HasSubstr(kEscape)) << "empty is not set";
  EXPECT_THAT(onTerminal({"job", "list"}, {{"TERM", "dumb"}}), Not(HasSubstr(kEscape)));
  EXPECT_THAT(onTerminal({"job", "list", "--color", "never"}, {}), Not(HasSubstr(kEscape)));
  EXPECT_THAT(onTerminal({"--json", "job", "list"}, {}), Not(HasSubstr(kEscape)));
}

TEST_F(ColorsTest, AreWhereTheyAreAskedForBeforeOrBehindTheCommand) {
  EXPECT_THAT(elsewhere({"job", "list", "--color", "always"}, {{"NO_COLOR", "1"}}), HasSubstr(kEscape));
  EXPECT_THAT(elsewhere({"--color=always", "job", "list"}), HasSubstr(kEscape));
  EXPECT_THAT(elsewhere({"--color=always", "job", "list", "--json"}), Not(HasSubstr(kEscape)));
}

TEST(Colors, OfTheUsersCommandAreTheUsers) {
  EXPECT_THAT(tarcil({"run", "--", "ls", "--color=sometimes"}).err, Not(HasSubstr("sometimes")));
}

TEST(Colors, LeaveColumnsWhereTheyAre) {
  Table table({"Name", "State", "Reason"});
  table.add({"a", "failed", "x"});
  table.add({"b", "cancelled", "y"});
  EXPECT_EQ(table.text(0, true),
            "\x1b[1mName\x1b[0m  \x1b[1mState\x1b[0m      \x1b[1mReason\x1b[0m\n"
            "a     \x1b[31mfailed\x1b[0m     x\n"
            "b     cancelled  y\n");
}

TEST(Colors, AreNobodyElsesToGive) {
  Table table({"Name", "State"});
  table.add({"\x1b[31mred", "running"});
  EXPECT_EQ(table.text(0, true),
            "\x1b[1mName\x1b[0m      \x1b[1mState\x1b[0m\n?[31mred  \x1b[32mrunning\x1b[0m\n");
}

TEST(Colors, OfAStateAreThoseOfItsFirstWord) {
  EXPECT_EQ(paintOfState("lost"), Paint::kBad);
  EXPECT_EQ(paintOfState("down"), Paint::kBad);
  EXPECT_EQ(paintOfState("cordoned"), Paint::kWaiting);
  EXPECT_EQ(paintOfState("failed (exit 3)"), Paint::kBad);
  EXPECT_EQ(paintOfState("upside"), Paint::kPlain);
  EXPECT_EQ(paintOfState(""), Paint::kPlain);
}

}  // namespace tarcil::color_test
