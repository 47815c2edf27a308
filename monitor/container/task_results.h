// Files that are kept of ended tasks for their users (`results` of their jobs), in a task's folder
// (task_store.h):
//
//   results/       the files, by their paths in the working directory
//   results.list   what is there, once all is; a successor that finds none begins again
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/model/result_files.h"
#include "env/clock.h"

namespace tarcil {

inline constexpr const char* kResultsFolder = "/results";
inline constexpr const char* kResultsList = "/results.list";

// What was kept of a task, in order of paths.
struct KeptResults {
  std::vector<ResultFile> files;
  std::string left;  // for people: what matched and was not kept, and why; may be empty
};

// Moves what matches from the folder work/ to results/ and writes results.list. In order of paths, as many
// files and bytes as are kept of a task: one that does not fit is left. Only regular files of the user who
// has work/. May take seconds: not for an event loop. Returns what there is to say: KeptResults::left, or why
// nothing could be written down. Requires: the task's processes are gone; others may still change the tree.
std::string keepResults(const std::string& taskDirectory, const std::vector<std::string>& patterns,
                        const Clock& clock);

// nullopt where there is no whole list.
std::optional<KeptResults> keptResults(const std::string& taskDirectory);

// results.list: `left` and a NUL, then BYTES MODE PATH and a NUL for each file, mode in octal digits.
std::string resultsRecord(const KeptResults& kept);
std::optional<KeptResults> parseResultsRecord(std::string_view text);

// In one answer.
inline constexpr size_t kMaxResultsPage = 256;

struct ResultsPage {
  std::vector<ResultFile> files;
  bool more = false;
};

// Files of a task whose paths are behind `after`, at most kMaxResultsPage, ended or forgotten; none of a task
// of which nothing was to be kept. kNotFound: the executor with this data directory does not know the task,
// or its output is no longer kept.
Result<ResultsPage> listResults(const std::string& dataDirectory, AllocationId allocation,
                                const std::string& after);

// At most `max` bytes of such a file from `offset`; empty at or beyond its end. kNotFound also where there is
// no such file.
Result<std::string> readResult(const std::string& dataDirectory, AllocationId allocation,
                               const std::string& path, uint64_t offset, size_t max);

}  // namespace tarcil
