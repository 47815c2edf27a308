// The batches of the journal that are not in the records yet, as what they come to: of each key the last
// change. Does no I/O; single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "master/store/codec/store_change.h"

namespace tarcil {

// One change of a batch.
struct Change {
  enum class What : uint8_t { kPut, kErase, kEraseRange };
  What what = What::kPut;
  std::string key;
  std::string rest{};  // kPut: the value; kEraseRange: the first key that stays

  bool operator==(const Change&) const = default;
};

// Gathers changes in their order.
class ChangeList final : public ChangeSink {
 public:
  void put(std::string key, std::string value) override {
    add(Change::What::kPut, std::move(key), std::move(value));
  }
  void erase(std::string key) override { add(Change::What::kErase, std::move(key), ""); }
  void eraseRange(std::string begin, std::string end) override {
    add(Change::What::kEraseRange, std::move(begin), std::move(end));
  }

  std::vector<Change> changes;

 private:
  void add(Change::What what, std::string key, std::string rest) {
    changes.push_back({what, std::move(key), std::move(rest)});
  }
};

class Unfolded {
 public:
  using Value = std::shared_ptr<const std::string>;  // null: erased
  struct Entry {
    Value value;
    uint64_t batch = 0;  // the last that changed it
  };

  void add(uint64_t batch, std::vector<Change> changes);
  // Forgets what was folded, up to this batch.
  void folded(uint64_t batch);

  // The same of keys from `begin` to before `end` alone.
  Unfolded between(const std::string& begin, const std::string& end) const;

  // nullopt: no batch says anything of it; null: it is erased.
  std::optional<Value> find(const std::string& key) const;

  // In order of keys; what a range erases and nothing puts again is not among them.
  const std::map<std::string, Entry>& entries() const { return entries_; }
  struct Ranges {
    std::string end;
    uint64_t batch = 0;
  };
  // By their begin. To be erased before entries are put.
  const std::map<std::string, Ranges>& erasedRanges() const { return ranges_; }

  uint64_t last() const { return last_; }  // batch
  uint64_t batches() const { return batches_; }
  size_t bytes() const { return bytes_; }

 private:
  static size_t bytesOf(const std::string& key, const Entry& entry) {
    return key.size() + (entry.value ? entry.value->size() : 0);
  }
  void set(std::string key, Value value, uint64_t batch);

  std::map<std::string, Entry> entries_;
  std::map<std::string, Ranges> ranges_;
  uint64_t last_ = 0, batches_ = 0;
  size_t bytes_ = 0;
};

}  // namespace tarcil
