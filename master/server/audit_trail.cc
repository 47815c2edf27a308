#include "master/server/audit_trail.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/units.h"
#include "env/clock.h"
#include "env/failpoint.h"
#include "env/linux/worker_thread.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

// What the store has is durable: it is written to the files some of it at a time, so that the disk is not
// asked to flush twice as often.
constexpr auto kPause = std::chrono::milliseconds(500);
constexpr size_t kBytesAtOnce = 4 << 20;
// Until what could not be written is tried again.
constexpr auto kRetry = std::chrono::seconds(1);

// Of some lines, each with its end.
audit::Link lastOf(std::string_view lines) {
  lines.remove_suffix(lines.empty() ? 0 : 1);
  const auto place = audit::placeOf(lines.substr(lines.rfind('\n') + 1));  // npos + 1 is 0
  return place ? place->self : audit::Link{};
}

}  // namespace

Result<std::unique_ptr<AuditTrail>> AuditTrail::open(AuditOptions options, std::vector<AuditRecord> stored) {
  std::string lines;
  for (const AuditRecord& record : stored) lines += record.lines;
  auto writer = audit::LogWriter::open(options.folder, options.log, lines);
  if (!writer) return writer.error();
  if (const std::string& finding = (*writer)->finding(); !finding.empty())
    spdlog::error("the audit log is damaged: {}", finding);
  return std::unique_ptr<AuditTrail>(new AuditTrail(std::move(options), std::move(*writer), stored));
}

AuditTrail::AuditTrail(AuditOptions options, std::unique_ptr<audit::LogWriter> writer,
                       const std::vector<AuditRecord>& stored)
    : options_(std::move(options)),
      writer_(std::move(writer)),
      chain_(stored.empty() ? audit::Link{} : lastOf(stored.back().lines), options_.term),
      written_(chain_.last()) {
  for (const AuditRecord& record : stored) erasable_.push_back(record.first);
  worker_ = startWorker([this]() { work(); });
}

AuditTrail::~AuditTrail() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

Status AuditTrail::seal(const std::vector<audit::Entry>& entries, WallTime now, std::vector<Mutation>& to) {
  std::vector<uint64_t> erasable;
  uint64_t rotation = 0;
  {
    const std::lock_guard lock(mutex_);
    if (unwrittenBytes_ > kMaxUnwrittenBytes) {
      return Error{ErrorCode::kExhausted, options_.folder + ": the audit log cannot be written, and " +
                                              formatSize(kMaxUnwrittenBytes) + " of it wait for that"};
    }
    if (dispensable_ > mayErase_) rotation = dispensable_;
    // The newest stays until there is a newer one: what follows is linked to it.
    if (!entries.empty() || rotation != 0) erasable = std::exchange(erasable_, {});
  }
  sealedRotation_ = rotation;
  sealed_ = {};
  if (entries.empty() && rotation == 0) return {};
  sealed_.first = chain_.last().sequence + 1;
  for (const audit::Entry& entry : entries) chain_.add(entry, sealed_.lines);
  if (rotation != 0) {
    chain_.add({.time = now, .by = {}, .action = audit::kRotated, .object = std::to_string(rotation)},
               sealed_.lines);
  }
  to.emplace_back(Put{sealed_});
  for (const uint64_t first : erasable) to.emplace_back(EraseAudit{first});
  return {};
}

void AuditTrail::stored() {
  if (sealed_.lines.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    mayErase_ = std::max(mayErase_, sealedRotation_);
    unwrittenBytes_ += sealed_.lines.size();
    unwritten_.push_back(std::move(sealed_));
    if (unwrittenBytes_ < kBytesAtOnce) return;  // the worker looks by itself
  }
  changed_.notify_all();
}

kj::Promise<AuditTrail::Answer> AuditTrail::read(audit::Position from, audit::Filter filter) {
  auto answer = kj::newPromiseAndCrossThreadFulfiller<Answer>();
  {
    const std::lock_guard lock(mutex_);
    questions_.push_back({from, std::move(filter), kj::mv(answer.fulfiller)});
  }
  changed_.notify_all();
  return kj::mv(answer.promise);
}

// Questions come after all that was stored before them.
void AuditTrail::work() {
  std::unique_lock lock(mutex_);
  bool hasFailed = false;
  while (true) {
    changed_.wait_for(lock, hasFailed ? std::chrono::milliseconds(kRetry) : kPause, [&]() {
      return quit_ || !questions_.empty() || (!hasFailed && unwrittenBytes_ >= kBytesAtOnce);
    });
    const bool isLast = quit_;
    auto questions = std::exchange(questions_, {});
    lock.unlock();
    const Status written = writeOut();
    if (!written && !hasFailed) spdlog::error("the audit log waits: {}", written.error().message);
    if (written && hasFailed) spdlog::info("the audit log goes on");
    hasFailed = !written;
    for (Question& question : questions) answer(std::move(question));
    lock.lock();
    if (isLast) return;
  }
}

Status AuditTrail::writeOut() {
  std::vector<uint64_t> firsts;
  std::string lines;
  uint64_t mayErase = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const AuditRecord& record : unwritten_) {
      firsts.push_back(record.first);
      lines += record.lines;
    }
    mayErase = mayErase_;
  }
  if (!lines.empty()) {
    failpoint("audit.before_append");
    if (Status written = writer_->append(lines); !written) return written;
    failpoint("audit.in_files");
  }
  if (mayErase != 0) {
    if (Status erased = writer_->erase(mayErase); !erased) return erased;
  }
  const auto dispensable = writer_->dispensable(systemClock().now().wall);
  const std::lock_guard lock(mutex_);
  unwritten_.erase(unwritten_.begin(), unwritten_.begin() + static_cast<std::ptrdiff_t>(firsts.size()));
  unwrittenBytes_ -= lines.size();
  if (!lines.empty()) written_ = lastOf(lines);
  erasable_.insert(erasable_.end(), firsts.begin(), firsts.end());
  dispensable_ = dispensable.value_or(0);
  return {};
}

void AuditTrail::answer(Question question) {
  Answer told;
  {
    const std::lock_guard lock(mutex_);
    told.head = written_;
  }
  auto page = audit::readPage(options_.folder, question.from, question.filter);
  if (page) {
    told.page = std::move(*page);
    question.answer->fulfill(std::move(told));
  } else {
    question.answer->reject(toException(page.error()));
  }
}

}  // namespace tarcil
