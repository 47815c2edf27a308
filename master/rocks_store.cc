#include "master/rocks_store.h"

#include <kj/debug.h>
#include <rocksdb/db.h>
#include <rocksdb/utilities/checkpoint.h>

#include <filesystem>

#include "master/store_codec.h"
#include "master/store_folder.h"
#include "schema/store.capnp.h"

namespace tarcil {
namespace {

std::string_view view(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}

Error storeError(const std::string& folder, const std::string& what, const std::string& why) {
  return {ErrorCode::kInternal, "the store in " + folder + ": " + what + ": " + why};
}

// Every record of a kind, or of a job, in order of keys.
template <typename Take>
Status scan(rocksdb::DB& db, const std::string& folder, const std::string& prefix, Take take) {
  std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(rocksdb::ReadOptions()));
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
  void operator()(FilesRecord&&) {}
};

std::string inHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

// The letter, and the rest in hexadecimal digits: of a record that does not say what it is.
std::string rawKey(std::string_view key) {
  return key.empty() ? "" : std::string(1, key.front()) + "/" + inHex(key.substr(1));
}

// What is wrong with the bytes of one record; takes it to where it belongs where nothing is.
std::optional<StoreProblem> takeRecord(std::string_view key, std::string_view value, WholeStore& to) {
  std::optional<StoreProblem> problem;
  auto failure = kj::runCatchingExceptions([&]() {
    Record record = decodeRecord(key, value);
    if (keyOf(record) != key) {
      problem = {rawKey(key), "holds the record of " + readableKey(record)};
    } else if (auto* decision = std::get_if<DecisionRecord>(&record)) {
      to.decisions.push_back(std::move(*decision));
    } else if (const auto* files = std::get_if<FilesRecord>(&record)) {
      to.files.push_back(files->job);
    } else {
      std::visit(Collect{to.contents}, std::move(record));
    }
  });
  KJ_IF_MAYBE (exception, failure) {
    const auto text = exception->getDescription();
    problem = {rawKey(key), "cannot be read: " + std::string(text.begin(), text.size())};
  }
  return problem;
}

class RocksStore final : public Store {
 public:
  RocksStore(std::unique_ptr<rocksdb::DB> db, std::string folder)
      : db_(std::move(db)), folder_(std::move(folder)) {}

  Result<StoreContents> load() override {
    StoreContents contents;
    using Kind = RecordKind;
    for (Kind kind : {Kind::kCluster, Kind::kSettings, Kind::kServer, Kind::kAgent, Kind::kAnswer,
                      Kind::kPlatform, Kind::kJob, Kind::kProgress, Kind::kTask}) {
      const std::string prefix(1, static_cast<char>(kind));
      Status status = scan(*db_, folder_, prefix, [&contents](Record&& record) {
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
    const rocksdb::Status status = db_->Write(options, &batch);
    if (!status.ok()) return storeError(folder_, "a write failed", status.ToString());
    return {};
  }

  Result<std::vector<InputFile>> files(const JobId& job) override {
    std::vector<InputFile> files;
    Status status = scan(*db_, folder_, jobKey(RecordKind::kFiles, job), [&files](Record&& record) {
      if (auto* found = std::get_if<FilesRecord>(&record)) files = *found->files;
    });
    if (!status.ok()) return status.error();
    return files;
  }

  Result<std::vector<DecisionRecord>> decisions(const JobId& job) override {
    std::vector<DecisionRecord> decisions;
    Status status = scan(*db_, folder_, jobKey(RecordKind::kDecision, job), [&decisions](Record&& record) {
      if (auto* found = std::get_if<DecisionRecord>(&record)) decisions.push_back(std::move(*found));
    });
    if (!status.ok()) return status.error();
    return decisions;
  }

  // A checkpoint is what the log holds up to some batch, so it is as whole as what a crash leaves.
  Status backup(const std::string& folder) override {
    return makeStoreFolder(folder, [this](const std::string& part) -> Status {
      rocksdb::Checkpoint* made = nullptr;
      rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
      const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
      if (status.ok()) status = checkpoint->CreateCheckpoint(part);
      if (!status.ok()) return storeError(folder_, "cannot be copied to " + part, status.ToString());
      return {};
    });
  }

  Result<uint64_t> freeSpace() override {
    std::error_code problem;
    const auto space = std::filesystem::space(folder_, problem);
    if (problem) return storeError(folder_, "its free space cannot be read", problem.message());
    return space.available;
  }

 private:
  static void check(const rocksdb::Status& status) { KJ_ASSERT(status.ok(), status.ToString().c_str()); }

  void add(rocksdb::WriteBatch& batch, const Put& put) {
    check(batch.Put(keyOf(put.record), encodeRecord(put.record)));
  }

  void add(rocksdb::WriteBatch& batch, const EraseAnswer& erase) {
    check(batch.Delete(answerKey(erase.agent, erase.epoch, erase.sequence)));
  }

  void add(rocksdb::WriteBatch& batch, const EraseJob& erase) {
    for (RecordKind kind : {RecordKind::kJob, RecordKind::kProgress, RecordKind::kFiles}) {
      check(batch.Delete(jobKey(kind, erase.job)));
    }
    for (RecordKind kind : {RecordKind::kTask, RecordKind::kDecision}) {
      const std::string begin = jobKey(kind, erase.job);
      // Keys of a job end in four bytes of a number; five bytes of ones are beyond all of them.
      check(batch.DeleteRange(begin, begin + std::string(5, '\xff')));
    }
  }

  std::unique_ptr<rocksdb::DB> db_;
  const std::string folder_;
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
  // The memory table absorbs bursts of small records; a log of about this size is replayed at a start.
  options.write_buffer_size = 32 << 20;
  // A torn last record is what a crash leaves; anything else in the log is damage, and must not be read over.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  return options;
}

}  // namespace

Result<StoreReading> readWholeStore(const std::string& folder) {
  if (const Status usable = requireStoreFolder(folder); !usable) return usable.error();
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status = rocksdb::DB::OpenForReadOnly(rocksOptions(), folder, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  StoreReading reading;
  if (status.ok()) status = db->VerifyChecksum();
  if (status.ok()) {
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(rocksdb::ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      auto problem = takeRecord(view(it->key()), view(it->value()), reading.store);
      if (problem) reading.unreadable.push_back(std::move(*problem));
    }
    status = it->status();
  }
  if (!status.ok()) reading.unreadable.push_back({"", "the files are damaged: " + status.ToString()});
  return reading;
}

Result<std::unique_ptr<Store>> openRocksStore(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem)
    return storeError(folder, "cannot be made", problem.message() + "; choose a writable --data folder");
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(rocksOptions(), folder, &db);
  if (!status.ok()) {
    return storeError(folder, "cannot be opened",
                      status.ToString() + " (is it writable, and no other master using it?)");
  }
  return std::unique_ptr<Store>(std::make_unique<RocksStore>(std::unique_ptr<rocksdb::DB>(db), folder));
}

}  // namespace tarcil
