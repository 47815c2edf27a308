// How long does the master take to give a page of jobs when it holds very many? It answers on the thread on
// which it decides, so this is time that nobody else is served in.
//
//   job_list [--jobs N]
#include <CLI/CLI.hpp>

#include <iostream>
#include <vector>

#include "bench/report.h"
#include "master/logic/master_logic.h"

namespace tarcil::bench {
namespace {

constexpr int kUsers = 50;
constexpr int kRuns = 200;

// A store with so many jobs of one task, newest last, of users in turn; one in a thousand is queued, the rest
// is done.
StoreContents storeOf(int jobs) {
  StoreContents contents;
  for (int i = 0; i < jobs; ++i) {
    JobRecord record;
    for (size_t byte = 0; byte < 4; ++byte)
      record.id.bytes[byte] = static_cast<uint8_t>(i * 2654435761u >> 8 * byte);
    record.spec.name = "job-" + std::to_string(i);
    record.spec.command = {"true"};
    record.user = "user-" + std::to_string(i % kUsers);
    record.submitted = WallTime(std::chrono::seconds(1'000'000 + i));
    JobProgress progress;
    progress.id = record.id;
    TaskRecord task;
    task.job = record.id;
    if (i % 1000 != 0) {
      progress.state = task.state = RunState::kDone;
      progress.finished = record.submitted + std::chrono::seconds(1);
    }
    contents.jobs.push_back(std::move(record));
    contents.progress.push_back(progress);
    contents.tasks.push_back(task);
  }
  return contents;
}

size_t answerAll(const MasterLogic& logic, const Caller& caller, JobQuery query, std::vector<double>& ms) {
  size_t found = 0;
  while (true) {
    const auto begin = Steady::now();
    const JobPage page = logic.jobs(caller, query);
    ms.push_back(milliseconds(Steady::now() - begin));
    found += page.jobs.size();
    if (!page.next) return found;
    query.after = page.next;
  }
}

void measure(const MasterLogic& logic, const std::string& what, const Caller& caller, const JobQuery& query) {
  std::vector<double> ms;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = Steady::now();
    const JobPage page = logic.jobs(caller, query);
    ms.push_back(milliseconds(Steady::now() - begin));
    if (page.jobs.empty() && !page.next) throw std::runtime_error(what + ": there is nothing");
  }
  printSpread(what, ms);
}

void run(int jobs) {
  printConditions();
  MasterOptions options;
  options.keepFinishedJobs = static_cast<uint32_t>(jobs);
  options.keepFinishedFor = std::chrono::days(10'000);
  Rng rng(1);
  std::vector<master::Action> actions;
  const MasterLogic logic(options, storeOf(jobs), {}, rng, actions);
  const Caller user{"user-7", Role::kSubmit, {}}, theOperator{"root", Role::kOperate, {}};
  std::cout << jobs << " jobs of " << kUsers << " users; milliseconds for one page\n";
  measure(logic, "the newest 100", theOperator, {});
  measure(logic, "the newest 1,000", theOperator, {.limit = 1000});
  measure(logic, "a user's newest 100", user, {});
  measure(logic, "100 that wait", theOperator, {.states = {RunState::kQueued}});
  std::vector<double> ms;
  const size_t found = answerAll(logic, theOperator, {.limit = kMaxJobsAPage}, ms);
  printSpread("all " + std::to_string(found) + ", page by page", ms);
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  CLI::App app("Time to give a page of jobs.");
  int jobs = 100'000;
  app.add_option("--jobs", jobs, "Jobs that the master holds.");
  CLI11_PARSE(app, argc, argv);
  tarcil::bench::run(jobs);
  return 0;
}
