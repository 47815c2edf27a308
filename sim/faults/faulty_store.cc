#include "sim/faults/faulty_store.h"

namespace tarcil::sim {
namespace {

Error broken() {
  return {ErrorCode::kInternal, "the store failed"};
}

}  // namespace

Result<StoreContents> FaultyStore::load() {
  if (failed()) return broken();
  return inner_->load();
}

Status FaultyStore::write(std::span<const Mutation> mutations) {
  if (failed()) return broken();
  ++writes_;
  if (!failed()) return inner_->write(mutations);
  if (unsynced_ == Unsynced::kKept) {
    if (Status kept = inner_->write(mutations); !kept) return kept;
  }
  return broken();
}

Result<std::vector<InputFile>> FaultyStore::files(const JobId& job) {
  if (failed()) return broken();
  return inner_->files(job);
}

Result<std::vector<DecisionRecord>> FaultyStore::decisions(const JobId& job) {
  if (failed()) return broken();
  return inner_->decisions(job);
}

Status FaultyStore::backup(const std::string& folder) {
  if (failed()) return broken();
  return inner_->backup(folder);
}

}  // namespace tarcil::sim
