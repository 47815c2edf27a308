// Stores of other formats: one of the previous format is gone on with, a newer one is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "master/logic/master_logic.h"
#include "master/store/codec/store_codec.h"
#include "master/store/rocks/rocks_store.h"
#include "schema/store.capnp.h"

namespace tarcil::store_format_test {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fromHex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

// What the files in tests/data/stores call the running and the finished job.
JobId running() {
  return *parseJobId("000102030405060708090a0b0c0d0e0f");
}
JobId over() {
  return *parseJobId("f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0");
}

class StoreFormatTest : public testing::Test {
 protected:
  StoreFormatTest() {
    std::string name = fs::temp_directory_path() / "tarcil-format-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    folder_ = name;
  }
  ~StoreFormatTest() override {
    store_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  using Raw = std::vector<std::pair<std::string, std::string>>;  // keys and values

  void putRaw(const Raw& records) {
    rocksdb::Options options;
    options.create_if_missing = true;
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, folder_, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    for (const auto& [key, value] : records) ASSERT_TRUE(db->Put({}, key, value).ok());
  }

  // Makes the store of a file in tests/data/stores.
  void record(const std::string& name) {
    std::ifstream file(TARCIL_TEST_DATA "/stores/" + name);
    ASSERT_TRUE(file.is_open());
    Raw records;
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line.front() == '#') continue;
      const size_t space = line.find(' ');
      records.emplace_back(fromHex(line.substr(0, space)), fromHex(line.substr(space + 1)));
    }
    putRaw(records);
  }

  // A master starts on the store.
  void start() {
    logic_.reset();
    store_.reset();
    store_ = std::move(*openRocksStore(folder_));
    std::vector<master::Action> actions;
    logic_ = std::make_unique<MasterLogic>(MasterOptions{}, *store_->load(), now_, rng_, actions);
    store(actions);
  }
  void store(const std::vector<master::Action>& actions) {
    std::vector<Mutation> batch;
    for (const master::Action& action : actions) {
      if (const auto* persist = std::get_if<master::Persist>(&action)) batch.push_back(persist->mutation);
    }
    ASSERT_TRUE(store_->write(batch).ok());
  }
  // The first action of this kind that the event leads to.
  template <typename T>
  T handle(const master::Event& event) {
    std::vector<master::Action> actions;
    logic_->handle(event, now_, rng_, actions);
    store(actions);
    for (const master::Action& action : actions) {
      if (const T* found = std::get_if<T>(&action)) return *found;
    }
    throw std::runtime_error("the event led to something else");
  }
  std::vector<StoreProblem> problems() {
    store_.reset();
    const auto reading = readWholeStore(folder_);
    EXPECT_THAT(reading->unreadable, IsEmpty());
    return checkStore(reading->store);
  }

  std::string folder_;
  Rng rng_{1};
  Now now_{MonotonicTime(1h), WallTime(1'700'001'000s)};
  std::unique_ptr<Store> store_;
  std::unique_ptr<MasterLogic> logic_;
};

TEST_F(StoreFormatTest, EveryRecordOfFormat1IsRead) {
  record("format-1.txt");
  EXPECT_THAT(problems(), IsEmpty());
  start();
  const StoreContents contents = *store_->load();
  EXPECT_EQ(contents.cluster->cluster, "0123456789abcdef");
  EXPECT_EQ(contents.settings->cap, 16u);
  EXPECT_EQ(contents.platforms[0].share[5], 128);
  EXPECT_EQ(contents.servers[0].facts.attributes.at("disk"), "ssd");
  const JobSpec spec = logic_->job(over())->record.spec;
  EXPECT_EQ(spec.placement.spread, Domain::kServer);
  EXPECT_EQ(spec.profile.caused[4], 60);
  EXPECT_EQ(spec.policy, Policy::kQuality);
  EXPECT_THAT(spec.extras, IsEmpty());
  EXPECT_EQ(logic_->job(over())->progress.state, RunState::kDone);
  EXPECT_EQ((*store_->files(running()))[0].content, "data");
  EXPECT_THAT((*store_->decisions(running()))[0].tasks, ElementsAre(0u, 1u));
  EXPECT_EQ((*store_->decisions(running()))[0].explanation, Explanation{});
}

TEST_F(StoreFormatTest, AClusterOfFormat1GoesOn) {
  record("format-1.txt");
  start();
  EXPECT_EQ(*handle<master::AnswerAgentAttached>(master::AgentAttached{1, 1, "agent-1", 2, "address"}).epoch,
            2u);
  Commit repeated;
  repeated.sequence = 5;
  repeated.job = running();
  const CommitAnswer answer = handle<master::AnswerCommit>(master::CommitArrived{2, 1, repeated}).answer;
  EXPECT_EQ(answer.grants.at(0).allocation, 10'002u);
  const ServerFacts facts = logic_->server("s1")->facts;
  const auto attached = handle<master::AnswerMonitorAttached>(
      master::MonitorAttached{3, 2, "m", {facts}, {{10'001, "s1"}, {10'002, "s1"}, {10'000, "s1"}}});
  EXPECT_THAT(attached.drop, ElementsAre(10'000u));

  Commit third;
  third.sequence = 6;
  third.job = running();
  third.claims.emplace_back().task = 2;
  const CommitAnswer placed = handle<master::AnswerCommit>(master::CommitArrived{4, 1, third}).answer;
  ASSERT_EQ(placed.grants.at(0).verdict, Verdict::kGranted);
  EXPECT_GT(placed.grants.at(0).allocation, 20'000u);
  EXPECT_THAT(placed.grants.at(0).rus, ElementsAre(2));
  master::ReportsArrived ended{5, 2, {}};
  for (AllocationId allocation :
       {AllocationId{10'001}, AllocationId{10'002}, placed.grants.at(0).allocation}) {
    TaskReport& report = ended.reports.emplace_back();
    report.allocation = allocation;
    report.ended = true;
    report.end.ended = now_.wall;
  }
  EXPECT_TRUE(handle<master::AnswerReports>(ended).status.ok());
  start();
  EXPECT_EQ(logic_->job(running())->progress.state, RunState::kDone);
  logic_.reset();
  EXPECT_THAT(problems(), IsEmpty());
}

// The record as the next format would mark it.
std::string ofNextFormat(const Record& record) {
  std::string bytes = encodeRecord(record);
  // The table of segments and the root's pointer are a word each; the format is the first thing of the root.
  EXPECT_EQ(static_cast<uint32_t>(bytes.at(16)), wire::FORMAT_VERSION);
  bytes[16] = static_cast<char>(wire::FORMAT_VERSION + 1);
  return bytes;
}

TEST_F(StoreFormatTest, ANewerFormatIsRefused) {
  const ClusterRecord cluster{"c", 1, 1};
  putRaw({{keyOf(cluster), ofNextFormat(cluster)}});
  const auto contents = (*openRocksStore(folder_))->load();
  ASSERT_FALSE(contents.ok());
  EXPECT_THAT(contents.error().message, HasSubstr(folder_));
  EXPECT_THAT(contents.error().message,
              HasSubstr("newer version of tarcil (format " + std::to_string(wire::FORMAT_VERSION + 1)));
  const auto reading = readWholeStore(folder_);
  ASSERT_EQ(reading->unreadable.size(), 1u);
  EXPECT_THAT(reading->unreadable[0].what, HasSubstr("newer version of tarcil"));
}

}  // namespace tarcil::store_format_test
