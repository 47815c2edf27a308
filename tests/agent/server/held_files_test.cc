// How many input files an agent has on their way to the master.
#include "agent/server/held_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/model/job_size.h"

namespace tarcil::held_files_test {

using testing::HasSubstr;

std::vector<InputFile> aFile() {
  return {{"input", 0644, std::string(79, 'x')}};  // 100 bytes by sizeOf()
}

TEST(FilesOnTheirWay, AreBoundedByUserAndInAllUntilTheyAreGone) {
  ASSERT_EQ(sizeOf(aFile()), 100u);
  HeldFiles files({.ofUser = 200, .inAll = 300});
  auto one = files.hold("alice", aFile());
  const auto two = files.hold("alice", aFile());
  ASSERT_TRUE(one.ok() && two.ok());
  const auto alices = files.hold("alice", aFile());
  ASSERT_FALSE(alices.ok());
  EXPECT_EQ(alices.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(alices.error().message, HasSubstr("more input files of alice"));
  const auto bobs = files.hold("bob", aFile());
  ASSERT_TRUE(bobs.ok());
  EXPECT_FALSE(files.hold("carol", aFile()).ok());
  const InputFiles copy = *one;
  one = Error{};
  EXPECT_FALSE(files.hold("carol", aFile()).ok()) << "there is a copy";
  EXPECT_EQ(files.bytes(), 300u);
}

TEST(FilesOnTheirWay, MayOutliveTheAgent) {
  auto files = std::make_unique<HeldFiles>();
  const auto held = files->hold("alice", aFile());
  files.reset();
  EXPECT_EQ((*held)->size(), 1u);
}

TEST(FilesOnTheirWay, ThatAreGoneMakeRoom) {
  HeldFiles files({.ofUser = 100, .inAll = 100});
  { const auto gone = files.hold("alice", aFile()); }
  EXPECT_EQ(files.bytes(), 0u);
  EXPECT_TRUE(files.hold("alice", aFile()).ok());
}

}  // namespace tarcil::held_files_test
