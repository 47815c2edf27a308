// The store on disk: copies of it, and what may be wrong with folders.
#include "master/store/rocks/rocks_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "master/store/codec/store_codec.h"
#include "master/store/rocks/restore.h"

namespace tarcil::rocks_store_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class RocksStoreTest : public testing::Test {
 protected:
  RocksStoreTest() {
    std::string name = fs::temp_directory_path() / "tarcil-store-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    folder_ = name;
  }
  ~RocksStoreTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string at(const std::string& name) const { return folder_ / name; }
  std::unique_ptr<Store> open(const std::string& name) {
    auto store = openRocksStore(at(name));
    if (!store.ok()) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  // What the store in the folder holds.
  StoreContents contentsOf(const std::string& name) { return *open(name)->load(); }
  static void put(Store& store, const Record& record) {
    const std::vector<Mutation> mutations{Put{record}};
    ASSERT_TRUE(store.write(mutations).ok());
  }
  Result<ClusterRecord> restore(const std::string& backup, const std::string& store) {
    return restoreStore(at(backup), at(store), WallTime(std::chrono::hours(500'000)), rng_);
  }

  fs::path folder_;
  Rng rng_{3};
};

// By name, with all that is in them.
std::map<std::string, std::string> filesIn(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::ifstream in(file.path(), std::ios::binary);
    files[file.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return files;
}

TEST_F(RocksStoreTest, OpenedToBeReadOnlyShowsEverythingAndChangesNoByte) {
  const JobId job{};
  {
    const auto store = open("store");
    put(*store, JobRecord{});
    put(*store, FilesRecord{job, std::make_shared<const std::vector<InputFile>>(1)});
    DecisionRecord decision;
    decision.job = job;
    put(*store, decision);
  }
  const auto before = filesIn(at("store"));
  {
    const auto opened = openRocksStoreReadOnly(at("store"));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Store& store = **opened;
    EXPECT_EQ(store.load()->jobs.size(), 1u);
    EXPECT_EQ(store.files(job)->size(), 1u);
    EXPECT_EQ(store.decisions(job)->size(), 1u);
    EXPECT_GT(store.space()->used, 0u);
    const std::vector<Mutation> mutations{EraseJob{job}};
    EXPECT_FALSE(store.write(mutations).ok());
    EXPECT_FALSE(store.backup(at("copy")).ok());
  }
  EXPECT_EQ(filesIn(at("store")), before);
}

TEST_F(RocksStoreTest, OpenedToBeReadOnlyIsNotMadeWhereThereIsNone) {
  const auto opened = openRocksStoreReadOnly(at("store"));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(fs::exists(at("store")));
}

TEST_F(RocksStoreTest, HoldsProfilesAndWhatIsMeasuredUntilTheyAreErased) {
  const ObservedProfile observed{.application = "sort", .user = "alice", .last = WallTime(Duration(7))};
  const Profiling measuring{.application = "sort", .job = {}, .user = "alice", .at = WallTime(Duration(7))};
  {
    const auto store = open("store");
    StoredProfile stored;
    stored.profile.application = "sort";
    put(*store, stored);
    put(*store, measuring);
    put(*store, observed);
  }
  const StoreContents contents = contentsOf("store");
  EXPECT_THAT(contents.profilings, ElementsAre(measuring));
  ASSERT_EQ(contents.profiles.size(), 1u);
  EXPECT_THAT(contents.observed, ElementsAre(observed));
  const std::vector<Mutation> mutations{EraseProfiling{"sort"}, EraseObserved{"sort", "alice"}};
  ASSERT_TRUE(open("store")->write(mutations).ok());
  EXPECT_THAT(contentsOf("store").profilings, IsEmpty());
  EXPECT_THAT(contentsOf("store").observed, IsEmpty());
  EXPECT_EQ(contentsOf("store").profiles.size(), 1u) << "it is another record";
}

TEST_F(RocksStoreTest, HoldsCronsUntilTheyAreRemoved) {
  Cron nightly{.spec = {.name = "nightly"}, .user = "alice"},
      weekly{.spec = {.name = "weekly"}, .user = "alice"};
  put(*open("store"), nightly);
  put(*open("store"), weekly);
  nightly.isHeld = true;
  put(*open("store"), nightly);
  EXPECT_THAT(contentsOf("store").crons, ElementsAre(nightly, weekly));
  ASSERT_TRUE(open("store")->write(std::vector<Mutation>{EraseCron{"alice", "nightly"}}).ok());
  EXPECT_THAT(contentsOf("store").crons, ElementsAre(weekly));
}

TEST_F(RocksStoreTest, HoldsPeopleUntilTheyAreRemoved) {
  const UserRecord ann{.name = "ann"}, bob{.name = "bob"};
  const AccountRecord physics{.name = "physics"}, maths{.name = "maths"};
  const TokenRecord first{.id = 1, .user = "ann"}, second{.id = 2, .user = "ann"};
  for (const Record& record : std::vector<Record>{ann, bob, physics, maths, first, second})
    put(*open("store"), record);
  const std::vector<Mutation> mutations{EraseUser{"bob"}, EraseAccount{"maths"}, EraseToken{1}};
  ASSERT_TRUE(open("store")->write(mutations).ok());
  const StoreContents contents = contentsOf("store");
  EXPECT_THAT(contents.users, ElementsAre(ann));
  EXPECT_THAT(contents.accounts, ElementsAre(physics));
  EXPECT_THAT(contents.tokens, ElementsAre(second));
}

TEST_F(RocksStoreTest, HoldsSecretsUntilTheyAreDeleted) {
  const SecretRecord db{.owner = "ann", .name = "db"}, tls{.owner = "ann", .name = "tls"},
      others{.owner = "annabel", .name = "db"};
  for (const SecretRecord& record : {db, tls, others}) put(*open("store"), record);
  EXPECT_THAT(contentsOf("store").secrets, ElementsAre(db, tls, others));
  ASSERT_TRUE(open("store")->write(std::vector<Mutation>{EraseSecret{"ann", "db"}}).ok());
  EXPECT_THAT(contentsOf("store").secrets, ElementsAre(tls, others));
}

TEST_F(RocksStoreTest, HoldsTheAuditLogsEndInOrder) {
  const AuditRecord first{9, "nine\n"}, second{256, "later\n"}, third{65'536, "last\n"};
  for (const AuditRecord& record : {third, first, second}) put(*open("store"), record);
  EXPECT_THAT(contentsOf("store").audit, ElementsAre(first, second, third));
  ASSERT_TRUE(open("store")->write(std::vector<Mutation>{EraseAudit{9}}).ok());
  EXPECT_THAT(contentsOf("store").audit, ElementsAre(second, third));
}

TEST_F(RocksStoreTest, HoldsMembersUntilTheyAreForgotten) {
  MemberRecord monitor{.role = MemberRole::kMonitor, .name = "x"},
      agent{.role = MemberRole::kAgent, .name = "x"};
  put(*open("store"), monitor);
  put(*open("store"), agent);
  monitor.certificates = {{7, WallTime(Duration(1)), WallTime(Duration(2)), true}};
  put(*open("store"), monitor);
  EXPECT_THAT(contentsOf("store").members, ElementsAre(agent, monitor));
  ASSERT_TRUE(open("store")->write(std::vector<Mutation>{EraseMember{MemberRole::kAgent, "x"}}).ok());
  EXPECT_THAT(contentsOf("store").members, ElementsAre(monitor));
}

TEST_F(RocksStoreTest, HoldsAgentsUntilTheyAreForgotten) {
  const ClusterRecord cluster{"c", 1, 1, 7};
  put(*open("store"), cluster);
  put(*open("store"), AgentRecord{"x", 7});
  put(*open("store"), AgentRecord{"xy", 1});
  ASSERT_TRUE(open("store")->write(std::vector<Mutation>{EraseAgent{"x"}}).ok());
  const StoreContents contents = contentsOf("store");
  EXPECT_THAT(contents.agents, ElementsAre(AgentRecord{"xy", 1}));
  EXPECT_EQ(contents.cluster, cluster);
}

TEST_F(RocksStoreTest, BackupHoldsWhatWasWrittenBeforeAndNothingElse) {
  const auto store = open("store");
  put(*store, AgentRecord{"before", 1});
  const Status backedUp = store->backup(at("backup"));
  ASSERT_TRUE(backedUp.ok()) << backedUp.error().message;
  put(*store, AgentRecord{"after", 1});
  const StoreContents copy = contentsOf("backup");
  ASSERT_EQ(copy.agents.size(), 1u);
  EXPECT_EQ(copy.agents[0].name, "before");
  EXPECT_EQ(store->load()->agents.size(), 2u);
}

TEST_F(RocksStoreTest, BackupTakesAnEmptyFolderAndLeavesNothingBesideIt) {
  const auto store = open("store");
  fs::create_directory(at("backup"));
  ASSERT_TRUE(store->backup(at("backup/")).ok());
  EXPECT_TRUE(fs::exists(at("backup/CURRENT")));
  EXPECT_EQ(fs::status(at("backup")).permissions(), fs::perms::owner_all);
  EXPECT_FALSE(fs::exists(at("backup.part")));
}

TEST_F(RocksStoreTest, BackupRefusesFoldersThatCannotBeUsed) {
  const auto store = open("store");
  const auto problemWith = [&store](const std::string& folder) {
    const Status status = store->backup(folder);
    if (status.ok()) return std::string("none");
    EXPECT_EQ(status.error().code, ErrorCode::kInvalid);
    return status.error().message;
  };
  fs::create_directory(at("full"));
  std::ofstream(at("full/mine")) << "mine";
  EXPECT_THAT(problemWith(at("full")), HasSubstr("not empty"));
  EXPECT_TRUE(fs::exists(at("full/mine")));
  EXPECT_THAT(problemWith(at("full/mine")), HasSubstr("not empty"));
  EXPECT_THAT(problemWith("backup"), HasSubstr("absolute path"));
  EXPECT_THAT(problemWith(at("nowhere/backup")), HasSubstr("make it first"));
  fs::create_directory(at("half.part"));
  EXPECT_THAT(problemWith(at("half")), HasSubstr("half.part"));
  EXPECT_FALSE(fs::exists(at("half")));
}

TEST_F(RocksStoreTest, RestoredStoreIsTheBackupInANewEpoch) {
  ClusterRecord cluster{"c", 1, 20'001};
  {
    const auto store = open("store");
    put(*store, cluster);
    put(*store, AgentRecord{"x", 3});
    ASSERT_TRUE(store->backup(at("backup")).ok());
  }
  const auto restored = restore("backup", "again");
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  const StoreContents contents = contentsOf("again");
  EXPECT_EQ(contents.cluster, *restored);
  EXPECT_GT(restored->epoch, 1u);
  EXPECT_GT(restored->nextAllocation, cluster.nextAllocation);
  EXPECT_EQ(contents.agents.size(), 1u);
  EXPECT_EQ(contentsOf("backup").cluster, cluster);
}

TEST_F(RocksStoreTest, RestoreThatFailsLeavesNoStore) {
  open("empty").reset();
  for (const char* backup : {"nowhere", "empty"}) {
    SCOPED_TRACE(backup);
    const auto restored = restore(backup, "again");
    ASSERT_FALSE(restored.ok());
    EXPECT_EQ(restored.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(fs::exists(at("again")));
    EXPECT_FALSE(fs::exists(at("again.part")));
  }
}

TEST_F(RocksStoreTest, RestoreKeepsItsHandsOffAStoreThatIsThere) {
  put(*open("backup"), ClusterRecord{"c", 1, 1});
  put(*open("store"), ClusterRecord{"d", 1, 1});
  EXPECT_FALSE(restore("backup", "store").ok());
  EXPECT_EQ(contentsOf("store").cluster->cluster, "d");
}

// --- What cannot be read ----------------------------------------------------------------------------------

// Writes bytes under a key, past the codec.
void putRaw(const std::string& folder, const std::string& key, const std::string& value) {
  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, folder, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, folder, families, &handles, &db).ok());
  const std::unique_ptr<rocksdb::DB> owned(db);
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  ASSERT_TRUE(db->Put({}, key, value).ok());
}

// "key: what" of each problem.
std::vector<std::string> unreadable(const std::string& folder) {
  const auto reading = readWholeStore(folder);
  std::vector<std::string> lines;
  for (const StoreProblem& problem : reading->unreadable) lines.push_back(problem.key + ": " + problem.what);
  return lines;
}

TEST_F(RocksStoreTest, IsReadAsAWholeAndNotTouched) {
  {
    const auto store = open("store");
    put(*store, ClusterRecord{"c", 1, 1});
    put(*store, DecisionRecord{JobId{}, 0, {0}, {}});
    put(*store, FilesRecord{JobId{}, std::make_shared<const std::vector<InputFile>>(1)});
  }
  const auto entries = [this]() {
    std::map<std::string, fs::file_time_type> times;
    for (const auto& entry : fs::directory_iterator(at("store")))
      times[entry.path()] = entry.last_write_time();
    return times;
  };
  const auto before = entries();
  const auto reading = readWholeStore(at("store"));
  ASSERT_TRUE(reading.ok()) << reading.error().message;
  EXPECT_THAT(reading->unreadable, IsEmpty());
  EXPECT_EQ(reading->store.contents.cluster->cluster, "c");
  EXPECT_EQ(reading->store.decisions.size(), 1u);
  EXPECT_EQ(reading->store.files.size(), 1u);
  EXPECT_EQ(entries(), before);
}

TEST_F(RocksStoreTest, NamesRecordsThatCannotBeRead) {
  put(*open("store"), ClusterRecord{"c", 1, 1});
  putRaw(at("store"), "axel", "no record");
  putRaw(at("store"), "ay", encodeRecord(AgentRecord{"z", 1}));
  EXPECT_THAT(unreadable(at("store")),
              ElementsAre(StartsWith("a/78656c: cannot be read: "), "a/79: holds the record of a/z"));
}

TEST_F(RocksStoreTest, NamesDamagedFiles) {
  {
    const auto store = open("store");
    for (int i = 0; i < 1000; ++i) put(*store, AgentRecord{"agent-" + std::to_string(i), 1});
    ASSERT_TRUE(store->backup(at("backup")).ok());
  }
  for (const auto& entry : fs::directory_iterator(at("backup"))) {
    if (entry.path().extension() != ".sst") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << "damage";
  }
  EXPECT_THAT(unreadable(at("backup")), ElementsAre(HasSubstr("the files are damaged")));
}

// The store's log after this was done to it, which no crash does.
class LostLog : public RocksStoreTest {
 protected:
  void write() {
    const auto store = open("store");
    for (int i = 0; i < 10; ++i) put(*store, AgentRecord{"agent-" + std::to_string(i), 1});
  }
  fs::path log() const {
    for (const auto& entry : fs::directory_iterator(at("store"))) {
      if (entry.path().extension() == ".log" && entry.file_size() > 0) return entry.path();
    }
    throw std::runtime_error("there is no log");
  }
  void expectNoticed() {
    const auto store = openRocksStore(at("store"));
    ASSERT_FALSE(store.ok());
    EXPECT_THAT(store.error().message, HasSubstr("is damaged: it ends at change"));
    EXPECT_THAT(store.error().message, HasSubstr("tarcil master restore"));
    EXPECT_THAT(unreadable(at("store")), ElementsAre(HasSubstr("is damaged: it ends at change")));
  }
};

TEST_F(LostLog, IsNoticedWhereItIsRemoved) {
  write();
  fs::remove(log());
  expectNoticed();
}

TEST_F(LostLog, IsNoticedWhereItIsEmptied) {
  write();
  fs::resize_file(log(), 0);
  expectNoticed();
}

TEST_F(LostLog, IsNoticedWhereItIsCut) {
  write();
  fs::resize_file(log(), fs::file_size(log()) / 2);
  expectNoticed();
}

TEST_F(LostLog, IsGoneOnWithoutWhereTheMarkIsRemoved) {
  write();
  fs::remove(log());
  fs::remove(at("store/written"));
  EXPECT_THAT(contentsOf("store").agents, IsEmpty());
}

TEST_F(RocksStoreTest, OfWhichALockIsLeftIsNotBegunAnew) {
  put(*open("store"), ClusterRecord{"c", 1, 1});
  for (const auto& entry : fs::directory_iterator(at("store"))) {
    if (entry.path().filename() != "LOCK") fs::remove(entry.path());
  }
  const auto store = openRocksStore(at("store"));
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(store.error().message, HasSubstr("CURRENT is missing"));
}

TEST_F(RocksStoreTest, IsBegunAnewWhereAStartWasInterrupted) {
  fs::create_directories(at("store"));
  fs::create_directories(at("store.new"));
  std::ofstream(at("store.new/000001.dbtmp")) << "MANIFEST-0000";
  std::ofstream(at("store.new/MANIFEST-000001")) << "cut";
  put(*open("store"), ClusterRecord{"c", 1, 1});
  EXPECT_FALSE(fs::exists(at("store.new")));
  EXPECT_EQ(contentsOf("store").cluster->cluster, "c");
}

TEST_F(RocksStoreTest, ThatIsDamagedSaysWhatToDo) {
  put(*open("store"), ClusterRecord{"c", 1, 1});
  for (const auto& entry : fs::directory_iterator(at("store"))) {
    if (entry.path().filename().string().starts_with("MANIFEST")) fs::resize_file(entry.path(), 10);
  }
  const auto store = openRocksStore(at("store"));
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, HasSubstr("tarcil master restore"));
}

TEST_F(RocksStoreTest, IsNotReadWhereThereIsNone) {
  EXPECT_FALSE(readWholeStore(at("nowhere")).ok());
  EXPECT_FALSE(fs::exists(at("nowhere")));
}

}  // namespace tarcil::rocks_store_test
