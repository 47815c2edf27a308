// The executable as a process of its own, and jobs for it to show.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/output/job_status.h"
#include "formats/json.h"
#include "tests/support/process.h"
#include "tests/support/scripted_cluster.h"

namespace tarcil {

using Words = std::vector<std::string>;

inline Words tarcilWith(const Words& arguments) {
  Words words = {TARCIL_BINARY};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

// Without a cluster: a home with nothing in it.
inline ProcessResult tarcil(const Words& arguments, Environment environment = {{"HOME", "/nonexistent"}}) {
  return runProcess(tarcilWith(arguments), environment);
}

inline ProcessResult tarcil(const Words& arguments, const ScriptedCluster& cluster) {
  return tarcil(arguments, cluster.environment());
}

inline Json jsonOf(const ProcessResult& result) {
  return Json::parse(result.out, nullptr, false);
}

inline JobId idOf(uint8_t first, uint8_t last = 0) {
  JobId id;
  id.bytes.front() = first;
  id.bytes.back() = last;
  return id;
}

// Its number is the first byte of its id.
inline JobStatus aJob(const JobId& id, RunState state) {
  JobStatus job;
  job.record = {id, {}, "alice", "alice", false, WallTime(std::chrono::microseconds(1'700'000'000'123'456))};
  job.record.number = id.bytes.front();
  job.record.spec.name = "train";
  job.record.spec.command = {"true"};
  job.progress.id = id;
  job.progress.state = state;
  TaskRecord task;
  task.job = id;
  task.state = state;
  job.tasks.push_back(task);
  return job;
}

}  // namespace tarcil
