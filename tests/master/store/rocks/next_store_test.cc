#include "master/store/rocks/next_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace tarcil::next_store_test {

namespace fs = std::filesystem;

class NextStore : public testing::Test {
 protected:
  void make(const std::string& folder, const std::string& content) {
    fs::create_directories(folder);
    std::ofstream(folder + "/CURRENT") << content;
  }
  std::string contentOf(const std::string& folder) {
    std::string content;
    std::ifstream(folder + "/CURRENT") >> content;
    return content;
  }
  std::string store() const { return folder_.path() + "/store"; }

  TemporaryFolder folder_;
  const WallTime now_{std::chrono::seconds(1'700'000'000)};
};

TEST_F(NextStore, TakesThePlaceOfTheStoreThatIsThere) {
  make(store(), "present");
  EXPECT_EQ(takeNextStore(store(), now_).value(), std::nullopt) << "none waits";
  make(nextStore(store()), "restored");
  const auto former = takeNextStore(store(), now_).value();
  EXPECT_EQ(former, store() + ".before-1700000000");
  EXPECT_EQ(contentOf(store()), "restored");
  EXPECT_EQ(contentOf(*former), "present");
  make(nextStore(store()), "again");
  EXPECT_EQ(takeNextStore(store(), now_).value(), store() + ".before-1700000000-1");
  EXPECT_EQ(contentOf(*former), "present");
}

TEST_F(NextStore, GoesOnAfterACrashBetweenTheNames) {
  make(nextStore(store()), "restored");
  EXPECT_EQ(takeNextStore(store(), now_).value(), "");
  EXPECT_EQ(contentOf(store()), "restored");
  EXPECT_FALSE(fs::exists(nextStore(store())));
}

TEST_F(NextStore, IsNotTakenUnderAMasterThatRuns) {
  // As RocksDB locks it. A lock does not keep its own process out.
  int made[2], end[2];
  ASSERT_EQ(::pipe(made), 0);
  ASSERT_EQ(::pipe(end), 0);
  make(store(), "present");
  make(nextStore(store()), "restored");
  const std::string lockFile = store() + "/LOCK";
  const pid_t master = ::fork();
  if (master == 0) {
    ::close(end[1]);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    const int file = ::open(lockFile.c_str(), O_RDWR | O_CREAT, 0600);
    char byte = ::fcntl(file, F_SETLK, &lock) == 0 ? 'y' : 'n';
    if (::write(made[1], &byte, 1) != 1) ::_exit(1);
    ::_exit(static_cast<int>(::read(end[0], &byte, 1)));
  }
  char locked = 0;
  ASSERT_EQ(::read(made[0], &locked, 1), 1);
  ASSERT_EQ(locked, 'y');
  EXPECT_EQ(userOfStore(store()), master);
  EXPECT_EQ(takeNextStore(store(), now_).error().code, ErrorCode::kConflict);
  EXPECT_EQ(contentOf(nextStore(store())), "restored");
  for (const int fd : {made[0], made[1], end[0], end[1]}) ::close(fd);
  int status = 0;
  ::waitpid(master, &status, 0);
  EXPECT_TRUE(takeNextStore(store(), now_).value());
  EXPECT_EQ(contentOf(store()), "restored");
}

}  // namespace tarcil::next_store_test
