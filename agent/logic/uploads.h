// Submissions whose input files are on their way to the master, in pieces ahead of the commits that name
// them.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/logic/arrival.h"
#include "agent/logic/events.h"

namespace tarcil::agent {

// One piece is under way at a time, so that others' commits, which go by the same connection, wait for no
// more than that. Users take turns, piece by piece; of one user a submission follows the other.
class Uploads {
 public:
  // Begins with the first piece. Requires: it has several, and none of this job is here.
  void add(Arrival arrival);
  // nullptr where there is none of this job. Valid until it is given back.
  Arrival* find(const JobId& job);

  // What is to be sent now; nullopt where a piece is under way, or none is left. It is under way from then
  // on.
  std::optional<SendPiece> next();

  // The piece under way is on the master's disk. Gives the submission back with its last piece. nullopt also
  // for an answer to what is not under way any more.
  std::optional<Arrival> stored(UploadId id);
  // No further piece is needed, or taken: gives the submission back. nullopt as above.
  std::optional<Arrival> end(UploadId id);

  // Gives all back. Nothing is under way any more.
  std::vector<Arrival> takeAll();

  size_t size() const { return size_; }

 private:
  struct Upload {
    UploadId id;
    Arrival arrival;
    uint32_t sent = 0;  // pieces, the one under way among them
  };

  // That of the piece under way.
  Upload& first() { return queues_.find(turn_)->second.front(); }
  Arrival takeFirst();

  std::map<std::string, std::deque<Upload>> queues_;  // by user; none is empty
  std::string turn_;                                  // whose piece is under way, or was last
  std::optional<UploadId> underWay_;
  UploadId lastId_ = 0;
  size_t size_ = 0;
};

}  // namespace tarcil::agent
