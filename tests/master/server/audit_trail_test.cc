// The audit log from the store to its files.
#include "master/server/audit_trail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kj/async-io.h>

#include <filesystem>

#include "audit/verifier.h"
#include "env/clock.h"
#include "master/server/output_gate.h"
#include "master/store/memory_store.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::audit_trail_test {

using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

audit::Entry entry(const std::string& object) {
  return {.action = "job.cancel", .object = object};
}

class AuditTrailTest : public testing::Test {
 protected:
  ~AuditTrailTest() noexcept override = default;

  std::unique_ptr<AuditTrail> open() {
    auto trail = AuditTrail::open({folder_.at("audit"), {}, 0}, store_.load()->audit);
    if (!trail) throw std::runtime_error(trail.error().message);
    return std::move(*trail);
  }
  // A batch, as the gate writes it.
  Status write(AuditTrail& trail, const std::vector<audit::Entry>& entries) {
    std::vector<Mutation> mutations;
    Status sealed = trail.seal(entries, WallTime(), mutations);
    if (!sealed) return sealed;
    Status written = store_.write(mutations);
    trail.stored();
    return written;
  }
  AuditTrail::Answer readAll(AuditTrail& trail) { return trail.read({}, {}).wait(io_.waitScope); }
  size_t stored() { return store_.load()->audit.size(); }

  kj::AsyncIoContext io_ = kj::setupAsyncIo();
  ScratchFolder folder_;
  MemoryStore store_;
};

TEST_F(AuditTrailTest, HasInItsFilesWhatIsInTheStore) {
  const auto trail = open();
  ASSERT_TRUE(write(*trail, {entry("a"), entry("b")}).ok());
  ASSERT_TRUE(write(*trail, {}).ok());
  ASSERT_TRUE(write(*trail, {entry("c")}).ok());
  const auto told = readAll(*trail);
  ASSERT_THAT(told.page.lines, SizeIs(3));
  EXPECT_EQ(audit::fieldsOf(told.page.lines[2])->entry.object, "c");
  EXPECT_EQ(audit::placeOf(told.page.lines[2])->self, told.head);
}

TEST_F(AuditTrailTest, ErasesWhatIsInTheFilesOnceThereIsMore) {
  const auto trail = open();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(write(*trail, {entry("a")}).ok());
    readAll(*trail);
    ASSERT_TRUE(write(*trail, {}).ok());
    EXPECT_EQ(stored(), 1u);
  }
}

TEST_F(AuditTrailTest, GoesOnWithTheChainOfTheStore) {
  { ASSERT_TRUE(write(*open(), {entry("a")}).ok()); }
  std::filesystem::remove_all(folder_.at("audit"));
  const auto trail = open();
  ASSERT_TRUE(write(*trail, {entry("b")}).ok());
  const auto told = readAll(*trail);
  ASSERT_THAT(told.page.lines, SizeIs(2));
  EXPECT_EQ(audit::placeOf(told.page.lines[0])->self.hash, audit::placeOf(told.page.lines[1])->previous);
}

TEST_F(AuditTrailTest, WritesAtItsEndWhatIsLeft) {
  { ASSERT_TRUE(write(*open(), {entry("a")}).ok()); }
  EXPECT_THAT(audit::readPage(folder_.at("audit"), {}, {})->lines, SizeIs(1));
}

// A folder in the file's place: nothing can be written there.
TEST_F(AuditTrailTest, KeepsInTheStoreWhatCannotBeWritten) {
  const auto trail = open();
  std::filesystem::create_directories(folder_.at("audit/00000001.jsonl"));
  ASSERT_TRUE(write(*trail, {entry("a")}).ok());
  EXPECT_ANY_THROW(readAll(*trail));
  ASSERT_TRUE(write(*trail, {entry("b")}).ok());
  EXPECT_EQ(stored(), 2u);
  std::filesystem::remove(folder_.at("audit/00000001.jsonl"));
  EXPECT_THAT(readAll(*trail).page.lines, SizeIs(2));
}

TEST_F(AuditTrailTest, StopsWhereTooMuchCannotBeWritten) {
  const auto trail = open();
  std::filesystem::create_directories(folder_.at("audit/00000001.jsonl"));
  const std::vector<audit::Entry> many(10'000, entry(std::string(400, 'x')));
  Status status;
  for (int i = 0; i < 100 && status; ++i) status = write(*trail, many);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kExhausted);
}

TEST_F(AuditTrailTest, StoresEntriesWithTheBatchThatTheyTellOf) {
  const auto trail = open();
  OutputGate gate(
      io_.provider->getTimer(), store_, systemClock(), [](const Error& error) { FAIL() << error.message; },
      [](const WrittenBatch&) {}, trail.get());
  gate.persist(Put{UserRecord{.name = "ann"}});
  gate.audit(entry("user ann"));
  auto paf = kj::newPromiseAndFulfiller<size_t>();
  gate.afterSync([this, &paf]() { paf.fulfiller->fulfill(stored()); });
  EXPECT_EQ(paf.promise.wait(io_.waitScope), 1u);
  EXPECT_EQ(gate.batches(), 1u);
}

}  // namespace tarcil::audit_trail_test
