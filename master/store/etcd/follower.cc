#include "master/store/etcd/follower.h"

#include <algorithm>
#include <array>
#include <utility>

#include "master/store/codec/store_codec.h"
#include "master/store/etcd/journal.h"

namespace tarcil {
namespace {

constexpr Duration kFollowed = std::chrono::milliseconds(500), kAsked = std::chrono::seconds(1);
constexpr size_t kComparedAtOnce = 1'000;

bool isHeld(std::string_view key) {
  const auto kind = static_cast<RecordKind>(key.front());
  return kind != RecordKind::kFiles && kind != RecordKind::kDecision;
}

std::string behind(RecordKind kind) {
  return std::string(1, static_cast<char>(static_cast<char>(kind) + 1));
}

// The keys that are held, as ranges of all keys.
struct KeyRange {
  std::string begin, end;
};
std::array<KeyRange, 3> heldRanges() {
  const std::string decisions(1, static_cast<char>(RecordKind::kDecision)),
      files(1, static_cast<char>(RecordKind::kFiles));
  return {{{kFirstKey, decisions},
           {behind(RecordKind::kDecision), files},
           {behind(RecordKind::kFiles), kBehindKeys}}};
}

}  // namespace

void Follower::forget() {
  records_.clear();
  hasState_ = false;
  completeAt_ = {};
  compareFrom_.clear();
}

Status Follower::load() {
  forget();
  const MonotonicTime asked = clock_.now().steady;
  const auto state = readState(client_, keys_, clock_, kAsked);
  if (!state) return state.error();
  if (!state->isThere) return {};  // its first leader makes it
  for (const KeyRange& range : heldRanges()) {
    Status read = scanRecords(client_, keys_, clock_, kEtcdPatience, *state, range.begin, range.end,
                              [this](std::string_view key, std::string_view value) {
                                records_.insert_or_assign(records_.end(), std::string(key), value);
                              });
    if (!read) return read;
  }
  batch_ = state->tail;
  batchRevision_ = state->tailRevision;
  revision_ = state->revision;
  completeAt_ = asked;
  hasState_ = true;
  return {};
}

// Of the journal the last batch stays, whatever has been folded: so where only that one is there, it is it.
Status Follower::lookForMore() {
  const MonotonicTime asked = clock_.now().steady;
  const auto found = client_.get(
      {.key = keys_.batch(batch_), .end = etcd::endOf(keys_.journal()), .limit = 2, .keysOnly = true},
      kAsked);
  if (!found) return found.error();
  const bool isLast = found->records.size() == 1 && found->records[0].modified == batchRevision_;
  if (isLast) {
    revision_ = found->revision;
    completeAt_ = asked;
  }
  return {};
}

Status Follower::follow(int64_t revision) {
  if (!hasState_) return load();
  if (Status looked = lookForMore(); !looked) return looked;
  Status taken;
  const std::string leader = keys_.leader();
  // The leader's key is the first behind the journal: what it wrote is taken before its end is noticed.
  Status watched = client_.watch({.key = keys_.journal(), .end = leader + '\0', .revision = revision_ + 1},
                                 kFollowed, [&](const std::vector<etcd::Event>& events, int64_t) {
                                   bool isVacant = false;
                                   for (const etcd::Event& event : events) {
                                     if (event.record.key == leader) {
                                       isVacant =
                                           isVacant || (event.erased && event.record.modified > revision);
                                     } else if (!event.erased && taken) {
                                       taken = take(event.record);
                                     }
                                   }
                                   if (taken) revision_ = std::max(revision_, events.back().record.modified);
                                   return taken.ok() && !isVacant;
                                 });
  if (!watched && watched.error().code == ErrorCode::kConflict) {
    forget();
    return {};
  }
  if (taken) return watched;
  // Load anew what does not go on where this left off.
  if (taken.error().code != ErrorCode::kConflict) return taken;
  forget();
  return {};
}

Status Follower::take(const etcd::KeyValue& batch) {
  const uint64_t number = keys_.ofBatch(batch.key);
  if (number <= batch_) return {};
  if (number != batch_ + 1) return Error{ErrorCode::kConflict, "a batch of the journal was missed"};
  std::string inParts;
  const auto parts = partsOf(batch.value);
  for (uint32_t part = 0; part < parts.value_or(0); ++part) {
    const auto found = client_.get({.key = keys_.part(number, part), .revision = batch.modified}, kAsked);
    if (!found) return found.error();
    if (found->records.empty()) return Error{ErrorCode::kConflict, "a part of a batch was missed"};
    inParts += found->records[0].value;
  }
  auto changes = decodeBatch(parts ? std::string_view(inParts) : batchOf(batch.value));
  if (!changes) return changes.error();
  Unfolded one;
  one.add(number, std::move(*changes));
  apply(one);
  batch_ = number;
  batchRevision_ = batch.modified;
  completeAt_ = clock_.now().steady;
  return {};
}

void Follower::apply(const Unfolded& changes) {
  for (const auto& [begin, range] : changes.erasedRanges()) {
    if (isHeld(begin)) records_.erase(records_.lower_bound(begin), records_.lower_bound(range.end));
  }
  for (const auto& [key, entry] : changes.entries()) {
    if (!isHeld(key)) continue;
    if (entry.value) {
      records_.insert_or_assign(key, *entry.value);
    } else {
      records_.erase(key);
    }
  }
}

Status Follower::compareSome() {
  if (!hasState_) return {};
  const auto state = readState(client_, keys_, clock_, kAsked);
  if (!state) return state.error();
  if (state->tail != batch_ || state->tailRevision != batchRevision_) return {};
  auto last = records_.lower_bound(compareFrom_);
  auto held = last;
  for (size_t i = 0; i < kComparedAtOnce && last != records_.end(); ++i) ++last;
  const std::string from = compareFrom_, to = last == records_.end() ? kBehindKeys : last->first;
  bool isSame = true;
  for (const KeyRange& range : heldRanges()) {
    const std::string begin = std::max(range.begin, from), end = std::min(range.end, to);
    if (begin >= end) continue;
    Status read = scanRecords(client_, keys_, clock_, kEtcdPatience, *state, begin, end,
                              [&](std::string_view key, std::string_view value) {
                                isSame =
                                    isSame && held != last && held->first == key && held->second == value;
                                if (held != last) ++held;
                              });
    if (!read) return read;
  }
  compareFrom_ = last == records_.end() ? std::string() : to;
  if (isSame && held == last) return {};
  forget();
  return Error{ErrorCode::kInternal,
               "what this master follows differs from what is in etcd, from the record " + from +
                   " on; it is read anew"};
}

std::optional<HeldRecords> Follower::takeRecords(const EtcdState& state) {
  const bool goesOn = hasState_ && batch_ >= state.folded && batch_ <= state.tail &&
                      (batch_ < state.tail || batchRevision_ == state.tailRevision);
  if (!goesOn) {
    forget();
    return std::nullopt;
  }
  Unfolded rest = state.unfolded;
  rest.folded(batch_);
  apply(rest);
  HeldRecords records = std::move(records_);
  forget();
  return records;
}

}  // namespace tarcil
