// The checker of stores: nothing against what a master leaves, and each corruption named by its record.
#include "master/store/store_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "sim/faults/whole_store.h"
#include "tests/master/master_harness.h"

namespace tarcil::store_check_test {

using testing::IsEmpty;

ServerFacts withGpus(const std::string& name) {
  ServerFacts facts = serverFacts(name, 4);
  facts.extras = {{"gpus", 2}};
  return facts;
}

// What a master leaves that has a bit of everything: job 1 has a running and a starting task on s1, with a
// GPU each, job 2 waits, job 3 is done, job 4 is being cancelled; the agent has not taken note of any answer.
WholeStore sound() {
  MasterHarness master;
  const SessionId agent = master.attachAgent("x");
  const SessionId monitor = master.attachMonitor("m", {withGpus("s1"), serverFacts("s2", 2)});
  JobSpec twoTasks = spec(2);
  twoTasks.extras = {{"gpus", 1}};
  Commit first = newJob(1, twoTasks);
  first.claims = {claim(0, 0), claim(1, 0)};
  first.explanation.wanted = 2;
  master.started(monitor, master.place(agent, first));
  Commit waiting = newJob(2, spec(3));
  waiting.newJob->record.hasFiles = true;
  waiting.newJob->files =
      std::make_shared<const std::vector<InputFile>>(std::vector<InputFile>{{"input", 0644, "data"}});
  master.commit(agent, waiting);
  for (int number : {3, 4}) {
    Commit commit = newJob(number, spec());
    commit.claims = {claim(0, 1)};
    commit.explanation.wanted = 1;
    const AllocationId allocation = master.place(agent, commit);
    master.started(monitor, allocation);
    if (number == 3) master.ended(monitor, allocation, exitedWith(0));
  }
  master.cancel(4, theOperator());
  return sim::wholeStore(master.store());
}

// Records are in order of jobs and tasks.
constexpr size_t kRunning = 0, kStarting = 1, kDone = 2;

struct Corruption {
  std::string name;
  std::function<void(WholeStore&)> plant;
  std::string key;   // of the record that is named
  std::string what;  // part of what is said
};

std::string keyOfJob(char kind, int number, const std::string& rest = "") {
  return std::string(1, kind) + "/" + toString(jobId(number)) + rest;
}

std::vector<Corruption> corruptions() {
  using W = WholeStore;
  const auto next = [](W& w) { return w.contents.cluster->nextAllocation; };
  return {
      {"NoCluster", [](W& w) { w.contents.cluster.reset(); }, "c", "missing"},
      {"NoSettings", [](W& w) { w.contents.settings.reset(); }, "g", "missing"},
      {"WrongSettings", [](W& w) { w.contents.settings->target = 7; }, "g", "target"},
      {"GapInServers", [](W& w) { w.contents.servers[1].id = 5; }, "s/5", "leaves a gap"},
      {"ServerTwice", [](W& w) { w.contents.servers[1].facts.name = "s1"; }, "s/1", "is also s/0"},
      {"ServerWithoutUnits", [](W& w) { w.contents.servers[1].facts.rus = 0; }, "s/1", "0 units"},
      {"NumberTwice", [](W& w) { w.contents.jobs[0].number = w.contents.jobs[1].number = 7; },
       keyOfJob('j', 2), "its number, 7, is that of j/" + toString(jobId(1))},
      {"AgentWithoutEpoch", [](W& w) { w.contents.agents[0].epoch = 0; }, "a/x", "epoch is 0"},
      {"AnswerOfNobody", [](W& w) { w.contents.answers[0].agent = "y"; }, "r/y/1/1", "no agent y"},
      {"AnswerOfAnotherEpoch", [](W& w) { w.contents.answers[0].epoch = 9; }, "r/x/9/1", "epoch is 1"},
      {"AnswerMissing", [](W& w) { w.contents.answers.erase(w.contents.answers.begin() + 1); }, "r/x/1/3",
       "before it is missing"},
      {"AnswerGrantsTheFuture", [next](W& w) { w.contents.answers[0].answer.grants[0].allocation = next(w); },
       "r/x/1/1", "never been given"},
      {"JobLost",
       [](W& w) { std::erase_if(w.contents.jobs, [](const JobRecord& j) { return j.id == jobId(3); }); },
       keyOfJob('t', 3, "/0"), "no such job"},
      {"ProgressLost", [](W& w) { w.contents.progress.erase(w.contents.progress.begin()); }, keyOfJob('j', 1),
       "progress is missing"},
      {"StateNotThatOfTheTasks", [](W& w) { w.contents.progress[0].state = RunState::kQueued; },
       keyOfJob('p', 1), "its tasks make it running"},
      {"EndWithoutTime", [](W& w) { w.contents.progress[2].finished = kNever; }, keyOfJob('p', 3),
       "no time of its end"},
      {"OwnerUnknown", [](W& w) { w.contents.progress[1].owner = "z"; }, keyOfJob('p', 2), "no agent z"},
      {"CancelledAndQueued",
       [](W& w) {
         w.contents.progress[1].cancelRequested = true;
         w.contents.tasks.emplace_back().job = jobId(2);
       },
       keyOfJob('p', 2), "1 tasks are queued"},
      {"CancelledAndNotOver", [](W& w) { w.contents.progress[1].cancelRequested = true; }, keyOfJob('p', 2),
       "its tasks make it cancelled"},
      {"TaskBeyondTheJob", [](W& w) { w.contents.tasks[kStarting].index = 2; }, keyOfJob('t', 1, "/2"),
       "2 tasks"},
      {"AllocationOfTheFuture", [next](W& w) { w.contents.tasks[kRunning].allocation = next(w) + 7; },
       keyOfJob('t', 1, "/0"), "never been given"},
      {"NoAllocation", [](W& w) { w.contents.tasks[kRunning].allocation = 0; }, keyOfJob('t', 1, "/0"),
       "no allocation"},
      {"AllocationOfTwo",
       [](W& w) { w.contents.tasks[kDone].allocation = w.contents.tasks[kRunning].allocation; },
       keyOfJob('t', 3, "/0"), "also that of t/"},
      {"UnitOfTwo", [](W& w) { w.contents.tasks[kStarting].rus = w.contents.tasks[kRunning].rus; },
       keyOfJob('t', 1, "/1"), "unit 0 of server s1 is also held by t/"},
      {"UnitTwice",
       [](W& w) {
         w.contents.tasks[kStarting].rus = {1, 1};
       },
       keyOfJob('t', 1, "/1"), "unit 1 of server s1 is also held by t/"},
      {"UnitBeyondTheServer", [](W& w) { w.contents.tasks[kRunning].rus = {4}; }, keyOfJob('t', 1, "/0"),
       "unit 4 of server s1: it has 4"},
      {"TooFewUnits", [](W& w) { w.contents.tasks[kRunning].rus = {}; }, keyOfJob('t', 1, "/0"),
       "holds 0 units"},
      {"ThingOfTwo", [](W& w) { w.contents.tasks[kStarting].extras = w.contents.tasks[kRunning].extras; },
       keyOfJob('t', 1, "/1"), "gpus 0 of server s1 is also held by t/"},
      {"ThingBeyondTheServer", [](W& w) { w.contents.tasks[kRunning].extras["gpus"] = {2}; },
       keyOfJob('t', 1, "/0"), "gpus 2 of server s1: it has 2"},
      {"ThingMissing", [](W& w) { w.contents.tasks[kRunning].extras.clear(); }, keyOfJob('t', 1, "/0"),
       "holds 0 gpus"},
      {"ServerUnknown", [](W& w) { w.contents.tasks[kRunning].server = "s9"; }, keyOfJob('t', 1, "/0"),
       "no server s9"},
      {"MoreFailuresThanAttempts", [](W& w) { w.contents.tasks[kRunning].failures = 2; },
       keyOfJob('t', 1, "/0"), "2 failures in 1 attempts"},
      {"DoneWithoutSuccess", [](W& w) { w.contents.tasks[kDone].end.exitCode = 1; }, keyOfJob('t', 3, "/0"),
       "did not succeed"},
      {"StoppingWhatIsOver", [](W& w) { w.contents.tasks[kDone].stopping = true; }, keyOfJob('t', 3, "/0"),
       "does not run"},
      {"DecisionLost", [](W& w) { w.decisions.erase(w.decisions.begin()); }, keyOfJob('t', 1, "/0"),
       "decision 0, which placed it, is missing"},
      {"DecisionsMiscounted", [](W& w) { w.contents.progress[0].decisions = 2; }, keyOfJob('p', 1),
       "2 decisions are counted, 1 are there"},
      {"DecisionOfOtherTasks", [](W& w) { w.decisions[0].tasks = {0}; }, keyOfJob('t', 1, "/1"),
       "does not name it"},
      {"DecisionOfNoTask", [](W& w) { w.decisions[0].tasks.push_back(9); }, keyOfJob('d', 1, "/0"),
       "no task 9"},
      {"DecisionOfNoJob", [](W& w) { w.decisions[0].job = jobId(99); }, keyOfJob('d', 99, "/0"),
       "no such job"},
      {"FilesOfNoJob",
       [](W& w) {
         w.files.push_back({jobId(99), 0});
       },
       keyOfJob('f', 99), "no such job"},
      {"FilesNobodyShips",
       [](W& w) {
         w.files.push_back({jobId(1), 0});
       },
       keyOfJob('f', 1), "ships no files"},
      {"FilesBeyondThoseOfTheJob",
       [](W& w) {
         w.files.push_back({jobId(2), 1});
       },
       keyOfJob('f', 2) + "/1", "fewer pieces"},
      {"PieceLost", [](W& w) { w.contents.jobs[1].filePieces = 2; }, keyOfJob('j', 2), "files are missing"},
      {"UploadOfAJobThatIsThere", [](W& w) { w.contents.uploads.push_back({jobId(2)}); }, keyOfJob('w', 2),
       "the job is there"},
      {"FilesLost", [](W& w) { w.files.clear(); }, keyOfJob('j', 2), "files are missing"},
  };
}

TEST(StoreCheck, FindsNothingInWhatAMasterLeaves) {
  EXPECT_THAT(checkStore(sound()), IsEmpty());
  EXPECT_THAT(checkStore({}), IsEmpty());
}

class StoreCheckNames : public testing::TestWithParam<Corruption> {};

TEST_P(StoreCheckNames, TheRecord) {
  WholeStore store = sound();
  GetParam().plant(store);
  std::string all;
  bool named = false;
  for (const StoreProblem& problem : checkStore(store)) {
    all += problem.key + ": " + problem.what + "\n";
    named |= problem.key == GetParam().key && problem.what.find(GetParam().what) != std::string::npos;
  }
  EXPECT_TRUE(named) << "not found: " << GetParam().key << ": " << GetParam().what << "\n" << all;
}

INSTANTIATE_TEST_SUITE_P(Planted, StoreCheckNames, testing::ValuesIn(corruptions()),
                         [](const auto& info) { return info.param.name; });

}  // namespace tarcil::store_check_test
