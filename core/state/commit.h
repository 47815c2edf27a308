// The transaction between agents and master: claims for tasks of one job, and what became of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/file_pieces.h"
#include "core/state/claim.h"
#include "core/state/job_state.h"

namespace tarcil {

// A job's first commit carries the job itself.
struct NewJob {
  JobRecord record;
  // Null where the job ships no files, and where they went ahead in pieces.
  std::shared_ptr<const FilePiece> files;

  bool sentFilesAhead() const { return record.hasFiles && record.filePieces > 0; }

  bool operator==(const NewJob&) const = default;
};

// One commit. (agent, epoch, sequence) identifies it: a repeat changes nothing and gets the first answer.
struct Commit {
  uint64_t sequence = 0;  // from 1 within the agent's epoch, without gaps
  uint64_t answered =
      0;  // every sequence up to this one has been answered to the agent: their answers may be dropped
  JobId job;
  std::optional<NewJob> newJob;
  Judging judging;
  bool gang = false;          // all claims or none
  std::vector<Claim> claims;  // empty where the job is to wait
  // Queue news that the agent had when it looked for slots (QueueNews.capacityVersion): where something got
  // better since, the job is tried again.
  uint64_t capacityVersion = 0;
  std::string waitReason;  // why tasks are left without claims; empty where none is
  Explanation explanation;

  bool operator==(const Commit&) const = default;
};

struct CommitAnswer {
  uint64_t sequence = 0;
  // kOk: looked at, `grants` parallel to the claims. kJobExists: the job of `newJob` was there before (same
  // user): nothing was granted, the submission is answered as if it were the first. kJobOver: ended or owned
  // by another agent, which may be long ago in a repeated answer: what holds now, the news of the job say.
  // kRefused: see `problem`. kSuperseded: this connection does not speak for an agent any more, another
  // process has taken the name; says nothing about the job. kBusy: the cluster holds as many unfinished jobs
  // as it may; see `problem`. kFilesMissing: of `newJob`, the pieces that went ahead are not there (any
  // more); nothing has changed.
  enum class Outcome : uint8_t { kOk, kJobExists, kJobOver, kRefused, kSuperseded, kBusy, kFilesMissing };
  Outcome outcome = Outcome::kOk;
  std::string problem;
  std::vector<Grant> grants;
  std::vector<ServerUpdate> servers;  // newest states of the servers claimed, without facts

  bool operator==(const CommitAnswer&) const = default;
};

}  // namespace tarcil
