// The audit log on its way: entries are linked and go into the batch of what they tell of; from the store
// they are written to the log's files, on a thread of its own, some time later; what is there on disk is
// erased from the store with a later batch. So a crash loses no entry and writes none twice: what the store
// has is compared with the files at each start.
#pragma once

#include <kj/async.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "audit/chain.h"
#include "audit/log_files.h"
#include "audit/log_writer.h"
#include "master/store/store.h"

namespace tarcil {

struct AuditOptions {
  std::string folder;
  audit::LogOptions log;
  uint64_t term = 0;  // of the master; 0 where none follows another
};

class AuditTrail final {
 public:
  // Lines that the store has and the files have not, beyond which the master stops: its files cannot be
  // written, and what is not recorded must not happen.
  static constexpr size_t kMaxUnwrittenBytes = 64 << 20;

  // `stored`: what the store has, in order; it is in the files when this returns. Invalid where the folder
  // cannot be used.
  static Result<std::unique_ptr<AuditTrail>> open(AuditOptions options, std::vector<AuditRecord> stored);
  ~AuditTrail();  // what is stored is in the files then, where these can be written
  AuditTrail(const AuditTrail&) = delete;
  AuditTrail& operator=(const AuditTrail&) = delete;

  // --- The thread that writes the store

  // Adds to a batch what makes the entries durable, and what erases those that are in the files. Exhausted
  // where too many are not in the files.
  Status seal(const std::vector<audit::Entry>& entries, WallTime now, std::vector<Mutation>& to);
  // The batch that was sealed last is in the store.
  void stored();

  // --- The event loop's thread

  // As audit::readPage(), of files that have all that is stored now; and the last entry that was written to
  // them, as it is known without them.
  struct Answer {
    audit::Page page;
    audit::Link head;
  };
  kj::Promise<Answer> read(audit::Position from, audit::Filter filter);

 private:
  struct Question {
    audit::Position from;
    audit::Filter filter;
    kj::Own<kj::CrossThreadPromiseFulfiller<Answer>> answer;
  };

  AuditTrail(AuditOptions options, std::unique_ptr<audit::LogWriter> writer,
             const std::vector<AuditRecord>& stored);
  void work();
  Status writeOut();
  void answer(Question question);

  const AuditOptions options_;
  const std::unique_ptr<audit::LogWriter> writer_;  // of the thread that writes the files

  // Of the thread that writes the store.
  audit::Chain chain_;
  AuditRecord sealed_;           // in no batch that is stored yet
  uint64_t sealedRotation_ = 0;  // up to which entry sealed_ says that files are erased

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<AuditRecord> unwritten_;  // stored, and not in the files
  size_t unwrittenBytes_ = 0;
  std::vector<uint64_t> erasable_;  // numbers of records that are in the files, too
  uint64_t dispensable_ = 0;        // up to which entry files are to be erased
  uint64_t mayErase_ = 0;           // up to which entry the log says that they are
  audit::Link written_;             // the last that is in the files
  std::deque<Question> questions_;
  bool quit_ = false;
  std::thread worker_;
};

}  // namespace tarcil
