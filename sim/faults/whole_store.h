// All that a store holds, for the checker.
#pragma once

#include "master/store/store_check.h"

namespace tarcil::sim {

inline void addPieces(Store& store, const JobId& job, WholeStore& whole) {
  for (uint32_t number = 0; !store.filePiece(job, number)->empty(); ++number) {
    whole.files.push_back({job, number});
  }
}

// Requires: the store can be read.
inline WholeStore wholeStore(Store& store) {
  WholeStore whole{*store.load(), {}, {}};
  for (const JobRecord& job : whole.contents.jobs) {
    const auto decisions = store.decisions(job.id);
    whole.decisions.insert(whole.decisions.end(), decisions->begin(), decisions->end());
    addPieces(store, job.id, whole);
  }
  for (const UploadRecord& upload : whole.contents.uploads) addPieces(store, upload.job, whole);
  return whole;
}

}  // namespace tarcil::sim
