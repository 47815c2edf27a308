// The two programs that are one command: what the small one is made of, and how it finds the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::programs_test {

using testing::HasSubstr;

// The program tarcil in a folder of its own, as `cmake --install` puts it there.
class InstalledTest : public testing::Test {
 protected:
  InstalledTest() {
    std::filesystem::create_directories(folder_.path() / "bin");
    std::filesystem::copy_file(TARCIL_BINARY, bin());
  }

  std::filesystem::path bin() const { return folder_.path() / "bin/tarcil"; }
  std::filesystem::path libexec() const { return folder_.path() / "libexec/tarcil"; }
  ProcessResult run(Words arguments) const {
    arguments.insert(arguments.begin(), bin());
    return runProcess(arguments, {});
  }

  const ScratchFolder folder_;
};

TEST_F(InstalledTest, WithoutTarcildDoesWhatNeedsNoneAndNamesTheMissingFile) {
  EXPECT_EQ(run({"version"}).exitCode, 0);
  EXPECT_EQ(run({"--help"}).exitCode, 0);
  for (const Words& words : {Words{"up"}, Words{"sim", "--help"}, Words{"--help", "serve", "master"}}) {
    const ProcessResult result = run(words);
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr((folder_.path() / "bin/tarcild").string()));
    EXPECT_THAT(result.err, HasSubstr((libexec() / "tarcild").string()));
  }
}

TEST_F(InstalledTest, FindsTarcildInLibexec) {
  std::filesystem::create_directories(libexec());
  std::filesystem::create_symlink(TARCILD_BINARY, libexec() / "tarcild");
  const ProcessResult result = run({"sim", "--help"});
  EXPECT_EQ(result.exitCode, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Usage: tarcil sim"));
}

TEST_F(InstalledTest, SaysThatAFileIsNoProgram) {
  std::filesystem::create_directories(libexec());
  folder_.write("libexec/tarcil/tarcild", "");
  const ProcessResult result = run({"up"});
  EXPECT_EQ(result.exitCode, 1);
  EXPECT_THAT(result.err, HasSubstr((libexec() / "tarcild").string() + ": cannot be executed"));
}

TEST(Programs, SignalsAndExitCodesAreOfTheProcessThatWasStarted) {
  const ScratchFolder folder;
  folder.write("tokens", "agent-token-of-nobody-but-this-test-0001 a agent\n");
  std::filesystem::permissions(folder.at("tokens"), std::filesystem::perms::owner_read);
  Process master(
      tarcilWith({"serve", "master", "--data", folder.path(), "--listen", "unix:" + folder.at("master.sock"),
                  "--tokens", folder.at("tokens"), "--ready-fd", "1"}),
      {});
  ASSERT_TRUE(master.waitFor("ready")) << master.finish().err;
  master.signal(SIGTERM);
  const ProcessResult result = master.finish();
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.exitCode, 0) << result.err;
}

TEST(Programs, BothListTheSameCommands) {
  const ProcessResult small = runProcess({TARCIL_BINARY, "--help"}, {});
  const ProcessResult large = runProcess({TARCILD_BINARY, "--help"}, {});
  EXPECT_EQ(small.out, large.out);
  EXPECT_EQ(small.exitCode, 0);
  EXPECT_EQ(large.exitCode, 0);
}

// --- What the small program is made of ---

TEST(Programs, TheSmallOneHoldsNothingOfRolesStoresOrSimulations) {
  const ProcessResult symbols =
      runProcess({"/usr/bin/nm", "--demangle", "--defined-only", TARCIL_BINARY}, {});
  ASSERT_EQ(symbols.exitCode, 0) << symbols.err;
  EXPECT_THAT(symbols.out, HasSubstr("tarcil::Client::"));
  for (const char* piece : {"rocksdb::", "grpc::", "grpc_", "sqlite3_", "initscr",
                            "prometheus::", "spdlog::", "seccomp_", "mallctl", "tarcil::sim::",
                            "tarcil::MasterLogic::", "tarcil::MonitorLogic::", "tarcil::AgentLogic::"}) {
    EXPECT_EQ(symbols.out.find(piece), std::string::npos) << piece;
  }
}

#ifndef TARCIL_SANITIZED  // sanitizers bring libraries of their own
TEST(Programs, TheSmallOneNeedsTheCLibraryAlone) {
  const ProcessResult sections = runProcess({"/usr/bin/readelf", "--dynamic", TARCIL_BINARY}, {});
  ASSERT_EQ(sections.exitCode, 0) << sections.err;
  const std::regex needed(R"(\(NEEDED\).*\[(.*)\])");
  std::set<std::string> libraries;
  for (std::sregex_iterator i(sections.out.begin(), sections.out.end(), needed), end; i != end; ++i) {
    libraries.insert((*i)[1]);
  }
  EXPECT_THAT(libraries, testing::IsSubsetOf({"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}));
}
#endif

}  // namespace tarcil::programs_test
