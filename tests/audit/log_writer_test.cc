#include "audit/log_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

#include "audit/log_files.h"
#include "audit/verifier.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::log_writer_test {

using namespace audit;
using testing::HasSubstr;
using testing::SizeIs;

std::string entries(Chain& chain, size_t count, const std::string& object = "job 1") {
  std::string lines;
  for (size_t i = 0; i < count; ++i)
    chain.add({.time = WallTime(std::chrono::hours(1'000'000)), .action = "job.cancel", .object = object},
              lines);
  return lines;
}

class LogFolder : public testing::Test {
 protected:
  std::unique_ptr<LogWriter> open(std::string_view lines, const LogOptions& options = {}) const {
    auto writer = LogWriter::open(folder(), options, lines);
    if (!writer) throw std::runtime_error(writer.error().message);
    return std::move(*writer);
  }
  std::string folder() const { return scratch_.at("audit"); }
  std::vector<LogFile> files() const { return *filesOf(folder()); }
  std::string problem(const std::optional<Link>& head) const {
    Verifier verifier;
    for (const LogFile& file : files()) {
      verifier.beginFile(file.path.filename().string());
      EXPECT_TRUE(eachLine(file.path, [&](std::string_view line) { return verifier.take(line); }).ok());
    }
    verifier.finish(head);
    return verifier.problem() ? verifier.problem()->what : "";
  }
  std::string contents() const {
    std::string all;
    for (const LogFile& file : files()) {
      std::ifstream stream(file.path);
      all.append(std::istreambuf_iterator<char>(stream), {});
    }
    return all;
  }

  ScratchFolder scratch_;
  Chain chain_;
};

TEST_F(LogFolder, HasWhatWasWrittenInOrder) {
  auto writer = open("");
  const std::string first = entries(chain_, 3), second = entries(chain_, 2);
  ASSERT_TRUE(writer->append(first).ok());
  ASSERT_TRUE(writer->append(second).ok());
  EXPECT_EQ(contents(), first + second);
  EXPECT_EQ(*headIn(folder()), chain_.last());
  EXPECT_EQ(problem(chain_.last()), "");
}

TEST_F(LogFolder, IsItsOwnersAlone) {
  ASSERT_TRUE(open("")->append(entries(chain_, 1)).ok());
  using std::filesystem::perms;
  const auto others = perms::group_all | perms::others_all;
  EXPECT_EQ(std::filesystem::status(folder()).permissions() & others, perms::none);
  EXPECT_EQ(std::filesystem::status(folder() + "/00000001.jsonl").permissions() & others, perms::none);
}

// What a crash leaves: some of what the store has, and half of a line.
TEST_F(LogFolder, HasEachLineOnceWhereverACrashWas) {
  const std::string before = entries(chain_, 3), stored = entries(chain_, 4);
  for (size_t there = 0; there <= stored.size(); there += 37) {
    std::filesystem::remove_all(folder());
    { ASSERT_TRUE(open("")->append(before).ok()); }
    std::ofstream(folder() + "/00000001.jsonl", std::ios::app) << stored.substr(0, there);
    open(stored);
    ASSERT_EQ(contents(), before + stored) << there;
    ASSERT_EQ(problem(chain_.last()), "") << there;
  }
}

TEST_F(LogFolder, BeginsANewFileWhereTheOneBeforeIsLarge) {
  auto writer = open("", {.fileBytes = 1'000});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer->append(entries(chain_, 2)).ok());
  EXPECT_GT(files().size(), 2u);
  EXPECT_EQ(problem(chain_.last()), "");
}

TEST_F(LogFolder, ErasesOldFilesOnceTheLogSaysSo) {
  auto writer = open("", {.fileBytes = 1'000, .keepFiles = 2});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(writer->append(entries(chain_, 2)).ok());
  const auto through = writer->dispensable(WallTime());
  ASSERT_TRUE(through);
  std::string line;
  chain_.add({.action = kRotated, .object = std::to_string(*through)}, line);
  ASSERT_TRUE(writer->append(line).ok());
  ASSERT_TRUE(writer->erase(*through).ok());
  EXPECT_LE(files().size(), 3u);
  EXPECT_EQ(problem(chain_.last()), "");
  EXPECT_FALSE(open(line, {.fileBytes = 1'000, .keepFiles = 3})->dispensable(WallTime()));
}

TEST_F(LogFolder, ErasesFilesThatAreTooOldOrTooLargeTogether) {
  auto writer = open("", {.fileBytes = 1, .keepBytes = 1, .keepFor = std::chrono::hours(1)});
  ASSERT_TRUE(writer->append(entries(chain_, 1)).ok());
  ASSERT_TRUE(writer->append(entries(chain_, 1)).ok());
  EXPECT_EQ(writer->dispensable(WallTime()), 1u);
  const auto now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  const auto old = open("", {.fileBytes = 1, .keepFor = std::chrono::hours(1)});
  EXPECT_EQ(old->dispensable(now), std::nullopt);
  EXPECT_EQ(old->dispensable(now + std::chrono::hours(2)), 1u);
}

TEST_F(LogFolder, BeginsANewFileForAnotherChain) {
  ASSERT_TRUE(open("")->append(entries(chain_, 3)).ok());
  Chain other;
  const std::string lines = entries(other, 2, "job 2");
  open(lines);
  EXPECT_THAT(files(), SizeIs(2));
  EXPECT_EQ(problem(other.last()), "");
}

TEST_F(LogFolder, WithAChangedLineSaysSoAndIsNotWrittenOver) {
  { ASSERT_TRUE(open("")->append(entries(chain_, 3)).ok()); }
  std::string text = contents();
  text.replace(text.find("cancel"), 6, "submit");
  std::ofstream(folder() + "/00000001.jsonl") << text;
  const std::string more = entries(chain_, 1);
  EXPECT_THAT(open(more)->finding(), HasSubstr("00000001.jsonl"));
  EXPECT_EQ(contents(), text + more);
}

TEST_F(LogFolder, IsRefusedWhereItIsNone) {
  scratch_.write("audit", "a file");
  EXPECT_EQ(LogWriter::open(folder(), {}, "").error().code, ErrorCode::kInvalid);
}

TEST_F(LogFolder, IsReadInPagesThatHaveEveryLineOnce) {
  auto writer = open("", {.fileBytes = kBytesOfPage + 5'000});
  std::string all;
  while (all.size() < 3 * kBytesOfPage) {
    const std::string lines = entries(chain_, 100);
    all += lines;
    ASSERT_TRUE(writer->append(lines).ok());
  }
  std::string read;
  Position from;
  for (bool more = true; more;) {
    const auto page = readPage(folder(), from, {});
    ASSERT_TRUE(page.ok());
    for (const std::string& line : page->lines) read += line + "\n";
    ASSERT_NE(page->next, from);
    from = page->next;
    more = page->more;
  }
  EXPECT_EQ(read, all);
  const auto behind = readPage(folder(), from, {});
  EXPECT_TRUE(behind->lines.empty() && !behind->more && behind->next == from);
}

TEST_F(LogFolder, WithAHeadThatIsNoneIsRefusedByItsPlace) {
  scratch_.write("audit/head", "12 abc\n");
  EXPECT_THAT(headIn(folder()).error().message, HasSubstr("/head:1: "));
}

}  // namespace tarcil::log_writer_test
