// What a job takes in messages and records.
#pragma once

#include <cstddef>
#include <vector>

#include "core/model/job.h"

namespace tarcil {

// Of a specification, by sizeOf(): what agents and the master keep and pass on as a whole. No more than one
// piece of input files (file_pieces.h), so that it holds nobody up for longer.
inline constexpr size_t kMaxSpecBytes = 1u << 20;

// Its texts and some bytes for each: roughly what it takes in a message. O(size of the job).
size_t sizeOf(const JobSpec& spec);

// Contents and paths of input files.
size_t sizeOf(const InputFile& file);
size_t sizeOf(const std::vector<InputFile>& files);

}  // namespace tarcil
