#include "master/store/etcd/journal.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>

#include <charconv>
#include <cstring>

#include "core/model/job.h"
#include "schema/convert_support.h"
#include "schema/store.capnp.h"

namespace tarcil {
namespace {

// First byte of a value.
constexpr char kWhole = 'b', kInParts = 'p';

capnp::Data::Reader data(const std::string& bytes) {
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}

std::string textOf(capnp::Data::Reader bytes) {
  const auto chars = bytes.asChars();
  return std::string(chars.begin(), chars.size());
}

Result<std::vector<Change>> read(wire::JournalBatch::Reader batch) {
  if (const uint32_t format = batch.getFormatVersion(); format > wire::FORMAT_VERSION) {
    return invalid("the journal was written by a newer version of tarcil (format " + std::to_string(format) +
                   ", known here: up to " + std::to_string(static_cast<uint32_t>(wire::FORMAT_VERSION)) +
                   "); use that version");
  }
  std::vector<Change> changes;
  for (const auto from : batch.getChanges()) {
    Change& change = changes.emplace_back();
    change.key = textOf(from.getKey());
    if (change.key.empty()) return Error{ErrorCode::kInternal, "a change in the journal has no key"};
    switch (from.which()) {
      case wire::JournalChange::PUT:
        change.rest = textOf(from.getPut());
        break;
      case wire::JournalChange::ERASE:
        change.what = Change::What::kErase;
        break;
      case wire::JournalChange::ERASE_BEFORE:
        change.what = Change::What::kEraseRange;
        change.rest = textOf(from.getEraseBefore());
    }
  }
  return changes;
}

}  // namespace

std::string encodeBatch(uint64_t term, const std::vector<Change>& changes) {
  capnp::MallocMessageBuilder message;
  auto batch = message.initRoot<wire::JournalBatch>();
  batch.setFormatVersion(wire::FORMAT_VERSION);
  batch.setTerm(term);
  auto list = batch.initChanges(static_cast<uint32_t>(changes.size()));
  for (uint32_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    list[i].setKey(data(change.key));
    if (change.what == Change::What::kPut) {
      list[i].setPut(data(change.rest));
    } else if (change.what == Change::What::kErase) {
      list[i].setErase();
    } else {
      list[i].setEraseBefore(data(change.rest));
    }
  }
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asChars();
  return std::string(bytes.begin(), bytes.size());
}

Result<std::vector<Change>> decodeBatch(std::string_view bytes) {
  Result<std::vector<Change>> changes = std::vector<Change>();
  const auto failure = kj::runCatchingExceptions([&]() {
    auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
    memcpy(words.begin(), bytes.data(), words.asBytes().size());
    capnp::ReaderOptions options;
    options.traversalLimitInWords = kMaxInputBytes;  // far above any batch
    capnp::FlatArrayMessageReader message(words, options);
    changes = read(message.getRoot<wire::JournalBatch>());
  });
  KJ_IF_MAYBE (exception, failure) {
    const auto text = exception->getDescription();
    return Error{ErrorCode::kInternal,
                 "a batch of the journal cannot be read: " + std::string(text.begin(), text.size())};
  }
  return changes;
}

BatchValue inParts(std::string batch) {
  if (batch.size() <= kMaxValueBytes) return {kWhole + std::move(batch)};
  BatchValue value;
  for (size_t at = 0; at < batch.size(); at += kMaxValueBytes)
    value.parts.push_back(batch.substr(at, kMaxValueBytes));
  value.value = kInParts + std::to_string(value.parts.size());
  return value;
}

std::optional<uint32_t> partsOf(std::string_view value) {
  if (value.empty() || value.front() != kInParts) return std::nullopt;
  uint32_t parts = 0;
  std::from_chars(value.data() + 1, value.data() + value.size(), parts);
  return parts;
}

std::string_view batchOf(std::string_view value) {
  return value.substr(std::min<size_t>(value.size(), 1));
}

}  // namespace tarcil
