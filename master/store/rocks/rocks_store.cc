#include "master/store/rocks/rocks_store.h"

#include <kj/debug.h>
#include <rocksdb/db.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/utilities/checkpoint.h>

#include <filesystem>
#include <utility>

#include "env/failpoint.h"
#include "master/store/codec/store_change.h"
#include "master/store/codec/store_codec.h"
#include "master/store/rocks/store_folder.h"
#include "master/store/rocks/write_mark.h"
#include "schema/store.capnp.h"

namespace tarcil {
namespace {

std::string_view view(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

Error storeError(const std::string& folder, const std::string& what, const std::string& why) {
  return {ErrorCode::kInternal, "the store in " + folder + ": " + what + ": " + why};
}

Error openingError(const std::string& folder, const rocksdb::Status& status) {
  if (status.IsCorruption()) {
    return storeError(folder, "is damaged",
                      status.ToString() +
                          "; `tarcil master check` says what of it can be read, `tarcil master "
                          "restore` makes a store of a backup");
  }
  return storeError(folder, "cannot be opened",
                    status.ToString() + " (is it writable, and no other master using it?)");
}

// Records that are read while the master serves lie in a column family of their own: the others are only read
// at a start, so what is new of them is kept in the order of writing until it is flushed. Keeping it sorted
// took most of the time of a write.
constexpr char kReadWhileServing[] = "read-while-serving";

bool isReadWhileServing(RecordKind kind) {
  return kind == RecordKind::kDecision || kind == RecordKind::kFiles;
}

// What decodes records throws where one cannot be read.
template <typename Decode>
Status decoded(const std::string& folder, Decode decode) {
  KJ_IF_MAYBE (exception, kj::runCatchingExceptions(decode)) {
    const auto description = exception->getDescription();
    return storeError(folder, "a record cannot be read",
                      std::string(description.begin(), description.size()));
  }
  return {};
}

// Every record of a kind, or of a job, in order of keys.
template <typename Take>
Status scan(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& folder,
            const std::string& prefix, Take take) {
  std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(rocksdb::ReadOptions(), family));
  Status read = decoded(folder, [&]() {
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
      take(decodeRecord(view(it->key()), view(it->value())));
    }
  });
  if (!read) return read;
  if (!it->status().ok()) return storeError(folder, "cannot be read", it->status().ToString());
  return {};
}

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

// What an open database is read by.
class RocksReader : public Store {
 public:
  RocksReader(OpenDb open, std::string folder) : open_(std::move(open)), folder_(std::move(folder)) {}

  Result<StoreContents> load() override {
    StoreContents contents;
    using Kind = RecordKind;
    for (Kind kind :
         {Kind::kCluster,  Kind::kSettings, Kind::kServer, Kind::kAgent,  Kind::kAnswer,  Kind::kPlatform,
          Kind::kJob,      Kind::kProgress, Kind::kTask,   Kind::kUsage,  Kind::kProfile, Kind::kProfiling,
          Kind::kObserved, Kind::kUpload,   Kind::kCron,   Kind::kMember, Kind::kUser,    Kind::kAccount,
          Kind::kToken,    Kind::kAudit,    Kind::kSecret}) {
      const std::string prefix(1, static_cast<char>(kind));
      Status status = scan(*open_.db, open_.rest(), folder_, prefix,
                           [&contents](Record&& record) { collect(std::move(record), contents); });
      if (!status.ok()) return status.error();
    }
    return contents;
  }

  Result<FilePiece> filePiece(const JobId& job, uint32_t piece) override {
    const std::string key = filePieceKey(job, piece);
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = open_.db->Get({}, open_.readWhileServing(), key, &value);
    if (status.IsNotFound()) return FilePiece{};
    if (!status.ok()) return storeError(folder_, "cannot be read", status.ToString());
    FilePiece files;
    const Status read = decoded(folder_, [&]() {
      const Record record = decodeRecord(key, view(value));
      if (const auto* found = std::get_if<FilesRecord>(&record)) files = *found->files;
    });
    if (!read) return read.error();
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

  Result<StoreSpace> space() override {
    std::error_code problem;
    const auto disk = std::filesystem::space(folder_, problem);
    if (problem) return storeError(folder_, "its free space cannot be read", problem.message());
    StoreSpace space{.free = disk.available};
    for (const auto& file : std::filesystem::directory_iterator(folder_, problem)) {
      std::error_code gone;  // files come and go meanwhile
      const uint64_t size = file.file_size(gone);
      if (!gone) space.used += size;
    }
    return space;
  }

 protected:
  const OpenDb open_;
  const std::string folder_;
};

void check(const rocksdb::Status& status) {
  KJ_ASSERT(status.ok(), status.ToString().c_str());
}

// Changes as one batch.
class BatchSink final : public ChangeSink {
 public:
  explicit BatchSink(const OpenDb& open) : open_(open) {}

  void put(std::string key, std::string value) override { check(batch.Put(familyOf(key), key, value)); }
  void erase(std::string key) override { check(batch.Delete(familyOf(key), key)); }
  void eraseRange(std::string begin, std::string end) override {
    check(batch.DeleteRange(familyOf(begin), begin, end));
  }

  rocksdb::WriteBatch batch;

 private:
  rocksdb::ColumnFamilyHandle* familyOf(const std::string& key) const {
    return isReadWhileServing(static_cast<RecordKind>(key.front())) ? open_.readWhileServing() : open_.rest();
  }

  const OpenDb& open_;
};

class RocksStore final : public RocksReader {
 public:
  RocksStore(OpenDb open, std::string folder, WriteMark mark)
      : RocksReader(std::move(open), std::move(folder)), mark_(std::move(mark)) {}

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

  Status write(std::span<const Mutation> mutations) override {
    BatchSink batch(open_);
    for (const Mutation& mutation : mutations) addChanges(mutation, batch);
    rocksdb::WriteOptions options;
    options.sync = true;
    const rocksdb::Status status = open_.db->Write(options, &batch.batch);
    if (!status.ok()) return storeError(folder_, "a write failed", status.ToString());
    return mark_.note(open_.db->GetLatestSequenceNumber());
  }

  // A checkpoint is what the log holds up to some batch, so it is as whole as what a crash leaves.
  Status backup(const std::string& folder) override {
    return makeStoreFolder(folder, [this](const std::string& part) -> Status {
      rocksdb::Checkpoint* made = nullptr;
      rocksdb::Status status = rocksdb::Checkpoint::Create(open_.db.get(), &made);
      const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
      if (status.ok()) status = checkpoint->CreateCheckpoint(part);
      if (!status.ok()) return storeError(folder_, "cannot be copied to " + part, status.ToString());
      return {};
    });
  }

 private:
  WriteMark mark_;
};

class ReadOnlyRocksStore final : public RocksReader {
 public:
  ReadOnlyRocksStore(OpenDb open, std::string folder, StoreShare share)
      : RocksReader(std::move(open), std::move(folder)), share_(std::move(share)) {}

  Status write(std::span<const Mutation>) override { return readOnly(); }
  Status backup(const std::string&) override { return readOnly(); }

 private:
  Error readOnly() const { return storeError(folder_, "cannot be written", "it was opened to be read only"); }

  const StoreShare share_;
};

// RocksDB's log of messages would lie on the store's disk, and where that is full the library aborts as soon
// as it has something to say. What goes wrong it also answers.
class NoLog final : public rocksdb::Logger {
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options rocksOptions() {
  rocksdb::Options options;
  options.info_log = std::make_shared<NoLog>();
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.allow_concurrent_memtable_write = false;  // which a table in the order of writing asks for
  options.max_write_buffer_number = 4;              // so that a burst does not wait for a flush
  options.max_total_wal_size = 64 << 20;  // though one family is written to much less than the other
  // The memory table absorbs bursts of small records; a log of about this size is replayed at a start.
  options.write_buffer_size = 32 << 20;
  // A torn last record is what a crash leaves; anything else in the log is damage, and must not be read over.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  return options;
}

// Makes what is missing.
Result<OpenDb> openDb(const std::string& folder) {
  const rocksdb::Options options = rocksOptions();
  rocksdb::ColumnFamilyOptions unsorted(options);
  unsorted.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  OpenDb open;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(
      options, folder, {{rocksdb::kDefaultColumnFamilyName, unsorted}, {kReadWhileServing, options}},
      &open.families, &db);
  open.db.reset(db);
  if (!status.ok()) return openingError(folder, status);
  return open;
}

// Its files stay as they are: what the log holds is read into memory.
rocksdb::Status openReadOnly(const std::string& folder, OpenDb& open) {
  const rocksdb::Options options = rocksOptions();
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, folder, &names);
  if (!status.ok()) return status;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options);
  rocksdb::DB* db = nullptr;
  status = rocksdb::DB::OpenForReadOnly(options, folder, families, &open.families, &db);
  open.db.reset(db);
  return status;
}

// Whether records lie where RocksStore::moveOldRecords() would take them from.
bool hasOldRecords(const OpenDb& open) {
  if (open.families.size() < 2) return true;
  const std::unique_ptr<rocksdb::Iterator> it(open.db->NewIterator(rocksdb::ReadOptions(), open.rest()));
  for (RecordKind kind : {RecordKind::kDecision, RecordKind::kFiles}) {
    const std::string prefix(1, static_cast<char>(kind));
    it->Seek(prefix);
    if (it->Valid() && it->key().starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

Result<StoreReading> readWholeStore(const std::string& folder) {
  if (const Status usable = requireStoreFolder(folder); !usable) return usable.error();
  OpenDb open;
  rocksdb::Status status = openReadOnly(folder, open);
  StoreReading reading;
  if (status.ok()) status = open.db->VerifyChecksum();
  for (rocksdb::ColumnFamilyHandle* family : open.families) {
    if (!status.ok()) break;
    const std::unique_ptr<rocksdb::Iterator> it(open.db->NewIterator(rocksdb::ReadOptions(), family));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      auto problem = takeRecord(view(it->key()), view(it->value()), reading.store);
      if (problem) reading.unreadable.push_back(std::move(*problem));
    }
    status = it->status();
  }
  if (!status.ok()) {
    reading.unreadable.push_back({"", "the files are damaged: " + status.ToString()});
  } else if (const Status whole =
                 requireWhole(folder, open.db->GetLatestSequenceNumber(), readWriteMark(folder));
             !whole) {
    reading.unreadable.push_back({"", whole.error().message});
  }
  return reading;
}

Status eachRecord(const std::string& folder, const std::function<Status(std::string, std::string)>& take) {
  const auto share = StoreShare::take(folder);
  if (!share.ok()) return share.error();
  OpenDb open;
  if (const rocksdb::Status status = openReadOnly(folder, open); !status.ok())
    return openingError(folder, status);
  Status whole = requireWhole(folder, open.db->GetLatestSequenceNumber(), readWriteMark(folder));
  if (!whole) return whole;
  for (rocksdb::ColumnFamilyHandle* family : open.families) {
    const std::unique_ptr<rocksdb::Iterator> it(open.db->NewIterator(rocksdb::ReadOptions(), family));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      if (Status taken = take(it->key().ToString(), it->value().ToString()); !taken) return taken;
    }
    if (!it->status().ok()) return storeError(folder, "cannot be read", it->status().ToString());
  }
  return {};
}

Result<std::unique_ptr<Store>> openRocksStore(const std::string& folder) {
  const Result<bool> there = hasStore(folder);
  if (!there.ok()) return there.error();
  if (!*there) {
    // RocksDB makes its files one by one: of a master that dies meanwhile nothing is to look like a store.
    const Status begun = beginStoreFolder(folder, [](const std::string& unnamed) -> Status {
      const Result<OpenDb> made = openDb(unnamed);
      if (!made.ok()) return made.error();
      failpoint("master.store_unnamed");
      return {};
    });
    if (!begun) return begun.error();
  }
  Result<OpenDb> open = openDb(folder);
  if (!open.ok()) return open.error();
  auto mark = WriteMark::open(folder);
  if (!mark.ok()) return mark.error();
  if (const Status whole = requireWhole(folder, open->db->GetLatestSequenceNumber(), mark->found()); !whole) {
    return whole.error();
  }
  auto store = std::make_unique<RocksStore>(std::move(*open), folder, std::move(*mark));
  if (const Status moved = store->moveOldRecords(); !moved) return moved.error();
  return std::unique_ptr<Store>(std::move(store));
}

Result<std::unique_ptr<Store>> openRocksStoreReadOnly(const std::string& folder) {
  auto share = StoreShare::take(folder);
  if (!share.ok()) return share.error();
  OpenDb open;
  if (const rocksdb::Status status = openReadOnly(folder, open); !status.ok()) {
    return openingError(folder, status);
  }
  const Status whole = requireWhole(folder, open.db->GetLatestSequenceNumber(), readWriteMark(folder));
  if (!whole) return whole.error();
  if (hasOldRecords(open)) {
    return invalid(folder +
                   ": was written by an earlier version, and has records that are to be moved first; "
                   "start a master that may write once");
  }
  return std::unique_ptr<Store>(
      std::make_unique<ReadOnlyRocksStore>(std::move(open), folder, std::move(*share)));
}

}  // namespace tarcil
