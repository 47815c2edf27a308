#include "master/store/etcd/etcd_reading.h"

#include <charconv>

#include "master/store/codec/store_change.h"
#include "master/store/etcd/journal.h"
#include "master/store/etcd/leadership.h"
#include "schema/store.capnp.h"

namespace tarcil {
namespace {

// Keys at once: such a page is far below what the client takes of records as they are, of at most 1 MiB few
// of which are that large. Pages of input files are smaller.
constexpr int64_t kPage = 1'000, kPageOfFiles = 16;

class Reader {
 public:
  Reader(etcd::Client& client, const EtcdKeys& keys, const Clock& clock, Duration atMost)
      : client_(client), keys_(keys), clock_(clock), atMost_(atMost) {}

  Result<etcd::Found> get(const etcd::Range& range) {
    return persistently(clock_, clock_.now().steady + atMost_,
                        [&](Duration atMost) { return client_.get(range, atMost); });
  }

  // Every key of a range, in order, page by page.
  Status each(etcd::Range range, const std::function<Status(etcd::KeyValue&)>& take) {
    while (true) {
      auto found = get(range);
      if (!found) return found.error();
      for (etcd::KeyValue& record : found->records) {
        if (Status taken = take(record); !taken) return taken;
      }
      if (!found->more) return {};
      range.key = found->records.back().key + '\0';
      range.revision = found->revision;
    }
  }

  Result<EtcdState> state() {
    const auto format = get({.key = keys_.format()});
    if (!format) return format.error();
    EtcdState state;
    state.revision = format->revision;
    state.isThere = !format->records.empty();
    if (!state.isThere) {
      state.isEmpty = true;
      const Status looked = each({.key = keys_.prefix(),
                                  .end = etcd::endOf(keys_.prefix()),
                                  .revision = state.revision,
                                  .keysOnly = true},
                                 [&](const etcd::KeyValue& record) -> Status {
                                   state.isEmpty = state.isEmpty && record.key == keys_.leader();
                                   return {};
                                 });
      if (!looked) return looked.error();
      return state;
    }
    if (const Status known = requireFormat(format->records[0].value); !known) return known.error();
    const auto authority = get({.key = keys_.authority(), .revision = state.revision});
    if (!authority) return authority.error();
    if (!authority->records.empty()) state.authority = authority->records[0].value;
    const auto folded = get({.key = keys_.folded(), .revision = state.revision});
    if (!folded) return folded.error();
    if (folded->records.empty()) return damaged("says nothing of how far it is folded");
    const std::string& text = folded->records[0].value;
    std::from_chars(text.data(), text.data() + text.size(), state.folded);
    state.foldedRevision = folded->records[0].modified;
    const Status read = journal(state);
    if (!read) return read.error();
    return state;
  }

 private:
  Error damaged(const std::string& what) const {
    return {ErrorCode::kInternal,
            "the store in etcd under " + keys_.prefix() + " " + what + "; restore a backup"};
  }

  Status requireFormat(const std::string& text) const {
    uint32_t format = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), format);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size()) {
      return invalid(keys_.prefix() + ": this is no store of tarcil; name another prefix");
    }
    if (format <= wire::FORMAT_VERSION) return {};
    return invalid("the store in etcd under " + keys_.prefix() +
                   " was written by a newer version of tarcil (format " + text + ", known here: up to " +
                   std::to_string(static_cast<uint32_t>(wire::FORMAT_VERSION)) + "); use that version");
  }

  // From the last batch that was folded on, which is there.
  Status journal(EtcdState& state) {
    const etcd::Range range{.key = keys_.batch(state.folded),
                            .end = etcd::endOf(keys_.journal()),
                            .limit = kPageOfFiles,
                            .revision = state.revision};
    state.tail = state.folded;
    bool isFirst = true;
    Status read = each(range, [&](const etcd::KeyValue& record) -> Status {
      const uint64_t number = keys_.ofBatch(record.key);
      if (number != (isFirst ? state.folded : state.tail + 1)) return damaged("has a gap in its journal");
      state.tailRevision = record.modified;
      state.tail = number;
      if (std::exchange(isFirst, false)) return {};
      return add(state, record);
    });
    if (read && isFirst) return damaged("has no journal");
    return read;
  }

  Status add(EtcdState& state, const etcd::KeyValue& record) {
    const uint64_t number = keys_.ofBatch(record.key);
    std::string inParts;
    const auto parts = partsOf(record.value);
    for (uint32_t part = 0; part < parts.value_or(0); ++part) {
      auto found = get({.key = keys_.part(number, part), .revision = state.revision});
      if (!found) return found.error();
      if (found->records.empty()) return damaged("lacks a part of a batch");
      inParts += found->records[0].value;
    }
    auto changes = decodeBatch(parts ? std::string_view(inParts) : batchOf(record.value));
    if (!changes) return changes.error();
    state.unfolded.add(number, std::move(*changes));
    return {};
  }

  etcd::Client& client_;
  const EtcdKeys& keys_;
  const Clock& clock_;
  const Duration atMost_;
};

}  // namespace

Result<EtcdState> readState(etcd::Client& client, const EtcdKeys& keys, const Clock& clock, Duration atMost) {
  return Reader(client, keys, clock, atMost).state();
}

Status scanRecords(etcd::Client& client, const EtcdKeys& keys, const Clock& clock, Duration atMost,
                   const EtcdState& state, const std::string& begin, const std::string& end,
                   const std::function<void(std::string_view key, std::string_view value)>& take) {
  const auto& entries = state.unfolded.entries();
  auto next = entries.lower_bound(begin);
  // What batches put before this key, where the records have nothing.
  const auto putBefore = [&](const std::string& key) {
    for (; next != entries.end() && next->first < key; ++next) {
      if (next->second.value) take(next->first, *next->second.value);
    }
  };
  const bool areFiles = !begin.empty() && begin.front() == static_cast<char>(RecordKind::kFiles);
  const etcd::Range range{.key = keys.record(begin),
                          .end = keys.record(end),
                          .limit = areFiles || begin.empty() ? kPageOfFiles : kPage,
                          .revision = state.revision};
  Status read = Reader(client, keys, clock, atMost).each(range, [&](const etcd::KeyValue& record) -> Status {
    const std::string key = keys.ofRecord(record.key);
    putBefore(key);
    // The batch's own turn comes with the next key.
    if (!state.unfolded.find(key)) take(key, record.value);
    return {};
  });
  if (!read) return read;
  putBefore(end);
  return {};
}

namespace {

// A master that leads has etcd forget after each 64 MiB that it writes.
constexpr int kReadings = 10;

Result<StoreReading> readAtOneMoment(etcd::Client& client, const std::string& prefix, const Clock& clock) {
  const EtcdKeys keys(prefix);
  const auto state = readState(client, keys, clock, kEtcdPatience);
  if (!state) return state.error();
  if (!state->isThere) return invalid("there is no store in etcd under " + prefix);
  StoreReading reading;
  const Status read = scanRecords(client, keys, clock, kEtcdPatience, *state, kFirstKey, kBehindKeys,
                                  [&](std::string_view key, std::string_view value) {
                                    auto problem = takeRecord(key, value, reading.store);
                                    if (problem) reading.unreadable.push_back(std::move(*problem));
                                  });
  if (!read) return read.error();
  return reading;
}

}  // namespace

Result<StoreReading> readWholeEtcdStore(etcd::Client& client, const std::string& prefix, const Clock& clock) {
  for (int reading = 0; reading < kReadings; ++reading) {
    auto read = readAtOneMoment(client, prefix, clock);
    if (read || read.error().code != ErrorCode::kConflict) return read;
  }
  return Error{ErrorCode::kConflict, "so much is written to the store in etcd under " + prefix +
                                         " that etcd forgets each moment before it is read; read a backup"};
}

}  // namespace tarcil
