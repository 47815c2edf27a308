// What a mutation does to records as bytes: the same for every store that keeps them under keys in order.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "master/store/codec/store_codec.h"
#include "master/store/store.h"
#include "master/store/store_check.h"

namespace tarcil {

// Where changes go, in their order.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;

  virtual void put(std::string key, std::string value) = 0;
  virtual void erase(std::string key) = 0;
  // All keys from `begin` to before `end`; all are of one kind.
  virtual void eraseRange(std::string begin, std::string end) = 0;
};

void addChanges(const Mutation& mutation, ChangeSink& to);

// Takes a record to where it belongs. Decisions and input files go nowhere: they are read on demand.
void collect(Record&& record, StoreContents& to);

// What is wrong with the bytes of one record; takes it to where it belongs where nothing is.
std::optional<StoreProblem> takeRecord(std::string_view key, std::string_view value, WholeStore& to);

}  // namespace tarcil
