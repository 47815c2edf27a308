#include "cli/context.h"

#include <gtest/gtest.h>

#include "tests/cli/scratch_folder.h"

namespace tarcil {
namespace {

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

}  // namespace
}  // namespace tarcil
