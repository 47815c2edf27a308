#include "master/store/memory_store.h"

#include <gtest/gtest.h>

#include "tests/master/master_harness.h"

namespace tarcil::memory_store_test {

std::vector<Mutation> jobWithEverything(int number) {
  JobRecord record;
  record.id = jobId(number);
  JobProgress progress;
  progress.id = record.id;
  TaskRecord task;
  task.job = record.id;
  DecisionRecord decision;
  decision.job = record.id;
  auto files = std::make_shared<std::vector<InputFile>>(1, InputFile{"in", 0644, "text"});
  return {Put{record}, Put{progress}, Put{task}, Put{decision}, Put{FilesRecord{record.id, files}}};
}

TEST(MemoryStore, HoldsNothingWhenNew) {
  MemoryStore store;
  const StoreContents contents = *store.load();
  EXPECT_FALSE(contents.cluster);
  EXPECT_FALSE(contents.settings);
  EXPECT_TRUE(contents.jobs.empty());
}

TEST(MemoryStore, KeepsTheLatestOfEachRecord) {
  MemoryStore store;
  const std::vector<Mutation> writes = {Put{AgentRecord{"x", 1}}, Put{AgentRecord{"y", 1}},
                                        Put{AgentRecord{"x", 2}}};
  ASSERT_TRUE(store.write(writes).ok());
  const std::vector<AgentRecord> expected = {{"x", 2}, {"y", 1}};
  EXPECT_EQ(store.load()->agents, expected);
}

TEST(MemoryStore, ErasesAJobWithAllThatBelongsToIt) {
  MemoryStore store;
  ASSERT_TRUE(store.write(jobWithEverything(1)).ok());
  ASSERT_TRUE(store.write(jobWithEverything(2)).ok());
  const std::vector<Mutation> erase = {EraseJob{jobId(1)}};
  ASSERT_TRUE(store.write(erase).ok());
  const StoreContents contents = *store.load();
  ASSERT_EQ(contents.jobs.size(), 1u);
  EXPECT_EQ(contents.jobs[0].id, jobId(2));
  EXPECT_EQ(contents.tasks.size(), 1u);
  EXPECT_EQ(contents.progress.size(), 1u);
  EXPECT_TRUE(store.files(jobId(1))->empty());
  EXPECT_TRUE(store.decisions(jobId(1))->empty());
  EXPECT_EQ(store.decisions(jobId(2))->size(), 1u);
}

TEST(MemoryStore, ErasesOneAnswer) {
  MemoryStore store;
  CommitAnswer answer;
  answer.sequence = 1;
  const std::vector<Mutation> writes = {Put{AnswerRecord{"x", 1, answer}}, Put{AnswerRecord{"x", 2, answer}},
                                        EraseAnswer{"x", 1, 1}};
  ASSERT_TRUE(store.write(writes).ok());
  ASSERT_EQ(store.load()->answers.size(), 1u);
  EXPECT_EQ(store.load()->answers[0].epoch, 2u);
}

}  // namespace tarcil::memory_store_test
