#include "master/store/etcd/unfolded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/store/etcd/journal.h"

namespace tarcil::unfolded_test {

using What = Change::What;
using testing::IsEmpty;

TEST(Unfolded, KeepsOfEachKeyTheLastChange) {
  Unfolded unfolded;
  unfolded.add(1, {{What::kPut, "a", "1"}, {What::kPut, "b", "1"}});
  unfolded.add(2, {{What::kPut, "a", "2"}, {What::kErase, "b"}});
  EXPECT_EQ(**unfolded.find("a"), "2");
  EXPECT_EQ(*unfolded.find("b"), nullptr) << "it is erased";
  EXPECT_FALSE(unfolded.find("c")) << "nothing is said of it";
  EXPECT_EQ(unfolded.bytes(), 3u);
}

TEST(Unfolded, ErasesARangeAndWhatIsPutIntoItLaterStays) {
  Unfolded unfolded;
  unfolded.add(1, {{What::kPut, "f1", "old"}, {What::kPut, "g", "stays"}});
  unfolded.add(2, {{What::kEraseRange, "f", "g"}, {What::kPut, "f2", "new"}});
  EXPECT_EQ(*unfolded.find("f1"), nullptr);
  EXPECT_EQ(*unfolded.find("f3"), nullptr);
  EXPECT_EQ(**unfolded.find("f2"), "new");
  EXPECT_EQ(**unfolded.find("g"), "stays");
  EXPECT_FALSE(unfolded.find("e"));
}

TEST(Unfolded, ForgetsWhatWasFoldedAndKeepsWhatChangedSince) {
  Unfolded unfolded;
  unfolded.add(1, {{What::kPut, "a", "1"}, {What::kPut, "b", "1"}, {What::kEraseRange, "f", "g"}});
  unfolded.add(2, {{What::kPut, "b", "2"}});
  unfolded.folded(1);
  EXPECT_FALSE(unfolded.find("a"));
  EXPECT_FALSE(unfolded.find("f1"));
  EXPECT_EQ(**unfolded.find("b"), "2");
  EXPECT_EQ(unfolded.batches(), 1u);
  unfolded.folded(2);
  EXPECT_EQ(unfolded.bytes(), 0u);
  EXPECT_THAT(unfolded.entries(), IsEmpty());
}

TEST(JournalBatch, ComesBackAsItWasWritten) {
  const std::vector<Change> changes{
      {What::kPut, std::string("a\0b", 3), "value"}, {What::kErase, "c"}, {What::kEraseRange, "d", "e"}};
  EXPECT_EQ(*decodeBatch(encodeBatch(7, changes)), changes);
}

TEST(JournalBatch, IsPutInPartsWhereItIsLarge) {
  const std::string batch(kMaxValueBytes * 2 + 1, 'x');
  const BatchValue value = inParts(batch);
  EXPECT_EQ(partsOf(value.value), 3u);
  std::string joined;
  for (const std::string& part : value.parts) joined += part;
  EXPECT_EQ(joined, batch);
  const BatchValue small = inParts("small");
  EXPECT_FALSE(partsOf(small.value));
  EXPECT_EQ(batchOf(small.value), "small");
}

TEST(JournalBatch, OfDamagedBytesIsNoBatch) {
  const std::string bytes = encodeBatch(7, {{What::kPut, "a", "value"}});
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = decodeBatch(std::string_view(bytes).substr(0, size));
    if (read.ok()) {
      EXPECT_THAT(*read, IsEmpty()) << size << " bytes";
    }
  }
}

}  // namespace tarcil::unfolded_test
