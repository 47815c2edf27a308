// What is said of a file of tokens that cannot be used.
#include "rpc/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/scratch_folder.h"

namespace tarcil::token_test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

struct Tokens : testing::Test {
  ScratchFolder folder;
  const std::string good = std::string(32, 't');

  Result<TokenTable> read(const std::string& text) const {
    folder.write("tokens", text);
    std::filesystem::permissions(folder.at("tokens"), std::filesystem::perms(0600));
    return TokenTable::read(folder.at("tokens"));
  }
  std::string problem(const std::string& text) const {
    const auto table = read(text);
    return table ? "" : table.error().message;
  }
};

TEST_F(Tokens, HaveUserRoleAndUsersToRunAs) {
  const auto table = read("# token user role run-as\n\n" + good + " alice submit build,test\n");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->check(good)->user, "alice");
  EXPECT_EQ(table->check(good)->runAs, (std::vector<std::string>{"build", "test"}));
}

TEST_F(Tokens, AreRefusedWithTheLineAndWhatIsWrongWithIt) {
  const std::string tooFew = std::string(31, 's');
  const std::string tooShort = problem("#\n" + tooFew + " alice submit\n");
  EXPECT_THAT(tooShort, HasSubstr("tokens:2: token: has 31 characters; write at least 32"));
  EXPECT_THAT(tooShort, Not(HasSubstr(tooFew))) << "it goes into logs";
  EXPECT_THAT(tooShort, EndsWith("; a line is TOKEN USER ROLE [RUN-AS,...]"));
  EXPECT_THAT(problem(good + " alice\n"), HasSubstr("tokens:1: role: is missing; write one of submit"));
  EXPECT_THAT(problem(good + "\n"), HasSubstr("role: is missing"));
  EXPECT_THAT(problem(good + " alice king\n"), HasSubstr("role: 'king' is none; write one of submit"));
  EXPECT_THAT(problem(good + " alice submit build, test\n"), HasSubstr("more behind RUN-AS, from 'test' on"));
}

}  // namespace tarcil::token_test
