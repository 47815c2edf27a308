// A recording of a cluster as a file: JSON, one object a line (docs/simulator.md#the-recording). Each line
// says in `at` when the recorder saw it, and holds one more thing under its name.
#pragma once

#include <string>

#include "cli/late_job.h"
#include "cli/output/job_status.h"
#include "core/decide/options.h"
#include "core/state/server.h"
#include "formats/json.h"

namespace tarcil {

// The tasks of one line at most: larger jobs take several.
inline constexpr size_t kTasksALine = 1'000;

namespace recording {

// What stands beside `at`.
Json head(const std::string& program);
Json lineOf(const QualitySettings& settings);
Json lineOf(const std::string& platform, const Share& share);
Json lineOf(const ServerFacts& facts, const ServerStatus& status);
// The job as it was submitted: no command, no environment, no files.
Json lineOf(const JobRecord& job);
// So many of its tasks from `first` on, of those that have started; where it is over, its end too.
Json lineOf(const JobStatus& job, size_t first, size_t count);
// A late-bound job, and its tasks that have ended.
JobRecord recordOf(const LateJobStatus& job);
Json lineOf(const LateJobStatus& job, size_t first, size_t count);
Json stopped(const std::string& why);

}  // namespace recording
}  // namespace tarcil
