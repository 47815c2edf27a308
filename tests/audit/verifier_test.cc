#include "audit/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarcil::verifier_test {

using namespace audit;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using File = std::vector<std::string>;

Entry entry(const std::string& object, const std::string& action = "job.cancel") {
  return {.time = WallTime(std::chrono::hours(1'000'000)), .action = action, .object = object};
}

// So many entries from where the chain is.
File entries(Chain& chain, size_t count, const std::string& object = "job") {
  File file;
  for (size_t i = 0; i < count; ++i) {
    std::string line;
    chain.add(entry(object + std::to_string(i)), line);
    line.pop_back();
    file.push_back(line);
  }
  return file;
}

File rotation(Chain& chain, uint64_t through) {
  std::string line;
  chain.add(entry(std::to_string(through), kRotated), line);
  line.pop_back();
  return {line};
}

Verifier verified(const std::vector<File>& files, const std::optional<Link>& head = std::nullopt) {
  Verifier verifier;
  for (size_t i = 0; i < files.size() && !verifier.problem(); ++i) {
    verifier.beginFile("file" + std::to_string(i + 1));
    for (const std::string& line : files[i]) {
      if (!verifier.take(line)) break;
    }
  }
  verifier.finish(head);
  return verifier;
}

// "file:line: what"
std::string problemOf(const std::vector<File>& files, const std::optional<Link>& head = std::nullopt) {
  const Verifier verifier = verified(files, head);
  if (!verifier.problem()) return "";
  return verifier.problem()->file + ":" + std::to_string(verifier.problem()->line) + ": " +
         verifier.problem()->what;
}

class Log : public testing::Test {
 protected:
  Chain chain_;
  std::vector<File> files_{entries(chain_, 5), entries(chain_, 5), entries(chain_, 5)};
};

TEST_F(Log, ThatIsAsItWasWrittenIsWhole) {
  const Verifier verifier = verified(files_, chain_.last());
  EXPECT_FALSE(verifier.problem());
  EXPECT_EQ(verifier.entries(), 15u);
  EXPECT_EQ(verifier.last(), chain_.last());
}

TEST_F(Log, WithALineChangedIsFound) {
  files_[1][2].replace(files_[1][2].find("job2"), 4, "job3");
  EXPECT_THAT(problemOf(files_), HasSubstr("file2:3: was changed"));
}

TEST_F(Log, WithALineTakenOutIsFound) {
  files_[1].erase(files_[1].begin() + 2);
  EXPECT_EQ(problemOf(files_), "file2:3: entry 8 is missing before it");
}

TEST_F(Log, WithTwoLinesSwappedIsFound) {
  std::swap(files_[1][2], files_[1][3]);
  EXPECT_EQ(problemOf(files_), "file2:3: entry 8 is missing before it");
}

TEST_F(Log, WithALineTwiceIsFound) {
  files_[1].insert(files_[1].begin() + 2, files_[1][1]);
  EXPECT_EQ(problemOf(files_), "file2:3: entry 7 stands behind a later one");
}

TEST_F(Log, WithALineMadeAnewIsFoundAtTheNext) {
  Chain other;
  for (int i = 0; i < 7; ++i) entries(other, 1, "forged");
  files_[1][2] = entries(other, 1, "forged")[0];
  EXPECT_THAT(problemOf(files_), HasSubstr("file2:3: does not follow"));
}

TEST_F(Log, WithoutOneOfItsFilesIsFound) {
  EXPECT_EQ(problemOf({files_[0], files_[2]}), "file2:1: entries 6 to 10 are missing before it");
  EXPECT_TRUE(verified({files_[0], files_[2]}).problem()->isGap);
}

TEST_F(Log, WithoutItsFirstFileIsFoundWhereRotationDoesNotSayIt) {
  EXPECT_THAT(problemOf({files_[1], files_[2]}), HasSubstr("file1:1: entries 1 to 5 are missing"));
  files_[2].push_back(rotation(chain_, 5)[0]);
  EXPECT_EQ(problemOf({files_[1], files_[2]}), "");
  EXPECT_THAT(problemOf({files_[2]}), HasSubstr("file1:1: entries 6 to 10 are missing"));
}

TEST_F(Log, CutAtItsEndIsFoundByItsHead) {
  files_[2].pop_back();
  EXPECT_EQ(problemOf(files_), "");
  EXPECT_EQ(problemOf(files_, chain_.last()), "file3:4: entry 15 is missing behind it");
  files_.pop_back();
  EXPECT_EQ(problemOf(files_, chain_.last()), "file2:5: entries 11 to 15 are missing behind it");
}

TEST_F(Log, MadeAnewIsFoundByItsHead) {
  Chain other;
  EXPECT_THAT(problemOf({entries(other, 15, "forged")}, chain_.last()),
              HasSubstr("entry 15 is not the one that was written"));
}

TEST_F(Log, OfAStoreThatWasSetBackGoesOnAndSaysSo) {
  Chain back(Link{12, placeOf(files_[2][1])->self.hash});
  files_.push_back(entries(back, 4, "later"));
  const Verifier verifier = verified(files_, back.last());
  EXPECT_FALSE(verifier.problem());
  ASSERT_THAT(verifier.notes(), SizeIs(1));
  EXPECT_THAT(verifier.notes()[0], HasSubstr("goes on from entry 12 again"));
  EXPECT_EQ(verifier.last(), back.last());
}

TEST_F(Log, OfANewStoreBeginsAnewAndSaysSo) {
  Chain other;
  files_.push_back(entries(other, 3, "new"));
  const Verifier verifier = verified(files_, other.last());
  EXPECT_FALSE(verifier.problem());
  EXPECT_THAT(verifier.notes()[0], HasSubstr("a new log begins"));
}

TEST_F(Log, OfSeveralMastersMayHaveEntriesTwice) {
  File second{files_[1][3], files_[1][4]};
  second.insert(second.end(), files_[2].begin(), files_[2].end());
  EXPECT_EQ(problemOf({files_[0], files_[1], second}, chain_.last()), "");
}

TEST_F(Log, EmptyIsWholeWhereNothingWasWritten) {
  EXPECT_EQ(problemOf({}), "");
  EXPECT_EQ(problemOf({}, Link{}), "");
  EXPECT_THAT(problemOf({}, chain_.last()), HasSubstr("entries 1 to 15 are missing"));
}

// Whatever is done to whole lines: where they are not the same, in the same order, it is found.
RC_GTEST_PROP(Logs, ThatAreNotAsTheyWereWrittenAreFound, ()) {
  Chain chain;
  const File written = entries(chain, *rc::gen::inRange<size_t>(1, 20));
  File changed = written;
  const auto times = *rc::gen::inRange(1, 4);
  for (int i = 0; i < times && !changed.empty(); ++i) {
    const auto at = *rc::gen::inRange<size_t>(0, changed.size());
    const auto to = *rc::gen::inRange<size_t>(0, changed.size());
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        std::swap(changed[at], changed[to]);
        break;
      case 2:
        changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(to), std::string(changed[at]));
        break;
      default:
        changed[at][*rc::gen::inRange<size_t>(0, changed[at].size())] = *rc::gen::inRange('a', 'z');
    }
  }
  // In files as it happens: where one ends is no matter.
  std::vector<File> files(1);
  for (const std::string& line : changed) {
    if (!files.back().empty() && *rc::gen::inRange(0, 4) == 0) files.emplace_back();
    files.back().push_back(line);
  }
  const bool isWhole = problemOf(files, chain.last()).empty();
  // What is there a second time, at the begin of a file, is what several masters may have.
  File once;
  for (const File& file : files) {
    for (const std::string& line : file) {
      if (std::find(once.begin(), once.end(), line) == once.end()) once.push_back(line);
    }
  }
  RC_ASSERT(!isWhole || once == written);
  RC_ASSERT(isWhole || changed != written);
}

}  // namespace tarcil::verifier_test
