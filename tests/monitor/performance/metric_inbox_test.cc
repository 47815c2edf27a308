#include "monitor/performance/metric_inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace tarcil::metric_inbox_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Optional;

// A task's private folder below one that only the monitor writes to.
struct TaskFolder {
  TaskFolder() { fs::create_directory(work()); }
  std::string work() const { return root.path() + "/work"; }
  std::string socket() const { return work() + "/" + kMetricSocketName; }
  std::string file() const { return work() + "/" + kMetricFileName; }
  std::unique_ptr<MetricInbox> open() const {
    auto inbox = MetricInbox::open(work(), root.path());
    EXPECT_TRUE(inbox.ok()) << (inbox ? "" : inbox.error().message);
    return std::move(*inbox);
  }

  // As a task would.
  bool send(const std::string& text) const {
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::snprintf(to.sun_path, sizeof to.sun_path, "%s", socket().c_str());
    const bool sent = ::sendto(fd, text.data(), text.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&to),
                               sizeof to) == static_cast<ssize_t>(text.size());
    ::close(fd);
    return sent;
  }
  void write(const std::string& text) const { std::ofstream(file()) << text; }

  TemporaryFolder root;
};

TEST(MetricInbox, TakesTheLatestThatWasSent) {
  const TaskFolder task;
  const auto inbox = task.open();
  EXPECT_EQ(inbox->take(), std::nullopt);
  ASSERT_TRUE(task.send("ops 5\n"));
  ASSERT_TRUE(task.send("7.5"));
  EXPECT_THAT(inbox->take(), Optional(7.5));
  EXPECT_EQ(inbox->take(), std::nullopt);
}

TEST(MetricInbox, TakesTheFileWhenItWasWritten) {
  const TaskFolder task;
  const auto inbox = task.open();
  task.write("12\n");
  EXPECT_THAT(inbox->take(), Optional(12));
  EXPECT_EQ(inbox->take(), std::nullopt);  // nobody has said it again
  task.write("13\n");
  fs::last_write_time(task.file(), fs::last_write_time(task.file()) + std::chrono::seconds(1));
  EXPECT_THAT(inbox->take(), Optional(13));
}

TEST(MetricInbox, EveryUserMaySend) {
  const TaskFolder task;
  const auto inbox = task.open();
  struct stat info {};
  ASSERT_EQ(::lstat(task.socket().c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0777u, 0666u);
}

TEST(MetricInbox, AFloodIsReadInPartAndCounted) {
  const TaskFolder task;
  const auto inbox = task.open();
  int sent = 0;
  while (sent < 500 && task.send("1")) ++sent;  // then the kernel takes no more
  ASSERT_GT(sent, 8);
  EXPECT_THAT(inbox->take(), Optional(1));
  EXPECT_EQ(inbox->dropped(), static_cast<uint64_t>(sent) - 8);
  EXPECT_TRUE(task.send("2"));
  EXPECT_THAT(inbox->take(), Optional(2));
}

TEST(MetricInbox, NamesWhatItCannotReadOnceAndGoesOn) {
  const TaskFolder task;
  const auto inbox = task.open();
  task.send("very fast\nindeed it is");
  EXPECT_EQ(inbox->take(), std::nullopt);
  EXPECT_THAT(inbox->problem(), Optional(HasSubstr("datagram: line 1: neither VALUE nor NAME VALUE")));
  task.send("nonsense");
  task.send("4");
  EXPECT_THAT(inbox->take(), Optional(4));
  EXPECT_EQ(inbox->problem(), std::nullopt);
}

TEST(MetricInbox, FollowsNoLinkOfTheTask) {
  const TaskFolder task;
  const std::string secret = task.root.path() + "/secret";
  std::ofstream(secret) << "5\n";
  fs::permissions(secret, fs::perms::owner_all);
  fs::create_symlink(secret, task.socket());
  fs::create_symlink(secret, task.file());
  const auto inbox = task.open();
  EXPECT_EQ(inbox->take(), std::nullopt);
  EXPECT_EQ(fs::status(secret).permissions(), fs::perms::owner_all);
  EXPECT_FALSE(fs::is_symlink(task.socket()));
  EXPECT_TRUE(task.send("3"));
  EXPECT_THAT(inbox->take(), Optional(3));
}

TEST(MetricInbox, DoesNotWaitForAPipeOfTheTask) {
  const TaskFolder task;
  const auto inbox = task.open();
  ASSERT_EQ(::mkfifo(task.file().c_str(), 0666), 0);
  EXPECT_EQ(inbox->take(), std::nullopt);
}

TEST(MetricInbox, AFolderInItsPlaceIsAnErrorAndNoHarm) {
  const TaskFolder task;
  fs::create_directory(task.socket());
  EXPECT_THAT(MetricInbox::open(task.work(), task.root.path()).error().message, HasSubstr("put a socket"));
}

TEST(MetricInbox, ASuccessorTakesTheSocketOver) {
  const TaskFolder task;
  task.open();
  EXPECT_FALSE(task.send("1"));  // nobody is there
  const auto inbox = task.open();
  EXPECT_TRUE(task.send("2"));
  EXPECT_THAT(inbox->take(), Optional(2));
}

TEST(MetricInbox, ALongFileIsNamedAndNotRead) {
  const TaskFolder task;
  const auto inbox = task.open();
  task.write(std::string(1 << 20, '1'));
  EXPECT_EQ(inbox->take(), std::nullopt);
  EXPECT_THAT(inbox->problem(), Optional(HasSubstr("file: longer than 4096 bytes")));
}

}  // namespace tarcil::metric_inbox_test
