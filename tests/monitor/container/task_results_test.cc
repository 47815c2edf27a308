// Which files of a tree that a task left are kept, and what of it is read again.
#include "monitor/container/task_results.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/io.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "monitor/container/result_search.h"
#include "monitor/container/tree_removal.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::task_results_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A task's folder, number 7 of an executor's.
class TaskResults : public testing::Test {
 protected:
  TaskResults() {
    for (const char* part : {"tasks/7/work", "done"}) fs::create_directories(data_.at(part));
  }

  std::string task() const { return data_.at("tasks/7"); }
  std::string work(const std::string& path) const { return data_.at("tasks/7/work/" + path); }
  void write(const std::string& path, const std::string& text) { data_.write("tasks/7/work/" + path, text); }
  // What is said of it.
  std::string keep(const std::vector<std::string>& patterns) {
    return keepResults(task(), patterns, systemClock());
  }
  std::vector<std::string> kept() const {
    std::vector<std::string> paths;
    if (const auto list = keptResults(task())) {
      for (const ResultFile& file : list->files) paths.push_back(file.path);
    }
    return paths;
  }
  std::string read(const std::string& path, uint64_t offset = 0, size_t max = 1000) const {
    const auto text = readResult(data_.path(), 7, path, offset, max);
    return text ? *text : "error: " + text.error().message;
  }

  ScratchFolder data_;
};

TEST_F(TaskResults, KeepsWhatMatchesByItsPath) {
  for (const char* path :
       {"report.txt", "out/a.csv", "out/b.csv", "out/deep/c.csv", "out/a.log", "other/a.csv"})
    write(path, std::string("content of ") + path);
  fs::permissions(work("out/b.csv"), fs::perms(0750));
  EXPECT_EQ(keep({"out/*.csv", "report.txt", "missing/*"}), "");
  EXPECT_THAT(kept(), ElementsAre("out/a.csv", "out/b.csv", "report.txt"));
  EXPECT_EQ(keptResults(task())->files[1], (ResultFile{"out/b.csv", 20, 0750}));
  EXPECT_EQ(read("out/b.csv"), "content of out/b.csv");
  EXPECT_EQ(read("out/b.csv", 11, 3), "out");
  EXPECT_EQ(read("out/b.csv", 20), "");
  EXPECT_TRUE(fs::exists(work("out/a.log")));
  EXPECT_FALSE(fs::exists(work("out/a.csv"))) << "it is moved, not copied";
}

TEST_F(TaskResults, AStarStandsForNoSlash) {
  write("a/b/c", "");
  write("a/c", "");
  keep({"*/c"});
  EXPECT_THAT(kept(), ElementsAre("a/c"));
}

// What is there in place of a file or of a folder on the way to it.
TEST_F(TaskResults, FollowsNoLinksAndKeepsOnlyFiles) {
  data_.write("secret/file", "secret");
  fs::create_symlink(data_.at("secret/file"), work("link"));
  fs::create_directory_symlink(data_.at("secret"), work("folder"));
  ASSERT_EQ(::mkfifo(work("fifo").c_str(), 0600), 0);
  fs::create_directories(work("directory"));
  EXPECT_EQ(keep({"*", "folder/file", "*/file"}), "");
  EXPECT_THAT(kept(), IsEmpty());
  EXPECT_TRUE(fs::exists(data_.at("secret/file")));
}

TEST_F(TaskResults, LeavesFilesOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  data_.write("roots", "secret");
  fs::create_hard_link(data_.at("roots"), work("linked"));
  write("own", "");
  for (const std::string& path : {work(""), work("own")}) ASSERT_EQ(::chown(path.c_str(), 1234, 1234), 0);
  EXPECT_EQ(keep({"*"}), "result file 'linked' was left: it is another user's");
  EXPECT_THAT(kept(), ElementsAre("own"));
}

TEST_F(TaskResults, KeepsNoMoreFilesThanItMay) {
  for (size_t i = 0; i < kMaxResultFiles + 2; ++i) write("f" + std::to_string(10'000 + i), "");
  EXPECT_EQ(
      keep({"f*"}),
      "result files left behind: 2, 'f11000' the first; at most 1000 files and 64MiB of a task are kept");
  EXPECT_EQ(kept().size(), kMaxResultFiles);
  EXPECT_EQ(keptResults(task())->left.substr(0, 25), "result files left behind:")
      << "a successor says it too";
}

TEST_F(TaskResults, KeepsNoMoreBytesThanItMayAndTheNextThatFits) {
  for (const char* name : {"a", "b", "c"}) write(name, "");
  fs::resize_file(work("a"), kMaxResultBytes - 10);  // holes
  fs::resize_file(work("b"), 11);
  fs::resize_file(work("c"), 10);
  EXPECT_THAT(keep({"?"}), HasSubstr("result files left behind: 1, 'b' the first"));
  EXPECT_THAT(kept(), ElementsAre("a", "c"));
}

// Never deeper than patterns are, and over no more entries than it may.
TEST_F(TaskResults, FindsItsWayInATreeThatIsDeepAndWide) {
  kj::AutoCloseFd folder(::open(work("").c_str(), O_RDONLY | O_DIRECTORY));
  for (int depth = 0; depth < 3'000; ++depth) {
    ASSERT_EQ(::mkdirat(folder, "d", 0700), 0);
    folder = kj::AutoCloseFd(::openat(folder, "d", O_RDONLY | O_DIRECTORY));
    ASSERT_GE(folder.get(), 0);
  }
  write("d/d/found", "");
  EXPECT_EQ(keep({"*/*/found", "d/d/d/*"}), "");
  EXPECT_THAT(kept(), ElementsAre("d/d/found"));
  removeTree(work(""));
}

TEST_F(TaskResults, GivesUpInAFolderOfTooManyAndSaysSo) {
  write("z", "");
  for (size_t i = 0; i <= ResultSearch::kMaxEntries; ++i) {
    ASSERT_EQ(::mknod(work("n" + std::to_string(i)).c_str(), S_IFREG | 0600, 0), 0);
  }
  EXPECT_EQ(keep({"z"}), "") << "a name is looked for by itself";
  EXPECT_THAT(kept(), ElementsAre("z"));
  EXPECT_THAT(keep({"y*"}), HasSubstr("not everything was searched for result files"));
}

TEST_F(TaskResults, TakesNamesOfAnyBytes) {
  const std::string name = "line\nand \xff";
  write(name, "content");
  keep({"line*"});
  EXPECT_THAT(kept(), ElementsAre(name));
  EXPECT_EQ(read(name), "content");
}

// A predecessor was killed on the way.
TEST_F(TaskResults, GoesOnWhereAnotherStopped) {
  write("a", "first");
  keep({"*"});
  fs::remove(task() + kResultsList);
  write("b", "second");
  EXPECT_EQ(keep({"*"}), "");
  EXPECT_THAT(kept(), ElementsAre("a", "b"));
  EXPECT_EQ(read("a"), "first");
}

TEST_F(TaskResults, AreListedPageByPage) {
  for (size_t i = 0; i < kMaxResultsPage + 1; ++i) write("f" + std::to_string(1'000 + i), "");
  keep({"*"});
  fs::rename(task(), data_.at("done/7"));
  const auto first = listResults(data_.path(), 7, "");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->files.size(), kMaxResultsPage);
  EXPECT_TRUE(first->more);
  const auto second = listResults(data_.path(), 7, first->files.back().path);
  ASSERT_EQ(second->files.size(), 1u);
  EXPECT_EQ(second->files[0].path, "f1256");
  EXPECT_FALSE(second->more);
  EXPECT_EQ(listResults(data_.path(), 8, "").error().code, ErrorCode::kNotFound);
}

TEST_F(TaskResults, AreNotReadFromElsewhere) {
  write("a", "content");
  keep({"*"});
  for (const char* path : {"../launch", "/etc/passwd", "", "a/..", "none"}) {
    EXPECT_EQ(readResult(data_.path(), 7, path, 0, 10).error().code, ErrorCode::kNotFound) << path;
  }
  EXPECT_EQ(readResult(data_.path(), 7, std::string("a\0b", 3), 0, 10).error().code, ErrorCode::kNotFound);
}

TEST(ResultsRecord, ComesBackAsItWasWritten) {
  const KeptResults kept{{{"a", 0, 0600}, {"b\n c", 12, 0755}}, "some were left"};
  const auto read = parseResultsRecord(resultsRecord(kept));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->files, kept.files);
  EXPECT_EQ(read->left, kept.left);
  using namespace std::string_literals;
  const std::vector<std::string> bad = {""s,
                                        "left"s,
                                        "\0 1 600 a"s,
                                        "\0x 600 a\0"s,
                                        "\0"
                                        "1 600 ../a\0"s,
                                        "\0"
                                        "1 7777 a\0"s};
  for (const std::string& text : bad) {
    EXPECT_FALSE(parseResultsRecord(text)) << text;
  }
}

}  // namespace tarcil::task_results_test
