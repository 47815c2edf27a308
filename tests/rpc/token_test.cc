// What is said of a file of tokens that cannot be used.
#include "rpc/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

// --- Adding

struct AddedTokens : Tokens {
  const std::string path = folder.at("master/tokens");

  static TokenTable::Entry entryOf(const std::string& user) {
    return {makeToken(), {user, Role::kSubmit, {"nobody"}}};
  }
  static std::filesystem::perms modeOf(const std::string& file) {
    return std::filesystem::status(file).permissions();
  }
  std::string text() const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(Tokens, OfAFileThatSomebodyElseOwnsAreNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give a file away";
  ASSERT_TRUE(read(good + " alice submit\n").ok());
  const std::string path = folder.at("tokens");
  EXPECT_TRUE(TokenTable::readOwn(path).ok());
  ASSERT_EQ(::chown(path.c_str(), 65'534, 65'534), 0);
  EXPECT_THAT(TokenTable::readOwn(path).error().message, HasSubstr("belongs to user id 65534"));
}

TEST_F(AddedTokens, AreInAFileThatTheMasterTakesAlsoWhereThereWasNone) {
  const auto ann = entryOf("ann"), bob = entryOf("bob");
  ASSERT_TRUE(TokenTable::add(path, ann).ok());
  ASSERT_TRUE(TokenTable::add(path, bob).ok());
  const auto table = TokenTable::read(path);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->check(ann.token)->user, "ann");
  EXPECT_EQ(table->check(bob.token)->user, "bob");
  EXPECT_EQ(modeOf(path), std::filesystem::perms(0600));
  EXPECT_EQ(modeOf(folder.at("master")), std::filesystem::perms(0700));
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_F(AddedTokens, LeaveWhatIsThereAsItIs) {
  ASSERT_TRUE(read("# of the night shift\n" + good + " alice submit nobody").ok());
  const auto ann = entryOf("ann");
  ASSERT_TRUE(TokenTable::add(folder.at("tokens"), ann).ok());
  std::ifstream in(folder.at("tokens"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text,
            "# of the night shift\n" + good + " alice submit nobody\n" + TokenTable::lineOf(ann) + "\n");
}

TEST_F(AddedTokens, AreRefusedWhereTheUserIsThereOthersMayReadTheFileOrALineIsWrong) {
  ASSERT_TRUE(TokenTable::add(path, entryOf("ann")).ok());
  const std::string before = text();
  const auto twice = TokenTable::add(path, entryOf("ann"));
  ASSERT_FALSE(twice.ok());
  EXPECT_THAT(twice.error().message, HasSubstr("has a token of 'ann'; name another user"));
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  const auto open = TokenTable::add(path, entryOf("bob"));
  ASSERT_FALSE(open.ok());
  EXPECT_THAT(open.error().message, HasSubstr("run: chmod 600 "));
  EXPECT_EQ(text(), before);
  ASSERT_FALSE(read("short ann submit\n").ok());
  EXPECT_FALSE(TokenTable::add(folder.at("tokens"), entryOf("bob")).ok());
}

}  // namespace tarcil::token_test
