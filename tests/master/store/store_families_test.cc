// Stores of programs that kept all records in one column family.
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <memory>

#include "master/store/codec/store_codec.h"
#include "master/store/rocks/rocks_store.h"
#include "tests/support/temporary_folder.h"

namespace tarcil::store_families_test {

DecisionRecord aDecision(const JobId& job) {
  DecisionRecord decision;
  decision.job = job;
  decision.tasks = {0, 2};
  decision.explanation.drawn = 17;
  return decision;
}

FilesRecord someFiles(const JobId& job) {
  return {job, std::make_shared<const std::vector<InputFile>>(
                   std::vector<InputFile>{{.path = "a.txt", .mode = 0644, .content = "hello"}})};
}

// As such a program leaves it.
void writeIntoOneFamily(const std::string& folder, const std::vector<Record>& records) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, folder, &opened).ok());
  const std::unique_ptr<rocksdb::DB> db(opened);
  for (const Record& record : records) {
    ASSERT_TRUE(db->Put({}, keyOf(record), encodeRecord(record)).ok());
  }
}

TEST(StoreOfOneFamily, IsGoneOnWith) {
  const TemporaryFolder folder;
  JobRecord job;
  job.id.bytes.fill(7);
  job.spec.name = "old";
  job.spec.command = {"true"};
  writeIntoOneFamily(folder.path() + "/store", {job, aDecision(job.id), someFiles(job.id)});
  for (int start = 0; start < 2; ++start) {
    auto store = openRocksStore(folder.path() + "/store");
    ASSERT_TRUE(store.ok()) << store.error().message;
    auto contents = (*store)->load();
    ASSERT_TRUE(contents.ok()) << contents.error().message;
    ASSERT_EQ(contents->jobs.size(), 1u);
    EXPECT_EQ(contents->jobs[0], job);
    EXPECT_EQ(*(*store)->decisions(job.id), std::vector{aDecision(job.id)});
    EXPECT_EQ(*(*store)->files(job.id), *someFiles(job.id).files);
  }
}

TEST(StoreOfOneFamily, LetsItsJobsGo) {
  const TemporaryFolder folder;
  JobId job;
  job.bytes.fill(9);
  writeIntoOneFamily(folder.path() + "/store", {aDecision(job), someFiles(job)});
  {
    auto store = openRocksStore(folder.path() + "/store");
    ASSERT_TRUE(store.ok()) << store.error().message;
    const std::vector<Mutation> gone{EraseJob{job}};
    ASSERT_TRUE((*store)->write(gone).ok());
  }
  auto store = openRocksStore(folder.path() + "/store");
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_TRUE((*store)->decisions(job)->empty());
  EXPECT_TRUE((*store)->files(job)->empty());
}

}  // namespace tarcil::store_families_test
