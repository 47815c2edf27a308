// Whether the records of a store agree with each other: what must hold between two batches, whatever happened
// (docs/state-format.md lists it). Shares nothing with the code that keeps it so.
#pragma once

#include <string>
#include <vector>

#include "master/store/store.h"

namespace tarcil {

struct StoreProblem {
  std::string key;   // of the record, readable: "t/<job>/3"; empty where it is about the store as a whole
  std::string what;  // for people

  bool operator==(const StoreProblem&) const = default;
};

// Everything that a store holds.
struct WholeStore {
  StoreContents contents;
  std::vector<DecisionRecord> decisions;
  // Which pieces of input files there are.
  struct Piece {
    JobId job;
    uint32_t number;

    auto operator<=>(const Piece&) const = default;
  };
  std::vector<Piece> files;
};

// Everything that is wrong, by kind of record; empty for a store that a master left, however it ended, and
// for one that no master has started on. O(n log n).
std::vector<StoreProblem> checkStore(const WholeStore& store);

// The record's key as problems show it: the letter of docs/state-format.md and the parts, with slashes
// between them.
std::string readableKey(const Record& record);

}  // namespace tarcil
