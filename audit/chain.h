// The audit log as text: one JSON object a line, each with the SHA-256 of the one before, so that none can be
// changed, taken out or moved without all that follow.
//
// A line ends in ,"previous":"HEX","hash":"HEX"}. Its hash is that of the 32 bytes of `previous` and of what
// stands before the first of these two, byte for byte. The first entry of a chain has the number 1, and
// `previous` of zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/logic/entry.h"
#include "identity/logic/join_word.h"

namespace tarcil::audit {

// No line is longer, nor read where it is.
inline constexpr size_t kMaxLineBytes = 32 << 10;

// An entry by its number, and what says that it is no other. Of a chain without any: 0, and zeros.
struct Link {
  uint64_t sequence = 0;
  Sha256 hash{};

  bool operator==(const Link&) const = default;
};

// Gives entries their numbers and links them.
class Chain {
 public:
  // `term`: of the master that writes; 0 where masters do not follow each other.
  explicit Chain(Link last = {}, uint64_t term = 0) : last_(last), term_(term) {}

  // Appends the entry's line, with its end.
  void add(const Entry& entry, std::string& to);
  const Link& last() const { return last_; }

 private:
  Link last_;
  uint64_t term_;
};

// What a line, without its end, says of its place.
struct Place {
  Link self;
  Sha256 previous{};
};

// Nothing where it is no line of a chain, or its hash is not that of its text.
std::optional<Place> placeOf(std::string_view line);

// What people ask for. Empty or kNever: any.
struct Filter {
  WallTime since{}, until{};
  std::string user{};
  std::string
      action{};  // the whole, or the part before a dot: "job" is all of "job.submit", "job.cancel", ...
};

// The fields of a line that can be read.
struct Fields {
  std::string time;
  Entry entry;
};
std::optional<Fields> fieldsOf(std::string_view line);

// A line that cannot be read does not.
bool passes(const Filter& filter, std::string_view line);

// Written where rotation has erased files, before it does: `object` is the number of the last entry in them.
inline constexpr const char* kRotated = "audit.rotate";

}  // namespace tarcil::audit
