// Completion in bash, as the file that is installed does it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/running_tarcil.h"

namespace tarcil::completion_test {

const std::string kFile = std::string(TARCIL_SOURCE_DIR) + "/cli/completion.bash";

// What bash offers for the last of the words.
std::string completed(const std::string& words) {
  const std::string script = "source \"$0\"; COMP_WORDS=(\"$1\" " + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tarcil; echo \"${COMPREPLY[*]}\"";
  const ProcessResult result = runProcess({"/bin/bash", "-c", script, kFile, TARCIL_BINARY}, {});
  EXPECT_EQ(result.err, "");
  return result.out;
}

TEST(Completion, OffersVerbsCommandsAndOptions) {
  EXPECT_THAT(completed("''"),
              testing::StartsWith("submit plan run job cron queue secret status top up down "));
  EXPECT_EQ(completed("jo"), "job join-token join\n");
  EXPECT_EQ(completed("job l"), "list logs\n");
  EXPECT_EQ(completed("job list --st"), "--state\n");
  EXPECT_EQ(completed("job list --state queued --re"), "--reverse\n");
}

TEST(Completion, OffersWhatEveryCommandHas) {
  EXPECT_EQ(completed("job list --wat"), "--watch\n");
  EXPECT_EQ(completed("job list --col"), "--color\n");
  EXPECT_EQ(completed("job list --color a"), "auto always\n");
}

TEST(Completion, LeavesArgumentsToFiles) {
  EXPECT_EQ(completed("submit ''"), "\n");
  EXPECT_EQ(completed("run -- ''"), "\n");
}

}  // namespace tarcil::completion_test
