// A store that fails on request, to see what survives.
#pragma once

#include "master/store/store.h"

namespace tarcil::sim {

// Passes everything to another store until the chosen write; that one fails, and so does everything after it,
// as the contract of Store has it.
class FaultyStore final : public Store {
 public:
  // What becomes of the failing write: an unsynced write may or may not be there after the restart.
  enum class Unsynced : uint8_t { kForgotten, kKept };

  // `inner` outlives this object. Writes count from 1; 0 never fails.
  FaultyStore(Store& inner, uint64_t failingWrite, Unsynced unsynced)
      : inner_(&inner), failingWrite_(failingWrite), unsynced_(unsynced) {}

  Result<StoreContents> load() override;
  Status write(std::span<const Mutation> mutations) override;
  Result<std::vector<InputFile>> files(const JobId& job) override;
  Result<std::vector<DecisionRecord>> decisions(const JobId& job) override;
  Status backup(const std::string& folder) override;
  Result<StoreSpace> space() override { return inner_->space(); }

  // Whether the next write is the one that fails, and what becomes of it then.
  bool failing() const { return failingWrite_ == writes_ + 1; }
  bool keepsFailing() const { return unsynced_ == Unsynced::kKept; }

  bool failed() const { return failingWrite_ != 0 && writes_ >= failingWrite_; }

  // The next write is the one that fails.
  void failNext(Unsynced unsynced) {
    failingWrite_ = writes_ + 1;
    unsynced_ = unsynced;
  }

 private:
  Store* inner_;
  uint64_t failingWrite_;
  Unsynced unsynced_;
  uint64_t writes_ = 0;
};

}  // namespace tarcil::sim
