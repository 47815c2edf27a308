#include "monitor/container/task_store.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>

#include "monitor/container/task_output.h"
#include "tests/monitor/container/container_fixture.h"

namespace tarcil::task_store_test {

class TaskStoreTest : public testing::Test {
 protected:
  // Opens the store as a new monitor does.
  TaskStore& open(KeepDone keep = {}) {
    store_.reset();
    store_ = std::move(*TaskStore::open(data(), keep));
    return *store_;
  }
  TaskStore& store() { return *store_; }
  // A task that has ended with this output.
  void end(AllocationId allocation, const std::string& output, const std::string& submitter = "") {
    LaunchSpec spec = taskOf(allocation, {"true"});
    spec.submitter = submitter;
    ASSERT_TRUE(store_->record(spec).ok());
    ASSERT_TRUE(store_->lockForStart(allocation).ok());
    ASSERT_TRUE(store_->makeWork(allocation, ::getuid(), ::getgid()).ok());
    std::ofstream(store_->directory(allocation) + "/stdout") << output;
    std::ofstream(store_->directory(allocation) + "/exit") << lostRecord();
  }
  Result<std::string> output(AllocationId allocation) const {
    return text(allocation, Stream::kStdout, 0, 100);
  }
  Result<std::string> text(AllocationId allocation, Stream stream, uint64_t offset, size_t max) const {
    auto part = readOutput(data(), allocation, stream, offset, max);
    if (!part) return part.error();
    return part->text;
  }
  static WallTime wall() { return systemClock().now().wall; }
  std::string data() const { return folder_.path() + "/data"; }

 private:
  static std::string lostRecord() { return "cause exited\ncode 0\ncomplete\n"; }

  TemporaryFolder folder_;
  std::unique_ptr<TaskStore> store_;
};

// A file system of its own below the test's folder, with nothing left on it.
class FullDisk final {
 public:
  explicit FullDisk(const std::string& path) : path_(path) {
    std::filesystem::create_directories(path_);
    if (::mount("tarcil-test", path_.c_str(), "tmpfs", 0, "size=256k") != 0) path_.clear();
  }
  ~FullDisk() { ::umount2(path_.c_str(), MNT_DETACH); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  bool works() const { return !path_.empty(); }
  void fill() const {
    std::ofstream file(path_ + "/filler", std::ios::binary);
    const std::string page(4096, 'x');
    while (file.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
  }
  void makeRoom() const { std::filesystem::remove(path_ + "/filler"); }

 private:
  std::string path_;
};

TEST_F(TaskStoreTest, AFullDiskHasRoomForWhatItsMonitorHasToSayOfTasks) {
  const FullDisk disk(data());
  if (!disk.works()) GTEST_SKIP() << "cannot mount a file system";
  constexpr AllocationId kTasks = SpareFiles::kMax + 2;
  open();
  for (AllocationId task = 1; task <= kTasks; ++task)
    ASSERT_TRUE(store().record(taskOf(task, {"true"})).ok());
  disk.fill();
  size_t said = 0;
  for (AllocationId task = 1; task <= kTasks; ++task) {
    said += store().recordReason(task, EndCause::kTimedOut).ok() ? 1 : 0;
  }
  EXPECT_EQ(said, SpareFiles::kMax) << "as often as was set aside";
  EXPECT_EQ(open().reason(1), EndCause::kTimedOut);

  disk.makeRoom();
  store().forget(1, wall());
  disk.fill();
  EXPECT_TRUE(store().recordUnits(2, {0, 1}).ok()) << "they are made again";
  EXPECT_EQ(store().units(2), (std::vector<RuIndex>{0, 1}));
}

TEST_F(TaskStoreTest, KeepsTheNewestTasksByNumber) {
  TaskStore& store = open({.tasks = 2});
  for (AllocationId allocation = 1; allocation <= 4; ++allocation) {
    end(allocation, "output " + std::to_string(allocation));
    store.forget(allocation, wall());
  }
  EXPECT_EQ(output(4).value(), "output 4");
  EXPECT_EQ(output(3).value(), "output 3");
  EXPECT_EQ(output(2).error().code, ErrorCode::kNotFound);
}

TEST_F(TaskStoreTest, KeepsTheNewestTasksBySize) {
  TaskStore& store = open({.tasks = 100, .bytes = 25'000});
  for (AllocationId allocation = 1; allocation <= 3; ++allocation) {
    end(allocation, std::string(10'000, 'x'));  // 12 KiB of the disk
    store.forget(allocation, wall());
  }
  EXPECT_TRUE(output(2).ok());
  EXPECT_FALSE(output(1).ok());
}

TEST_F(TaskStoreTest, KnowsWhoseTasksAreKeptAcrossMonitors) {
  open();
  const auto endAndForget = [this](AllocationId allocation, const std::string& submitter) {
    end(allocation, submitter, submitter);
    store().forget(allocation, wall());
  };
  endAndForget(1, "alice");
  endAndForget(2, "bob");
  open({.tasks = 2});
  endAndForget(3, "bob");
  EXPECT_TRUE(output(1).ok()) << "the oldest, and alice's only one";
  EXPECT_FALSE(output(2).ok());
  EXPECT_TRUE(output(3).ok());
}

TEST_F(TaskStoreTest, KeepsNoOutputThatIsTooOld) {
  open({.age = std::chrono::hours(2)});
  const WallTime now = wall();
  end(1, "one");
  store().forget(1, now);
  end(2, "two");
  store().forget(2, now + std::chrono::hours(1));
  store().prune(now + std::chrono::hours(2) + std::chrono::seconds(1));
  EXPECT_FALSE(output(1).ok());
  EXPECT_TRUE(output(2).ok());
  // A successor goes by when the folder was put there.
  open({.age = std::chrono::hours(2)}).prune(wall() + std::chrono::hours(1));
  EXPECT_TRUE(output(2).ok());
  store().prune(wall() + std::chrono::hours(3));
  EXPECT_FALSE(output(2).ok());
}

TEST_F(TaskStoreTest, AReusedFolderHasNothingOfItsFormerTask) {
  TaskStore& store = open({.tasks = 1});
  end(1, "secret");
  std::ofstream(store.directory(1) + "/work/file") << "secret";
  std::ofstream(store.directory(1) + "/tmp/file") << "secret";
  ASSERT_TRUE(store.recordReason(1, EndCause::kCancelled).ok());
  ASSERT_TRUE(store.recordUnits(1, {0, 1}).ok());
  ASSERT_TRUE(store.recordOverrun(1, "too much").ok());
  ASSERT_TRUE(store.recordImage(1, "sha256:1").ok());
  EXPECT_EQ(store.overrun(1), "too much");
  store.forget(1, wall());
  LaunchSpec next = taskOf(2, {"true"});
  next.container.image = "oci:/a";
  ASSERT_TRUE(store.record(next).ok());
  ASSERT_TRUE(store.makeWork(2, ::getuid(), ::getgid()).ok());
  EXPECT_FALSE(output(1).ok());
  EXPECT_EQ(output(2).value(), "");
  EXPECT_EQ(store.launch(2)->command, std::vector<std::string>{"true"});
  EXPECT_EQ(store.exit(2), std::nullopt);
  EXPECT_EQ(store.started(2), std::nullopt);
  EXPECT_EQ(store.reason(2), std::nullopt);
  EXPECT_EQ(store.units(2), std::nullopt);
  EXPECT_EQ(store.overrun(2), std::nullopt);
  EXPECT_EQ(store.launch(2)->container.imageDigest, "");
  ASSERT_TRUE(store.recordImage(2, "sha256:2").ok());
  EXPECT_EQ(store.launch(2)->container.imageDigest, "sha256:2");
  EXPECT_TRUE(std::filesystem::is_empty(store.directory(2) + "/work"));
  EXPECT_TRUE(std::filesystem::is_empty(store.directory(2) + "/tmp"));
}

TEST_F(TaskStoreTest, RemembersWhatIsKeptAcrossMonitors) {
  open();
  end(1, "one");
  end(2, "two");
  open({.tasks = 1}).forget(2, wall());
  EXPECT_TRUE(output(1).ok());  // not forgotten
  open({.tasks = 1}).forget(1, wall());
  EXPECT_TRUE(output(1).ok());
  EXPECT_FALSE(output(2).ok());
}

TEST_F(TaskStoreTest, RemembersTheNewestAllocationsThatAreOver) {
  open({.tasks = 3});
  end(1, "one");
  for (const AllocationId allocation : {1, 5, 5, 6, 7})
    store().forget(allocation, wall());  // 5 to 7 were never here
  EXPECT_EQ(store().forgotten(), (std::vector<AllocationId>{5, 6, 7}));
  EXPECT_EQ(open({.tasks = 3}).forgotten(), (std::vector<AllocationId>{5, 6, 7}));
  ASSERT_TRUE(store().record(taskOf(8, {"true"})).ok());
  EXPECT_EQ(store().launch(8)->command, std::vector<std::string>{"true"});
  EXPECT_EQ(store().tasks(), std::vector<AllocationId>{8});
}

TEST_F(TaskStoreTest, KeepsTheReasonForWhichATaskIsEnded) {
  open();
  ASSERT_TRUE(store().record(taskOf(1, {"true"})).ok());
  EXPECT_EQ(store().reason(1), std::nullopt);
  for (const EndCause reason : {EndCause::kCancelled, EndCause::kTimedOut}) {
    ASSERT_TRUE(store().recordReason(1, reason).ok());
    EXPECT_EQ(store().reason(1), reason);
  }
  std::ofstream(store().directory(1) + "/reason") << "timed-";
  EXPECT_EQ(store().reason(1), std::nullopt);
}

TEST_F(TaskStoreTest, KeepsTheUnitsThatATaskWasGiven) {
  open();
  ASSERT_TRUE(store().record(taskOf(1, {"true"})).ok());
  EXPECT_EQ(store().units(1), std::nullopt);
  for (const std::vector<RuIndex>& rus : {std::vector<RuIndex>{3, 17, 4}, {3}}) {
    ASSERT_TRUE(store().recordUnits(1, rus).ok());
    EXPECT_EQ(store().units(1), rus);
  }
  for (const char* torn : {"", "\n", "3 17", "3 1", "3,17 \n", "3 99999 \n"}) {
    std::ofstream(store().directory(1) + "/units") << torn;
    EXPECT_EQ(store().units(1), std::nullopt) << torn;
  }
}

TEST_F(TaskStoreTest, ARepeatedRecordChangesNothing) {
  TaskStore& store = open();
  ASSERT_TRUE(store.record(taskOf(1, {"first"})).ok());
  ASSERT_TRUE(store.record(taskOf(1, {"second"})).ok());
  EXPECT_EQ(store.launch(1)->command, std::vector<std::string>{"first"});
}

TEST_F(TaskStoreTest, TheLockOfATaskIsGivenOnce) {
  TaskStore& store = open();
  ASSERT_TRUE(store.record(taskOf(1, {"true"})).ok());
  EXPECT_FALSE(store.lockHeld(1));
  {
    const auto lock = store.lockForStart(1);
    ASSERT_TRUE(lock.ok());
    EXPECT_TRUE(store.lockHeld(1));
    EXPECT_EQ(store.lockForStart(1).error().code, ErrorCode::kConflict);
    EXPECT_EQ(store.supervisor(1), std::nullopt);
  }
  EXPECT_FALSE(store.lockHeld(1));
}

TEST_F(TaskStoreTest, OutputIsReadInParts) {
  open();
  end(1, "0123456789");
  EXPECT_EQ(text(1, Stream::kStdout, 3, 4).value(), "3456");
  EXPECT_EQ(text(1, Stream::kStdout, 8, 4).value(), "89");
  EXPECT_EQ(text(1, Stream::kStdout, 10, 4).value(), "");
  EXPECT_EQ(text(1, Stream::kStderr, 0, 4).value(), "");
  EXPECT_EQ(text(9, Stream::kStdout, 0, 4).error().code, ErrorCode::kNotFound);
}

TEST_F(TaskStoreTest, RefusesAFolderThatAnotherMonitorUses) {
  open();
  const auto second = TaskStore::open(data(), {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
}

}  // namespace tarcil::task_store_test
