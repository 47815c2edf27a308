#include "master/rocks_store.h"

#include <kj/debug.h>
#include <rocksdb/db.h>
#include <rocksdb/memtablerep.h>

#include <filesystem>
#include <utility>

#include "master/store_codec.h"
#include "schema/store.capnp.h"

namespace tarcil {
namespace {

std::string_view view(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

Error storeError(const std::string& folder, const std::string& what, const std::string& why) {
  return {ErrorCode::kInternal, "the store in " + folder + ": " + what + ": " + why};
}

// Records that are read while the master serves lie in a column family of their own: the others are only read
// at a start, so what is new of them is kept in the order of writing until it is flushed. Keeping it sorted
// took most of the time of a write.
constexpr char kReadWhileServing[] = "read-while-serving";

bool isReadWhileServing(RecordKind kind) {
  return kind == RecordKind::kDecision || kind == RecordKind::kFiles;
}

// Every record of a kind, or of a job, in order of keys.
template <typename Take>
Status scan(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& folder,
            const std::string& prefix, Take take) {
  std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(rocksdb::ReadOptions(), family));
  Status result;
  auto failure = kj::runCatchingExceptions([&]() {
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
      take(decodeRecord(view(it->key()), view(it->value())));
    }
  });
  KJ_IF_MAYBE (exception, failure) {
    const auto description = exception->getDescription();
    return storeError(folder, "a record cannot be read",
                      std::string(description.begin(), description.size()));
  }
  if (!it->status().ok()) return storeError(folder, "cannot be read", it->status().ToString());
  return {};
}

struct Collect {
  StoreContents& to;

  void operator()(ClusterRecord&& r) { to.cluster = std::move(r); }
  void operator()(QualitySettings&& r) { to.settings = r; }
  void operator()(ServerRecord&& r) { to.servers.push_back(std::move(r)); }
  void operator()(AgentRecord&& r) { to.agents.push_back(std::move(r)); }
  void operator()(AnswerRecord&& r) { to.answers.push_back(std::move(r)); }
  void operator()(PlatformRecord&& r) { to.platforms.push_back(std::move(r)); }
  void operator()(JobRecord&& r) { to.jobs.push_back(std::move(r)); }
  void operator()(JobProgress&& r) { to.progress.push_back(std::move(r)); }
  void operator()(TaskRecord&& r) { to.tasks.push_back(std::move(r)); }
  void operator()(DecisionRecord&&) {}
  void operator()(Usage&& r) { to.usage.push_back(std::move(r)); }
  void operator()(FilesRecord&&) {}
};

// A database with its two column families.
struct OpenDb {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;

  OpenDb() = default;
  OpenDb(OpenDb&& other) noexcept : db(std::move(other.db)), families(std::exchange(other.families, {})) {}
  OpenDb& operator=(OpenDb&&) = delete;
  ~OpenDb() {
    for (rocksdb::ColumnFamilyHandle* family : families) db->DestroyColumnFamilyHandle(family);
  }

  rocksdb::ColumnFamilyHandle* rest() const { return families.at(0); }
  rocksdb::ColumnFamilyHandle* readWhileServing() const { return families.at(1); }
};

class RocksStore final : public Store {
 public:
  RocksStore(OpenDb open, std::string folder) : open_(std::move(open)), folder_(std::move(folder)) {}

  // Stores written before there were two column families have everything in one. Repeated after a crash.
  Status moveOldRecords() {
    for (RecordKind kind : {RecordKind::kDecision, RecordKind::kFiles}) {
      const std::string prefix(1, static_cast<char>(kind));
      std::unique_ptr<rocksdb::Iterator> it(open_.db->NewIterator(rocksdb::ReadOptions(), open_.rest()));
      for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
        rocksdb::WriteBatch batch;
        check(batch.Put(open_.readWhileServing(), it->key(), it->value()));
        check(batch.Delete(open_.rest(), it->key()));
        const rocksdb::Status status = open_.db->Write({}, &batch);
        if (!status.ok()) return storeError(folder_, "a write failed", status.ToString());
      }
      if (!it->status().ok()) return storeError(folder_, "cannot be read", it->status().ToString());
    }
    return {};
  }

  Result<StoreContents> load() override {
    StoreContents contents;
    using Kind = RecordKind;
    for (Kind kind : {Kind::kCluster, Kind::kSettings, Kind::kServer, Kind::kAgent, Kind::kAnswer,
                      Kind::kPlatform, Kind::kJob, Kind::kProgress, Kind::kTask, Kind::kUsage}) {
      const std::string prefix(1, static_cast<char>(kind));
      Status status = scan(*open_.db, open_.rest(), folder_, prefix, [&contents](Record&& record) {
        std::visit(Collect{contents}, std::move(record));
      });
      if (!status.ok()) return status.error();
    }
    return contents;
  }

  Status write(std::span<const Mutation> mutations) override {
    rocksdb::WriteBatch batch;
    for (const Mutation& mutation : mutations)
      std::visit([this, &batch](const auto& m) { add(batch, m); }, mutation);
    rocksdb::WriteOptions options;
    options.sync = true;
    const rocksdb::Status status = open_.db->Write(options, &batch);
    if (!status.ok()) return storeError(folder_, "a write failed", status.ToString());
    return {};
  }

  Result<std::vector<InputFile>> files(const JobId& job) override {
    std::vector<InputFile> files;
    Status status = scan(*open_.db, open_.readWhileServing(), folder_, jobKey(RecordKind::kFiles, job),
                         [&files](Record&& record) {
                           if (auto* found = std::get_if<FilesRecord>(&record)) files = *found->files;
                         });
    if (!status.ok()) return status.error();
    return files;
  }

  Result<std::vector<DecisionRecord>> decisions(const JobId& job) override {
    std::vector<DecisionRecord> decisions;
    const auto take = [&decisions](Record&& record) {
      if (auto* found = std::get_if<DecisionRecord>(&record)) decisions.push_back(std::move(*found));
    };
    Status status =
        scan(*open_.db, open_.readWhileServing(), folder_, jobKey(RecordKind::kDecision, job), take);
    if (!status.ok()) return status.error();
    return decisions;
  }

 private:
  static void check(const rocksdb::Status& status) { KJ_ASSERT(status.ok(), status.ToString().c_str()); }

  void add(rocksdb::WriteBatch& batch, const Put& put) {
    const std::string key = keyOf(put.record);
    check(batch.Put(familyOf(static_cast<RecordKind>(key.front())), key, encodeRecord(put.record)));
  }

  void add(rocksdb::WriteBatch& batch, const EraseAnswer& erase) {
    check(batch.Delete(open_.rest(), answerKey(erase.agent, erase.epoch, erase.sequence)));
  }

  void add(rocksdb::WriteBatch& batch, const EraseJob& erase) {
    for (RecordKind kind : {RecordKind::kJob, RecordKind::kProgress, RecordKind::kFiles}) {
      check(batch.Delete(familyOf(kind), jobKey(kind, erase.job)));
    }
    for (RecordKind kind : {RecordKind::kTask, RecordKind::kDecision}) {
      const std::string begin = jobKey(kind, erase.job);
      // Keys of a job end in four bytes of a number; five bytes of ones are beyond all of them.
      check(batch.DeleteRange(familyOf(kind), begin, begin + std::string(5, '\xff')));
    }
  }

  rocksdb::ColumnFamilyHandle* familyOf(RecordKind kind) const {
    return isReadWhileServing(kind) ? open_.readWhileServing() : open_.rest();
  }

  const OpenDb open_;
  const std::string folder_;
};

rocksdb::Options rocksOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.allow_concurrent_memtable_write = false;  // which a table in the order of writing asks for
  options.max_write_buffer_number = 4;              // so that a burst does not wait for a flush
  // The memory table absorbs bursts of small records; a log of about this size is replayed at a start.
  options.write_buffer_size = 32 << 20;
  options.keep_log_file_num = 4;
  options.max_log_file_size = 4 << 20;
  // A torn last record is what a crash leaves; anything else in the log is damage, and must not be read over.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  return options;
}

}  // namespace

Result<std::unique_ptr<Store>> openRocksStore(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    return storeError(folder, "cannot be made", problem.message() + "; choose a writable --data folder");
  const rocksdb::Options options = rocksOptions();
  rocksdb::ColumnFamilyOptions unsorted(options);
  unsorted.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  OpenDb open;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(
      options, folder, {{rocksdb::kDefaultColumnFamilyName, unsorted}, {kReadWhileServing, options}},
      &open.families, &db);
  open.db.reset(db);
  if (!status.ok()) {
    return storeError(folder, "cannot be opened",
                      status.ToString() + " (is it writable, and no other master using it?)");
  }
  auto store = std::make_unique<RocksStore>(std::move(open), folder);
  if (const Status moved = store->moveOldRecords(); !moved) return moved.error();
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace tarcil
