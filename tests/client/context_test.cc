#include "client/context.h"

#include <gtest/gtest.h>

#include "client/metrics_sources.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::context_test {

TEST(Context, ReadsWhatWasWritten) {
  const ScratchFolder folder;
  const Context context = {{"unix:/run/a", "host:1"}, "/run/token", "home"};
  ASSERT_TRUE(writeContext(folder.path(), context).ok());
  const auto read = readContext(folder.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, context);
}

TEST(Context, NamesTheFileThatIsMalformed) {
  const ScratchFolder folder;
  for (const char* text :
       {"", "[]", "{\"cluster\": [], \"token_file\": \"t\"}", "{\"cluster\": [1], \"token_file\": \"t\"}",
        "{\"cluster\": [\"nowhere\"], \"token_file\": \"t\"}", "{\"cluster\": [\"unix:/a\"]}"}) {
    folder.write("context.json", text);
    const auto read = readContext(folder.path());
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid) << text;
    EXPECT_TRUE(read.error().message.starts_with(folder.at("context.json"))) << read.error().message;
  }
}

TEST(Context, IsUnavailableWhereThereIsNone) {
  const ScratchFolder folder;
  EXPECT_EQ(readContext(folder.path()).error().code, ErrorCode::kUnavailable);
}

TEST(Context, CannotBeWrittenWhereThereIsNoFolder) {
  EXPECT_FALSE(writeContext("/nonexistent/folder", {{"unix:/a"}, "t", ""}).ok());
}

TEST(MetricsSources, AreReadAsWritten) {
  const ScratchFolder folder;
  folder.write("run/x", "");
  const std::vector<MetricsSource> sources = {{"master", "master", "unix:/run/m"}, {"agent", "a", "host:1"}};
  ASSERT_TRUE(writeMetricsSources(folder.path(), sources).ok());
  const auto read = readMetricsSources(folder.path());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, sources);
}

TEST(MetricsSources, SayWhatIsWrong) {
  const ScratchFolder folder;
  EXPECT_EQ(readMetricsSources(folder.path()).error().code, ErrorCode::kUnavailable);
  for (const char* text : {"", "{}", "[1]", "[{\"name\": \"a\", \"address\": \"nowhere\"}]",
                           "[{\"name\": 1, \"address\": \"host:1\"}]", "[{\"address\": \"host:1\"}]"}) {
    folder.write("run/metrics.json", text);
    const auto read = readMetricsSources(folder.path());
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid) << text;
    EXPECT_TRUE(read.error().message.starts_with(folder.at("run/metrics.json"))) << read.error().message;
  }
}

}  // namespace tarcil::context_test
