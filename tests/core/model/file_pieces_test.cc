#include "core/model/file_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/model/job_size.h"

namespace tarcil::file_pieces_test {

using testing::HasSubstr;

// One that shows which part of it is where.
InputFile file(const std::string& path, size_t size) {
  InputFile file{path, 0644, {}};
  for (size_t i = 0; i < size; ++i) file.content += static_cast<char>('a' + i % 23);
  return file;
}

std::vector<InputFile> joined(const FilePieces& pieces) {
  std::vector<InputFile> files;
  for (const auto& piece : pieces) append(files, *piece);
  return files;
}

RC_GTEST_PROP(FilePieces, MakeTheFilesThatWereCut, ()) {
  const auto sizes = *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, 500));
  std::vector<InputFile> files;
  for (size_t i = 0; i < sizes.size(); ++i) files.push_back(file("f" + std::to_string(i), sizes[i]));
  const uint64_t most = *rc::gen::inRange<uint64_t>(30, 600);
  const FilePieces pieces = inPieces(files, most);
  RC_ASSERT(joined(pieces) == files);
  RC_ASSERT(sizeOf(pieces) == sizeOf(files));
  PieceCounter counter(sizeOf(files));
  for (const auto& piece : pieces) {
    RC_ASSERT(sizeOf(*piece) <= most);
    RC_ASSERT(!counter.isWhole());
    RC_ASSERT(counter.add(*piece).ok());
  }
  RC_ASSERT(counter.isWhole());
  RC_ASSERT(counter.pieces() == pieces.size());
}

TEST(FilePieces, AreFullButForTheLast) {
  const FilePieces pieces = inPieces({file("f", 3 * kMaxPieceBytes)});
  ASSERT_EQ(pieces.size(), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(sizeOf(*pieces[i]), kMaxPieceBytes);
}

std::string problem(PieceCounter& counter, const FilePiece& piece) {
  const Status status = counter.add(piece);
  return status.ok() ? "" : status.error().message;
}

TEST(APieceCounter, RefusesPiecesThatAreTooLargeOrHaveNothing) {
  PieceCounter counter(kMaxInputBytes);
  EXPECT_THAT(problem(counter, {file("f", kMaxPieceBytes)}), HasSubstr("at most 1MiB"));
  EXPECT_THAT(problem(counter, {}), HasSubstr("send something"));
  EXPECT_EQ(counter.pieces(), 0u);
}

TEST(APieceCounter, RefusesMoreThanWasAnnounced) {
  PieceCounter counter(sizeOf(file("f", 10)));
  EXPECT_EQ(problem(counter, {file("f", 6)}), "");
  EXPECT_THAT(problem(counter, {file("f", 5)}), HasSubstr("than the 27 bytes that were announced"));
  EXPECT_FALSE(counter.isWhole());
  EXPECT_EQ(problem(counter, {file("f", 4)}), "") << "what was refused does not count";
  EXPECT_TRUE(counter.isWhole());
}

TEST(APieceCounter, RefusesFilesThatNoJobShips) {
  PieceCounter counter(1'000);
  EXPECT_THAT(problem(counter, {file("../f", 1)}), HasSubstr("is not a path inside"));
  EXPECT_EQ(counter.pieces(), 0u);
}

TEST(APieceCounter, IsNotBegunForMoreThanAJobShips) {
  EXPECT_TRUE(PieceCounter::check(kMaxInputBytes).ok());
  EXPECT_THAT(PieceCounter::check(kMaxInputBytes + 1).error().message,
              HasSubstr("at most 64MiB are shipped"));
}

}  // namespace tarcil::file_pieces_test
