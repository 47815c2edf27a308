// Group commit (DeWitt et al., SIGMOD 1984): what is to be stored gathers while a batch is being written, and
// is the next batch; what is to leave the process waits for the batch that it rests on. Does no I/O: whoever
// uses it writes, one batch at a time (master/server/output_gate.h, sim/faults/master_disk.h).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "audit/logic/entry.h"
#include "master/store/store.h"

namespace tarcil {

// Output: what leaves the process; can be moved.
template <typename Output>
class GroupCommit {
 public:
  struct Batch {
    std::vector<Mutation> mutations;
    std::vector<audit::Entry> audited;  // of the audit log, that are to be stored with them
    std::vector<Output> outputs;        // that wait for it, in the order in which they came
  };

  // To the batch that is being gathered.
  void add(Mutation mutation) { gathering_.mutations.push_back(std::move(mutation)); }
  void add(audit::Entry entry) { gathering_.audited.push_back(std::move(entry)); }

  // Keeps the output until everything added so far is written. Where nothing is to be written any more, gives
  // it back: it may leave now. After a failure it is gone.
  std::optional<Output> hold(Output output) {
    if (failed_) return std::nullopt;
    if (hasGathered()) {
      gathering_.outputs.push_back(std::move(output));
    } else if (writing_) {
      inFlight_.outputs.push_back(std::move(output));
    } else {
      return output;
    }
    return std::nullopt;
  }

  bool hasGathered() const { return !gathering_.mutations.empty() || !gathering_.audited.empty(); }
  bool isWriting() const { return writing_; }
  // Mutations and outputs of both batches.
  size_t waiting() const {
    return gathering_.mutations.size() + gathering_.outputs.size() + inFlight_.mutations.size() +
           inFlight_.outputs.size();
  }

  // What has gathered is to be written now; it stays where it is until end() or fail(), and whoever writes it
  // may add to what is written. Requires: !isWriting().
  Batch& begin() {
    writing_ = true;
    inFlight_ = std::exchange(gathering_, {});
    return inFlight_;
  }

  // The batch that was being written is on disk, and its outputs may leave, in their order.
  Batch end() {
    writing_ = false;
    return std::exchange(inFlight_, {});
  }

  // It is not, or nobody knows: no output leaves any more.
  void fail() { failed_ = true; }
  bool hasFailed() const { return failed_; }

 private:
  Batch gathering_;
  Batch inFlight_;
  bool writing_ = false;
  bool failed_ = false;
};

}  // namespace tarcil
