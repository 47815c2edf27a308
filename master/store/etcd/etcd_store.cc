#include "master/store/etcd/etcd_store.h"

#include <kj/exception.h>

#include <algorithm>
#include <utility>

#include "env/failpoint.h"
#include "env/linux/worker_thread.h"
#include "master/store/codec/store_change.h"
#include "master/store/etcd/etcd_reading.h"
#include "master/store/etcd/follower.h"
#include "master/store/etcd/journal.h"
#include "master/store/rocks/store_folder.h"
#include "schema/store.capnp.h"

namespace tarcil {
namespace {

using What = etcd::Operation::What;
using Comparison = etcd::Compare::What;

// Changes that wait to be folded, beyond which writing waits: what a master has in memory twice.
constexpr size_t kMaxUnfoldedBytes = 64 << 20;
// After which etcd is told to forget what was before.
constexpr size_t kCompactBytes = 64 << 20;
// What is read while the master serves, and who waits for that.
constexpr Duration kReadPatience = std::chrono::seconds(1);

// Sends it again until it is answered or the lease is over; what became of it before the answer says.
Result<etcd::Outcome> commitWhileLeading(etcd::Client& client, const etcd::Transaction& transaction,
                                         const Clock& clock, const Leadership& leadership) {
  return persistently(clock, leadership.deadline(),
                      [&](Duration atMost) { return client.commit(transaction, atMost); });
}

// What decodes records throws where one cannot be read.
template <typename Decode>
Status decoded(Decode decode) {
  KJ_IF_MAYBE (exception, kj::runCatchingExceptions(decode)) {
    const auto text = exception->getDescription();
    return Error{ErrorCode::kInternal,
                 "a record in etcd cannot be read: " + std::string(text.begin(), text.size())};
  }
  return {};
}

class StoreInEtcd final : public EtcdStore {
 public:
  StoreInEtcd(etcd::Client& client, const EtcdStoreOptions& options, const Clock& clock,
              std::unique_ptr<Leadership> leadership, EtcdState state, std::optional<HeldRecords> held)
      : client_(client),
        keys_(options.prefix),
        options_(options),
        clock_(clock),
        leadership_(std::move(leadership)),
        held_(std::move(held)),
        tail_(state.tail),
        tailRevision_(state.tailRevision),
        foldedTo_(state.folded),
        foldedRevision_(state.foldedRevision),
        compacted_(state.revision),
        unfolded_(std::move(state.unfolded)) {
    measure();
    folder_ = startWorker([this]() { foldAgainAndAgain(); });
  }
  ~StoreInEtcd() override {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
    }
    changed_.notify_all();
    folder_.join();
  }

  Leadership& leadership() override { return *leadership_; }

  JournalLength journalLength() override {
    const std::lock_guard lock(mutex_);
    return {unfolded_.batches(), unfolded_.bytes()};
  }

  Status mayTell() const override {
    if (leadership_->holds()) return {};
    return Error{ErrorCode::kConflict, "another master may lead by now"};
  }

  Result<StoreContents> load() override {
    StoreContents contents;
    if (const auto held = std::exchange(held_, std::nullopt)) {
      Status read = decoded([&]() {
        for (const auto& [key, value] : *held) collect(decodeRecord(key, value), contents);
      });
      if (!read) return read.error();
      return contents;
    }
    const KeepsHistory keeps(*this);
    const EtcdState state = stateNow();
    using Kind = RecordKind;
    for (Kind kind :
         {Kind::kCluster,  Kind::kSettings, Kind::kServer, Kind::kAgent,  Kind::kAnswer,  Kind::kPlatform,
          Kind::kJob,      Kind::kProgress, Kind::kTask,   Kind::kUsage,  Kind::kProfile, Kind::kProfiling,
          Kind::kObserved, Kind::kUpload,   Kind::kCron,   Kind::kMember, Kind::kUser,    Kind::kAccount,
          Kind::kToken,    Kind::kAudit,    Kind::kSecret}) {
      const std::string begin(1, static_cast<char>(kind)),
          end(1, static_cast<char>(static_cast<char>(kind) + 1));
      const Status read = scan(state, begin, end, kEtcdPatience,
                               [&contents](Record&& record) { collect(std::move(record), contents); });
      if (!read) return read.error();
    }
    return contents;
  }

  Status write(std::span<const Mutation> mutations) override {
    ChangeList list;
    for (const Mutation& mutation : mutations) addChanges(mutation, list);
    const uint64_t number = tail_ + 1;
    const BatchValue batch = inParts(encodeBatch(static_cast<uint64_t>(leadership_->term()), list.changes));
    size_t bytes = batch.value.size();
    for (uint32_t part = 0; part < batch.parts.size(); ++part) {
      bytes += batch.parts[part].size();
      if (const auto put = putPart(number, part, batch.parts[part]); !put) return put.error();
    }
    failpoint("etcd.before_batch");
    const auto revision = commit({{leadership_->fence(),
                                   {Comparison::kCreated, keys_.batch(number), 0},
                                   {Comparison::kModified, keys_.batch(tail_), tailRevision_}},
                                  {{.what = What::kPut, .key = keys_.batch(number), .value = batch.value}},
                                  {{.what = What::kGet, .key = keys_.batch(number)}}});
    if (!revision) return revision.error();
    failpoint("etcd.after_batch");
    tail_ = number;
    tailRevision_ = *revision;
    return remember(number, std::move(list.changes), bytes);
  }

  Result<FilePiece> filePiece(const JobId& job, uint32_t piece) override {
    const std::string key = filePieceKey(job, piece);
    FilePiece files;
    const auto take = [&files](Record&& record) {
      if (auto* found = std::get_if<FilesRecord>(&record)) files = *found->files;
    };
    const Status read = scan(stateNow(key, key + '\0'), key, key + '\0', kReadPatience, take);
    if (!read) return read.error();
    return files;
  }

  Result<std::vector<DecisionRecord>> decisions(const JobId& job) override {
    std::vector<DecisionRecord> decisions;
    const auto take = [&decisions](Record&& record) {
      if (auto* found = std::get_if<DecisionRecord>(&record)) decisions.push_back(std::move(*found));
    };
    const std::string begin = jobKey(RecordKind::kDecision, job), end = begin + std::string(5, '\xff');
    const Status read = scan(stateNow(begin, end), begin, end, kReadPatience, take);
    if (!read) return read.error();
    return decisions;
  }

  // A RocksDB store, whatever the original is: so check and restore are the same, and this is the way out of
  // etcd, too.
  Status backup(const std::string& folder) override {
    const KeepsHistory keeps(*this);
    const auto state = readState(client_, keys_, clock_, kEtcdPatience);
    if (!state) return state.error();
    return makeStoreFolder(folder, [&](const std::string& part) -> Status {
      auto copy = openRocksStore(part);
      if (!copy) return copy.error();
      std::vector<Mutation> batch;
      size_t bytes = 0;
      Status written;
      const auto write = [&]() {
        if (written && !batch.empty()) written = (*copy)->write(batch);
        batch.clear();
        bytes = 0;
      };
      const Status read = decoded([&]() {
        const Status scanned = scanRecords(client_, keys_, clock_, kEtcdPatience, *state, kFirstKey,
                                           kBehindKeys, [&](std::string_view key, std::string_view value) {
                                             batch.push_back(Put{decodeRecord(key, value)});
                                             bytes += value.size();
                                             if (bytes > kMaxValueBytes) write();
                                           });
        if (!scanned) written = scanned;
      });
      write();
      return read ? written : read;
    });
  }

  // As the thread that folds saw it last: nobody waits for etcd.
  Result<StoreSpace> space() override {
    const std::lock_guard lock(mutex_);
    return space_;
  }

  Status fold() override {
    std::unique_lock lock(mutex_);
    const uint64_t to = unfolded_.last();
    foldAtOnce_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&]() { return foldedTo_ >= to || !failure_.ok(); });
    return failure_;
  }

 private:
  // While one lives etcd is not told to forget anything.
  class KeepsHistory {
   public:
    explicit KeepsHistory(StoreInEtcd& store) : store_(store) {
      const std::lock_guard lock(store_.mutex_);
      ++store_.readers_;
    }
    ~KeepsHistory() {
      const std::lock_guard lock(store_.mutex_);
      --store_.readers_;
    }
    KeepsHistory(const KeepsHistory&) = delete;
    KeepsHistory& operator=(const KeepsHistory&) = delete;

   private:
    StoreInEtcd& store_;
  };

  // --- What is read --------------------------------------------------------------------------------------

  // What has been written, of keys from `begin` to before `end`: records as they are now in etcd, under what
  // is not folded.
  EtcdState stateNow(const std::string& begin = kFirstKey, const std::string& end = kBehindKeys) {
    const std::lock_guard lock(mutex_);
    EtcdState state;
    state.unfolded = unfolded_.between(begin, end);
    return state;
  }

  template <typename Take>
  Status scan(const EtcdState& state, const std::string& begin, const std::string& end, Duration atMost,
              Take take) {
    Status scanned;
    Status read = decoded([&]() {
      scanned =
          scanRecords(client_, keys_, clock_, atMost, state, begin, end,
                      [&](std::string_view key, std::string_view value) { take(decodeRecord(key, value)); });
    });
    return read ? scanned : read;
  }

  // --- What is written -----------------------------------------------------------------------------------

  // Carries a transaction out whose only put, or whose last, is of the key that its `otherwise` reads; gives
  // the revision at which that was. Sent again as it is until it is answered; what became of it the first
  // time the answer says.
  Result<int64_t> commit(const etcd::Transaction& transaction) {
    const auto outcome = commitWhileLeading(client_, transaction, clock_, *leadership_);
    if (!outcome) return outcome.error();
    if (outcome->held) return outcome->revision;
    const auto& found = outcome->found.at(0);
    if (!found.empty() && found[0].value == transaction.then.back().value) return found[0].modified;
    const std::string why = "another master leads, or what is in etcd was changed by somebody else";
    leadership_->lose(why);
    return Error{ErrorCode::kConflict, why};
  }

  Result<int64_t> putPart(uint64_t batch, uint32_t part, const std::string& value) {
    const std::string key = keys_.part(batch, part);
    return commit({{leadership_->fence()},
                   {{.what = What::kPut, .key = key, .value = value}},
                   {{.what = What::kGet, .key = key}}});
  }

  // Of a batch that has been written. Waits where folding is far behind.
  Status remember(uint64_t number, std::vector<Change> changes, size_t bytes) {
    std::unique_lock lock(mutex_);
    unfolded_.add(number, std::move(changes));
    sinceCompaction_ += bytes;
    if (unfolded_.bytes() >= options_.foldBytes) changed_.notify_all();
    changed_.wait(lock, [this]() { return unfolded_.bytes() < kMaxUnfoldedBytes || !failure_.ok(); });
    return failure_;
  }

  // --- Folding, on a thread of its own ---------------------------------------------------------------------

  void foldAgainAndAgain() {
    std::unique_lock lock(mutex_);
    while (!quit_ && failure_.ok()) {
      changed_.wait_for(lock, std::chrono::microseconds(options_.foldPause),
                        [this]() { return quit_ || foldAtOnce_ || unfolded_.bytes() >= options_.foldBytes; });
      if (quit_) return;
      foldAtOnce_ = false;
      const Unfolded changes = unfolded_;
      const size_t written = sinceCompaction_;
      lock.unlock();
      Status folded = changes.batches() > 0 ? foldAll(changes) : Status();
      if (folded && written >= kCompactBytes) compact();
      measure();
      lock.lock();
      failure_ = std::move(folded);
      if (failure_.ok() && changes.batches() > 0) {
        unfolded_.folded(changes.last());
        foldedTo_ = changes.last();
      }
      changed_.notify_all();
    }
    if (!failure_.ok()) leadership_->lose("the journal cannot be folded: " + failure_.error().message);
  }

  // Erasures first, since a transaction may not put what it erases.
  Status foldAll(const Unfolded& changes) {
    std::vector<etcd::Operation> step;
    size_t bytes = 0;
    const auto add = [&](etcd::Operation operation) -> Status {
      const size_t size = operation.key.size() + operation.value.size() + 64;
      Status folded;
      if (bytes + size > etcd::kMaxTransactionBytes || step.size() + 4 > etcd::kMaxOperations) {
        folded = foldStep(std::exchange(step, {}), foldedTo_);
        bytes = 0;
      }
      bytes += size;
      step.push_back(std::move(operation));
      return folded;
    };
    for (const auto& [begin, range] : changes.erasedRanges()) {
      Status added = add({.what = What::kErase, .key = keys_.record(begin), .end = keys_.record(range.end)});
      if (!added) return added;
    }
    if (!step.empty()) {
      if (Status folded = foldStep(std::exchange(step, {}), foldedTo_); !folded) return folded;
      bytes = 0;
    }
    for (const auto& [key, entry] : changes.entries()) {
      Status added = entry.value ? add({.what = What::kPut, .key = keys_.record(key), .value = *entry.value})
                                 : add({.what = What::kErase, .key = keys_.record(key)});
      if (!added) return added;
    }
    // The last step: what was folded is not needed any more, but for the last batch, which the next one is
    // compared with.
    const uint64_t last = changes.last();
    step.push_back({.what = What::kErase, .key = keys_.batch(0), .end = keys_.batch(last)});
    step.push_back({.what = What::kErase, .key = keys_.parts(), .end = keys_.part(last + 1, 0)});
    return foldStep(std::move(step), last);
  }

  Status foldStep(std::vector<etcd::Operation> operations, uint64_t foldedTo) {
    failpoint("etcd.before_fold");
    // Different in each step, so that what became of it can be told.
    const std::string value =
        std::to_string(foldedTo) + " " + std::to_string(leadership_->term()) + " " + std::to_string(++steps_);
    operations.push_back({.what = What::kPut, .key = keys_.folded(), .value = value});
    const auto revision =
        commit({{leadership_->fence(), {Comparison::kModified, keys_.folded(), foldedRevision_}},
                std::move(operations),
                {{.what = What::kGet, .key = keys_.folded()}}});
    if (!revision) return revision.error();
    foldedRevision_ = *revision;
    return {};
  }

  // What was before the last step before this: who follows the journal has seen that.
  void compact() {
    {
      const std::lock_guard lock(mutex_);
      sinceCompaction_ = 0;
      if (readers_ > 0) return;
    }
    const Status compacted = client_.compact(std::exchange(compacted_, foldedRevision_), kEtcdPatience);
    if (compacted || compacted.error().code == ErrorCode::kConflict) return;
    const std::lock_guard lock(mutex_);
    notCompacted_ =
        "etcd was not told to forget old revisions, and takes more space: " + compacted.error().message;
  }

  void measure() {
    const auto size = client_.size(kReadPatience);
    const std::lock_guard lock(mutex_);
    if (!size) {
      space_ =
          Error{size.error().code, "how much space etcd has cannot be found out: " + size.error().message};
    } else if (!notCompacted_.empty()) {
      space_ = Error{ErrorCode::kUnavailable, std::exchange(notCompacted_, "")};
    } else {
      space_ = StoreSpace{options_.quota > size->onDisk ? options_.quota - size->onDisk : 0, size->onDisk};
    }
  }

  etcd::Client& client_;
  const EtcdKeys keys_;
  const EtcdStoreOptions options_;
  const Clock& clock_;
  const std::unique_ptr<Leadership> leadership_;

  std::optional<HeldRecords> held_;  // until they are loaded

  // Of the thread that writes.
  uint64_t tail_;
  int64_t tailRevision_;

  // Of the thread that folds; foldedTo_ is changed under mutex_.
  uint64_t foldedTo_;
  int64_t foldedRevision_, compacted_;
  uint64_t steps_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  Unfolded unfolded_;
  Status failure_;
  Result<StoreSpace> space_ = StoreSpace{};  // or why it is not known
  std::string notCompacted_;
  size_t sinceCompaction_ = 0;
  uint32_t readers_ = 0;
  bool foldAtOnce_ = false, quit_ = false;
  std::thread folder_;
};

// A new store: the format is last, and all of it at once.
Status begin(etcd::Client& client, const EtcdKeys& keys, const Clock& clock, const Leadership& leadership) {
  const std::string format = std::to_string(static_cast<uint32_t>(wire::FORMAT_VERSION));
  const etcd::Transaction transaction{
      {leadership.fence(), {Comparison::kCreated, keys.format(), 0}},
      {{.what = What::kPut,
        .key = keys.batch(0),
        .value = inParts(encodeBatch(static_cast<uint64_t>(leadership.term()), {})).value},
       {.what = What::kPut, .key = keys.folded(), .value = "0"},
       {.what = What::kPut, .key = keys.format(), .value = format}},
      {}};
  const auto outcome = commitWhileLeading(client, transaction, clock, leadership);
  // Where an earlier repeat was carried out, or somebody else's, the store is there.
  return outcome ? Status() : Status(outcome.error());
}

// Nothing where nobody has said yet whose it is.
Status requireOwn(const EtcdState& state, const EtcdKeys& keys, const std::string& authority) {
  if (state.authority.empty() || state.authority == authority) return {};
  return invalid(
      "the store in etcd under " + keys.prefix() + " is another cluster's: its authority is " +
      state.authority + ", and this master's " + (authority.empty() ? "none" : authority) +
      "; give each cluster an --etcd-prefix of its own. Where the cluster was given a new authority, erase " +
      keys.authority());
}

Status claim(etcd::Client& client, const EtcdKeys& keys, const Clock& clock, const Leadership& leadership,
             const std::string& authority) {
  const etcd::Transaction transaction{{leadership.fence(), {Comparison::kCreated, keys.authority(), 0}},
                                      {{.what = What::kPut, .key = keys.authority(), .value = authority}},
                                      {}};
  const auto outcome = commitWhileLeading(client, transaction, clock, leadership);
  return outcome ? Status() : Status(outcome.error());
}

// Between two looks whether anybody still waits.
constexpr Duration kAskedAtFirst = std::chrono::seconds(1);
// How often some records are compared: a hundred thousand in a quarter of an hour.
constexpr Duration kCompared = std::chrono::seconds(10);

// `waiting` and `follower` outlive it.
Campaign campaignOf(const Waiting& waiting, bool follows, Follower& follower, const Clock& clock) {
  Campaign campaign{.goesOn = waiting.goesOn};
  if (!follows) return campaign;
  campaign.whileOtherLeads = [&waiting, &follower, &clock, compareAt = clock.now().steady + kCompared,
                              term = int64_t{0}](const Leader& leader, int64_t revision) mutable -> Status {
    if (std::exchange(term, leader.term) != leader.term && waiting.leads) waiting.leads(leader);
    Status followed = follower.follow(revision);
    if (followed && clock.now().steady >= compareAt) {
      followed = follower.compareSome();
      compareAt = clock.now().steady + kCompared;
    }
    // What cannot be followed now is read when this one leads, if need be.
    if (waiting.follows) {
      waiting.follows(
          {follower.hasState(), follower.completeAt(), followed ? std::string() : followed.error().message});
    }
    if (!followed) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return {};
  };
  return campaign;
}

// Before anything was asked that could have happened.
Error noAnswer(const Error& error) {
  return error.code == ErrorCode::kUnavailable ? invalid("no answer from " + error.message) : error;
}

Error noStore(const std::string& prefix, bool isEmpty) {
  if (isEmpty) {
    return invalid("there is no store in etcd under " + prefix +
                   ": is the prefix right? To begin a new cluster there, give --etcd-new once");
  }
  return invalid("under " + prefix +
                 " etcd has keys that are no whole store: another program's, or what an interrupted import "
                 "left; name another prefix, "
                 "or erase them");
}

}  // namespace

Result<std::unique_ptr<EtcdStore>> EtcdStore::open(etcd::Client& client, const EtcdStoreOptions& options,
                                                   const Clock& clock, Rng& rng, const Waiting& waiting) {
  const EtcdKeys keys(options.prefix);
  // Looked at before anything is written.
  const MonotonicTime until = clock.now().steady + options.firstAnswer;
  auto state = readState(client, keys, clock, kAskedAtFirst);
  while (!state && state.error().code == ErrorCode::kUnavailable && clock.now().steady < until &&
         waiting.goesOn())
    state = readState(client, keys, clock, kAskedAtFirst);
  if (!state) return noAnswer(state.error());
  if (!state->isThere && !(state->isEmpty && options.mayBegin))
    return noStore(options.prefix, state->isEmpty);
  if (const Status own = requireOwn(*state, keys, options.authority); !own) return own.error();
  Follower follower(client, keys, clock);
  auto leadership = Leadership::campaign(client, keys, options.leadership, clock, rng(),
                                         campaignOf(waiting, options.followsWhileWaiting, follower, clock));
  if (!leadership) return leadership.error();
  if (!state->isThere) {
    if (const Status begun = begin(client, keys, clock, **leadership); !begun) return begun.error();
  }
  state = readState(client, keys, clock, kEtcdPatience);
  if (!state) return state.error();
  if (!state->isThere) return noStore(options.prefix, state->isEmpty);
  if (const Status own = requireOwn(*state, keys, options.authority); !own) return own.error();
  if (state->authority.empty() && !options.authority.empty()) {
    const Status claimed = claim(client, keys, clock, **leadership, options.authority);
    if (!claimed) return claimed.error();
  }
  auto held = follower.takeRecords(*state);
  return std::unique_ptr<EtcdStore>(std::make_unique<StoreInEtcd>(
      client, options, clock, std::move(*leadership), std::move(*state), std::move(held)));
}

Status importStore(const std::string& folder, etcd::Client& client, const EtcdStoreOptions& options,
                   const Clock& clock, Rng& rng) {
  const EtcdKeys keys(options.prefix);
  const auto state = readState(client, keys, clock, kEtcdPatience);
  if (!state) return noAnswer(state.error());
  if (state->isThere)
    return invalid("there is a store in etcd under " + options.prefix + " already; name another prefix");
  if (!state->isEmpty) return noStore(options.prefix, false);
  const auto leadership = Leadership::campaign(client, keys, options.leadership, clock, rng(), {});
  if (!leadership) return leadership.error();
  etcd::Transaction transaction{{(*leadership)->fence()}, {}, {}};
  size_t bytes = 0;
  const auto put = [&]() -> Status {
    const auto outcome = commitWhileLeading(client, transaction, clock, **leadership);
    transaction.then.clear();
    bytes = 0;
    if (!outcome) return outcome.error();
    if (outcome->held) return {};
    return Error{ErrorCode::kConflict, "another master leads under " + options.prefix};
  };
  Status read = eachRecord(folder, [&](std::string key, std::string value) -> Status {
    const size_t size = key.size() + value.size() + 64;
    Status full;
    if (bytes + size > etcd::kMaxTransactionBytes || transaction.then.size() == etcd::kMaxOperations)
      full = put();
    bytes += size;
    transaction.then.push_back({.what = What::kPut, .key = keys.record(key), .value = std::move(value)});
    return full;
  });
  if (!read) return read;
  if (!transaction.then.empty()) {
    if (Status rest = put(); !rest) return rest;
  }
  return begin(client, keys, clock, **leadership);
}

}  // namespace tarcil
