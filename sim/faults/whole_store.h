// All that a store holds, for the checker.
#pragma once

#include "master/store/store_check.h"

namespace tarcil::sim {

// Requires: the store can be read.
inline WholeStore wholeStore(Store& store) {
  WholeStore whole{*store.load(), {}, {}};
  for (const JobRecord& job : whole.contents.jobs) {
    const auto decisions = store.decisions(job.id);
    whole.decisions.insert(whole.decisions.end(), decisions->begin(), decisions->end());
    if (!store.files(job.id)->empty()) whole.files.push_back(job.id);
  }
  return whole;
}

}  // namespace tarcil::sim
