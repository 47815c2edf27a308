// Measured co-runs from files that are not part of this repository (docs/accuracy.md says where they
// come from).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "classifier/application_matrix.h"
#include "core/base/result.h"

namespace tarcil::bench {

// Performance relative to running alone: of a program (row) beside a program or kernel (column). A program
// beside itself was not measured.
struct CoRuns {
  std::vector<std::string> programs;
  std::vector<std::string> neighbours;
  std::vector<Entries> performance;
};

// Three programs at once, by number, and the performance of each relative to running alone.
struct Triple {
  std::array<size_t, 3> programs;
  std::array<double, 3> performance;
};

// CSV with a header: program_1,program_2,performance_1,performance_2 and whatever follows. kInvalid names
// file, line and field; so in the others.
Result<CoRuns> readPairs(const std::string& path);

// CSV with a header: program_1,program_2,program_3, then the performance of each, and whatever follows. Every
// program must be one of `pairs`.
Result<std::vector<Triple>> readTriples(const std::string& path, const CoRuns& pairs);

// CSV whose header names the kernels: a program, then its slowdown (run time beside the kernel / alone)
// for each.
Result<CoRuns> readKernels(const std::string& path);

}  // namespace tarcil::bench
