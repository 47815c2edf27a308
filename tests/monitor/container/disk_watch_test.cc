// Which trees are found to be too large, on real folders.
#include "monitor/container/disk_watch.h"

#include <gmock/gmock.h>
#include <poll.h>

#include "tests/support/scratch_folder.h"

namespace tarcil::disk_watch_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kLimit = 1 << 20;

class DiskWatchTest : public testing::Test {
 protected:
  // Of 800 kB each; whole once it is there: the watch looks all the time.
  void write(const std::string& name) {
    folder_.write("whole", std::string(800'000, 'x'));
    std::filesystem::create_directories(std::filesystem::path(folder_.at(name)).parent_path());
    std::filesystem::rename(folder_.at("whole"), folder_.at(name));
  }
  void watch(AllocationId allocation, const std::string& name, bool isQuota = false) {
    watch_.watch(allocation, {folder_.at(name + "/work"), folder_.at(name + "/tmp"), ""}, {kLimit, isQuota});
  }
  std::vector<DiskWatch::Overrun> next() {
    pollfd ready{watch_.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, -1), 1);
    return watch_.overruns();
  }

  ScratchFolder folder_;
  DiskWatch watch_{std::chrono::milliseconds(1)};
};

TEST_F(DiskWatchTest, FindsATaskWhoseFoldersTogetherAreTooLargeAndOnlyOnce) {
  for (const char* name : {"first/work/file", "second/work/file", "second/tmp/file", "third/tmp/file"})
    write(name);
  watch(1, "first");
  watch(2, "second");
  watch(3, "third");
  const auto found = next();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].allocation, 2u);
  EXPECT_THAT(found[0].problem,
              HasSubstr("took up 1.5MiB on the disk, more than its 1MiB (limits.disk of the job)"));
  // Each of the next is found in a round of its own.
  write("first/tmp/file");
  EXPECT_EQ(next().at(0).allocation, 1u);
  write("third/work/file");
  const auto last = next();
  ASSERT_THAT(last, SizeIs(1));
  EXPECT_EQ(last[0].allocation, 3u);
  EXPECT_THAT(watch_.overruns(), IsEmpty());
}

TEST_F(DiskWatchTest, LeavesATaskThatHasAQuotaUntilItTakesUpTwiceAsMuch) {
  for (const char* name : {"first/work/a", "first/tmp/b", "second/work/a", "second/tmp/b"}) write(name);
  watch(1, "first", true);
  watch(2, "second");
  EXPECT_EQ(next().at(0).allocation, 2u);
  // This is found in a round after that in which the first was found to have less than that.
  write("third/work/a");
  write("third/tmp/b");
  watch(3, "third");
  EXPECT_EQ(next().at(0).allocation, 3u);
  write("first/work/c");
  const auto found = next();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].problem, HasSubstr("took up 2.3MiB on the disk, more than its 1MiB"));
}

TEST_F(DiskWatchTest, LeavesWhatIsForgotten) {
  for (const char* name : {"first/work/a", "second/work/a"}) write(name);
  watch(1, "first");
  watch(2, "second");
  watch_.forget(1);
  for (const char* name : {"first/work/b", "second/work/b"}) write(name);
  const auto found = next();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].allocation, 2u);
}

}  // namespace tarcil::disk_watch_test
