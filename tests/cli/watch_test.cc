// --watch, on a terminal and elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "cli/output/screen.h"
#include "client/context.h"
#include "tests/cli/running_tarcil.h"
#include "tests/cli/terminal.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::watch_test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEnter = "\x1b[?1049h";
constexpr const char* kLeave = "\x1b[?1049l";

ClusterScript aJobIn(RunState state) {
  ClusterScript script;
  script.jobs = {aJob(idOf(0x12), state)};
  return script;
}

Environment onTerminal(const ScriptedCluster& cluster) {
  Environment environment = cluster.environment();
  environment["TERM"] = "xterm";
  return environment;
}

// The numbers of lines that begin with a text.
size_t linesThatBegin(const std::string& text, const std::string& with) {
  size_t count = 0;
  for (size_t at = 0; at != std::string::npos && at < text.size();) {
    if (text.compare(at, with.size(), with) == 0) ++count;
    at = text.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  return count;
}

// A cluster that others can take the place of: who asks is led by a context.
class WatchAcrossClustersTest : public testing::Test {
 protected:
  void leadTo(const ScriptedCluster& cluster) const {
    ASSERT_TRUE(writeContext(folder_.path(), {cluster.addresses(), cluster.tokenFile(), ""}));
  }
  Words watched(Words words) const {
    words.insert(words.end(), {"--watch=0.5", "--data", folder_.path()});
    return tarcilWith(words);
  }

  const ScratchFolder folder_;
  const Environment terminal_ = {{"TERM", "xterm"}, {"HOME", "/nonexistent"}};
};

// --- On a terminal ---

TEST(Watch, ShowsOnTheAlternateScreenUntilQIsPressed) {
  const ScriptedCluster cluster(aJobIn(RunState::kRunning));
  Terminal terminal(tarcilWith({"job", "list", "--watch", "0.5"}), onTerminal(cluster));
  ASSERT_TRUE(terminal.waitFor(kEnter));
  ASSERT_TRUE(terminal.waitFor("train"));
  ASSERT_TRUE(terminal.waitFor("\x1b[H")) << "again, from the top";
  ASSERT_TRUE(terminal.waitFor("train"));
  terminal.press("q");
  const ProcessResult result = terminal.finish();
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_THAT(result.out, EndsWith(kLeave));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b[2J"))) << "flickers";
}

TEST(Watch, LeavesTheScreenWhenItIsInterrupted) {
  const ScriptedCluster cluster(aJobIn(RunState::kRunning));
  Terminal terminal(tarcilWith({"job", "status", "--watch", "18"}), onTerminal(cluster));
  ASSERT_TRUE(terminal.waitFor("train"));
  terminal.press("\x03");
  const ProcessResult result = terminal.finish();
  EXPECT_EQ(result.signal, SIGINT);
  EXPECT_THAT(result.out, HasSubstr(kLeave));
}

TEST(Watch, LeavesTheScreenWhileItIsStopped) {
  const ScriptedCluster cluster(aJobIn(RunState::kRunning));
  Terminal terminal(tarcilWith({"usage", "--watch"}), onTerminal(cluster));
  ASSERT_TRUE(terminal.waitFor("no task has ended yet")) << "what is said is on the screen";
  // A process group that nobody waits for is not stopped by Ctrl-Z: this one leads its session.
  terminal.signal(SIGTSTP);
  ASSERT_TRUE(terminal.waitFor(kLeave));
  terminal.waitForStop();
  terminal.signal(SIGCONT);
  ASSERT_TRUE(terminal.waitFor(kEnter));
  ASSERT_TRUE(terminal.waitFor("no task has ended yet"));
  terminal.press("q");
  EXPECT_EQ(terminal.finish().exitCode, 0);
}

TEST_F(WatchAcrossClustersTest, WhatFailsIsShownInItsPlaceAndItGoesOn) {
  auto first = std::make_unique<ScriptedCluster>(aJobIn(RunState::kQueued));
  leadTo(*first);
  Terminal terminal(watched({"job", "list"}), terminal_);
  ASSERT_TRUE(terminal.waitFor("queued"));
  first.reset();
  ASSERT_TRUE(terminal.waitFor("tarcil: "));
  const ScriptedCluster second(aJobIn(RunState::kDone));
  leadTo(second);
  ASSERT_TRUE(terminal.waitFor("done"));
  terminal.press("q");
  EXPECT_EQ(terminal.finish().exitCode, 0);
}

TEST(Watch, WhatFailsAtFirstIsTheEnd) {
  const ScriptedCluster cluster(aJobIn(RunState::kRunning));
  Terminal terminal(tarcilWith({"server", "show", "nowhere", "--watch"}), onTerminal(cluster));
  const ProcessResult result = terminal.finish();
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_THAT(result.out, HasSubstr("tarcil: "));
  EXPECT_THAT(result.out, Not(HasSubstr(kEnter)));
}

TEST(Frame, ClearsBehindEachLineAndBelowTheLast) {
  EXPECT_EQ(frameOf("a\nb\n", 3), "\x1b[Ha\x1b[K\r\nb\x1b[K\r\n\x1b[J");
  EXPECT_EQ(frameOf("a\nb\n", 2), "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J") << "the last row does not scroll";
}

TEST(Frame, CountsWhatHasNoRoom) {
  EXPECT_EQ(frameOf("a\nb\nc\n", 2), "\x1b[Ha\x1b[K\r\nand 2 more lines\x1b[K\x1b[J");
}

// --- Elsewhere ---

TEST(Watch, ElsewherePrintsEachTimeUnderItsTime) {
  const ScriptedCluster cluster(aJobIn(RunState::kRunning));
  Environment environment = cluster.environment();
  environment["TZ"] = "UTC";
  Process process(tarcilWith({"job", "list", "--watch", "0.5"}), environment);
  ASSERT_TRUE(process.waitFor("train"));
  ASSERT_TRUE(process.waitFor("\n\n20")) << "the next time";
  process.signal(SIGTERM);
  const ProcessResult result = process.finish();
  EXPECT_THAT(result.out, testing::ContainsRegex("^20[0-9-]+T[0-9:]+(Z|\\+00:00)\nJob "));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
}

TEST(Watch, AsJsonPrintsALineEachTime) {
  const ScriptedCluster cluster(aJobIn(RunState::kRunning));
  Process process(tarcilWith({"job", "list", "--json", "--watch=0.5"}), cluster.environment());
  ASSERT_TRUE(process.waitFor("\n[{"));
  process.signal(SIGTERM);
  const std::string out = process.finish().out;
  EXPECT_EQ(Json::parse(out.substr(0, out.find('\n')))[0]["name"], "train");
  EXPECT_EQ(linesThatBegin(out, "[{"), static_cast<size_t>(std::ranges::count(out, '\n')));
}

TEST_F(WatchAcrossClustersTest, AsJsonWhatFailsIsAnErrorInItsLine) {
  auto first = std::make_unique<ScriptedCluster>(aJobIn(RunState::kQueued));
  leadTo(*first);
  Process process(watched({"job", "list", "--json"}), terminal_);
  ASSERT_TRUE(process.waitFor("\"queued\""));
  first.reset();
  ASSERT_TRUE(process.waitFor("\n{\"error\":\""));
  const ScriptedCluster second(aJobIn(RunState::kDone));
  leadTo(second);
  ASSERT_TRUE(process.waitFor("\"done\""));
}

TEST(Watch, EndsWhenNobodyReadsAnyMore) {
  const ScriptedCluster cluster(aJobIn(RunState::kRunning));
  Process process(tarcilWith({"job", "list", "--watch", "86400"}), cluster.environment());
  ASSERT_TRUE(process.waitFor("train"));
  process.closeStdout();
  const ProcessResult result = process.finish();
  EXPECT_TRUE(result.exitCode == 128 + SIGPIPE || result.signal == SIGPIPE) << result.exitCode;
}

TEST(Watch, TakesNoShorterTimeAndNoJobForOne) {
  for (const Words& words :
       {Words{"status", "--watch", "0.1"}, Words{"job", "status", "--watch", "train", "--json"},
        Words{"queue", "--watch=nan"}}) {
    const ProcessResult result = tarcil(words);
    EXPECT_EQ(result.exitCode, 2);
    EXPECT_THAT(result.err, HasSubstr("write a number of seconds from 0.5")) << result.err;
  }
}

TEST(Watch, IsWhatListsAndShowsHave) {
  for (const Words& words :
       {Words{"status"}, Words{"queue"}, Words{"usage"}, Words{"job", "list"}, Words{"job", "status"},
        Words{"server", "list"}, Words{"server", "show"}, Words{"agent", "list"}, Words{"cron", "list"}}) {
    Words help = words;
    help.emplace_back("--help");
    EXPECT_THAT(tarcil(help).out, HasSubstr("--watch [SECONDS]")) << words.back();
  }
}

}  // namespace tarcil::watch_test
