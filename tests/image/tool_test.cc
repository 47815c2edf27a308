#include "image/tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::tool_test {

using namespace image;
using testing::HasSubstr;

Status always() {
  return {};
}

Result<std::string> shell(const std::string& script, const std::function<Status()>& watch = always) {
  return runTool({"/bin/sh", "-c", script}, 1'000, watch);
}

TEST(Tool, GivesWhatItsProgramWrites) {
  const auto out = shell("echo a; echo b >&2; cat; echo c");
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out, "a\nc\n");
}

TEST(Tool, SaysTheLastOfWhatAFailedOneSaid) {
  const auto failed = shell("head -c 100000 /dev/zero >&2; printf 'no\\tsuch image\\n\\n' >&2; exit 3");
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, testing::StartsWith("sh: "));
  EXPECT_THAT(failed.error().message, testing::EndsWith("no such image"));
  EXPECT_LT(failed.error().message.size(), kMaxErrorText + 10);
  EXPECT_EQ(shell("echo 'time=\"x\" level=fatal msg=\"no \\\"a\\\" here\"' >&2; exit 1").error().message,
            "sh: no \"a\" here");
  EXPECT_EQ(shell("exit 1").error().message, "sh: it says nothing");
  EXPECT_FALSE(runTool({"/no/such/program"}, 10, always).ok());
}

TEST(Tool, EndsAProgramThatWritesTooMuchOrMayNotGoOn) {
  EXPECT_THAT(shell("yes").error().message, HasSubstr("is more than 1000 bytes"));
  int asked = 0;
  const auto stopped = shell(
      "exec sleep 1000", [&asked]() -> Status { return ++asked < 3 ? Status() : Status(invalid("full")); });
  EXPECT_EQ(stopped.error().message, "full");
}

}  // namespace tarcil::tool_test
