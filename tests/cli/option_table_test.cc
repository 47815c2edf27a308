#include "cli/option_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/output/help.h"
#include "core/base/failure.h"

namespace tarcil::option_table_test {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;

// A command with one option of each kind.
struct Options {
  Options() {
    table.duration("--delay,--patience", delay, "How long to wait.");
    table.duration("--period", period, "How often.", {100ms, 1h, "off"});
    table.size("--room", room, "How much.");
    table.count("--most", most, 1, 100, "How many.");
    table.bandwidth("--bandwidth", bandwidth, "Bytes in a second.");
  }

  // Throws what a command would end with.
  void parse(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
    table.read();
  }
  std::string refusalOf(const std::vector<std::string>& words) {
    try {
      parse(words);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), kExitBadInput);
      return failure.message();
    }
    return "";
  }

  CLI::App app;
  OptionTable table{app};
  Duration delay = 30s, period = 1s;
  uint64_t room = 256u << 20;
  uint32_t most = 10;
  double bandwidth = 0;
};

TEST(OptionTable, ShowsWhatTheMemberHoldsAsTheDefault) {
  Options options;
  EXPECT_EQ(options.app.get_option("--delay")->get_description(), "How long to wait. Default: 30s");
  EXPECT_THAT(options.app.get_option("--room")->get_description(), EndsWith("Default: 256MiB"));
  EXPECT_THAT(options.app.get_option("--most")->get_description(), EndsWith("Default: 10"));
}

TEST(OptionTable, LeavesMembersAloneThatAreNotGiven) {
  Options options;
  options.parse({});
  EXPECT_EQ(options.delay, 30s);
  EXPECT_EQ(options.room, 256u << 20);
}

TEST(OptionTable, SetsTheMember) {
  Options options;
  options.parse({"--delay", "2m", "--period", "off", "--room", "1GiB", "--most", "7", "--bandwidth", "10GB"});
  EXPECT_EQ(options.delay, 2min);
  EXPECT_EQ(options.period, 0s);
  EXPECT_EQ(options.room, 1u << 30);
  EXPECT_EQ(options.most, 7u);
  EXPECT_EQ(options.bandwidth, 1e10);
}

TEST(OptionTable, TakesTheEarlierNameAndDoesNotShowIt) {
  Options options;
  options.parse({"--patience", "5s"});
  EXPECT_EQ(options.delay, 5s);
  EXPECT_EQ(labelOf(*options.app.get_option("--delay")), "--delay DURATION");
}

TEST(OptionTable, RefusesWhatDoesNotFitByTheNameThatHelpShows) {
  EXPECT_THAT(Options().refusalOf({"--patience", "soon"}), HasSubstr("--delay: "));
  EXPECT_EQ(Options().refusalOf({"--period", "1ms"}),
            "--period: 1ms is out of range; write 100ms to 1h; or off");
  EXPECT_THAT(Options().refusalOf({"--bandwidth", "0B"}), HasSubstr("--bandwidth: is 0"));
  EXPECT_THAT(Options().refusalOf({"--room", "much"}), HasSubstr("--room: "));
  EXPECT_THROW(Options().parse({"--most", "101"}), CLI::ValidationError);
}

}  // namespace tarcil::option_table_test
