// How commands are told which job is meant: by its number (4711), by its id or the first digits of it
// (id:3f2a, or without id: where they are not all decimal), or by its name (name:sort*).
#pragma once

#include <optional>
#include <string>

#include "core/base/ids.h"
#include "core/base/result.h"

namespace tarcil {

// One of the first three is given.
struct JobReference {
  JobNumber number = 0;
  std::string prefix{};  // of an id's text form, or all of it
  std::string name{};    // a pattern as shells have them: *, ?, [a-z]
  std::optional<TaskIndex> task{};
};

inline constexpr size_t kMinIdPrefix = 4;

// "4711", "4711.3" (task 3 of it), "id:3f2a", "3f2a91c0", "name:sort*". All decimal digits are a number, but
// for the 32 of an id. Invalid, saying what to write, for what is none of these.
Result<JobReference> parseJobReference(const std::string& text);

// What such a job has: "the number 4711", "an id that begins with 3f2a", "a name like sort*".
std::string describe(const JobReference& reference);

// The letters before the first of a pattern that may stand for others.
std::string literalPart(const std::string& pattern);

}  // namespace tarcil
