// Whether an audit log is what was written: each line as it was, none missing, none moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/chain.h"

namespace tarcil::audit {

// Where and what; `line` counts from 1.
struct Problem {
  std::string file;
  uint64_t line = 0;
  std::string what;
  bool isGap = false;  // entries are missing before others, which another master's files may have
};

// Is given files in the order of the numbers of their first entries, and of each its lines. Pure; takes 32
// bytes an entry.
class Verifier {
 public:
  void beginFile(std::string name);
  // Without its end. False: it is the first one that is wrong, and no more need be given.
  bool take(std::string_view line);
  // `head`: the last entry, as whoever wrote it knows it, or as somebody noted it before.
  void finish(const std::optional<Link>& head = std::nullopt);

  const std::optional<Problem>& problem() const { return problem_; }
  // What is no fault and is to be known.
  const std::vector<std::string>& notes() const { return notes_; }
  uint64_t entries() const { return hashes_.size(); }
  uint64_t first() const { return first_; }
  Link last() const;

 private:
  bool wrong(std::string what);
  bool missing(uint64_t from, uint64_t to, std::string_view where);
  bool begin(const Place& place);
  bool goOn(const Place& place);
  // Nothing is missing before the first entry but what rotation has erased.
  bool hasFront();
  bool isKnown(uint64_t sequence) const;
  const Sha256& hashOf(uint64_t sequence) const { return hashes_.at(sequence - first_); }
  void noteRotation(std::string_view line);

  std::string file_, firstFile_;
  uint64_t line_ = 0;
  Link before_;                 // the line before, in this file
  uint64_t first_ = 0;          // number of the first entry of all
  std::vector<Sha256> hashes_;  // of the entries from first_ on
  uint64_t rotated_ = 0;        // up to which entry rotation says that it has erased
  std::optional<Problem> problem_;
  std::vector<std::string> notes_;
};

}  // namespace tarcil::audit
