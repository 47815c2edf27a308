// Input files: what `files` of a job file names, found on disk and read.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/job.h"
#include "formats/yaml_reader.h"

namespace tarcil {

struct InputLimits {
  uint64_t bytes = 0;  // of all files together
  uint32_t files = 0;  // folders passed through are bounded by the same number
};

// The files that `entries` names, relative to `folder`; a folder stands for every regular file below it.
// Symbolic links are followed as long as they end inside `folder`. Each file is in the result once, sorted by
// path, with mode 0755 if its owner may execute it, else 0644. Problems are reported at the entry they come
// from; the result is then empty.
std::vector<InputFile> readInputFiles(const std::vector<YamlValue>& entries, const std::string& folder,
                                      const InputLimits& limits);

// The same for paths on the command line, relative to the present folder. kInvalid: one line for each
// problem, which names `flag`.
Result<std::vector<InputFile>> inputFilesOf(const char* flag, const std::vector<std::string>& paths,
                                            const InputLimits& limits);

}  // namespace tarcil
