// The checker of torture runs: nothing against a history in which every promise is kept, and each planted
// bug named.
#include "tests/torture/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

namespace tarcil::torture::checker_test {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using Outcome = CommitAnswer::Outcome;

constexpr uint32_t kRus = 4;  // of each server

JobId jobId(uint8_t number) {
  JobId id;
  id.bytes[0] = number;
  return id;
}

ServerFacts facts(ServerId id) {
  ServerFacts facts;
  facts.name = "s" + std::to_string(id);
  facts.platform = "default";
  facts.rus = kRus;
  return facts;
}

// Each task causes 1 on "core" for each of its units, and tolerates 50 there.
JobSpec spec(uint32_t tasks, uint32_t rusPerTask) {
  JobSpec spec;
  spec.tasks = tasks;
  spec.rusPerTask = rusPerTask;
  spec.profile.tolerated.fill(kMaxPressure);
  spec.profile.caused[0] = static_cast<uint8_t>(rusPerTask);
  spec.profile.tolerated[0] = 50;
  return spec;
}

// A state in which these units are taken; `bound` is that of "core".
ServerUpdate state(ServerId id, uint64_t version, std::vector<RuIndex> taken, int32_t bound) {
  ServerUpdate update{id, std::nullopt, {}};
  update.status.version = version;
  update.status.free = RuSet::all(kRus);
  for (RuIndex ru : taken) update.status.free.erase(ru);
  update.status.sum[0] = static_cast<int32_t>(taken.size());
  if (bound != 0) update.status.bound[0] = bound;
  return update;
}

ServerUpdate withFacts(ServerUpdate update) {
  update.facts = facts(update.id);
  return update;
}

Commit commit(uint64_t sequence, uint8_t job, uint32_t tasks, uint32_t rusPerTask) {
  Commit commit;
  commit.sequence = sequence;
  commit.job = jobId(job);
  NewJob& made = commit.newJob.emplace();
  made.record.id = commit.job;
  made.record.user = "ada";
  made.record.spec = spec(tasks, rusPerTask);
  return commit;
}

Claim claim(TaskIndex task, ServerId server, uint32_t rus) {
  Claim claim;
  claim.task = task;
  claim.server = server;
  claim.rus = rus;
  return claim;
}

CommitAnswer answer(uint64_t sequence, std::vector<Grant> grants, std::vector<ServerUpdate> servers = {}) {
  return {sequence, Outcome::kOk, "", std::move(grants), std::move(servers)};
}

TaskReport report(AllocationId allocation, bool ended) {
  return {allocation, ended, {}};
}

TaskRecord task(uint8_t job, TaskIndex index, RunState state, AllocationId allocation,
                const std::string& server, std::vector<RuIndex> rus) {
  TaskRecord task;
  task.job = jobId(job);
  task.index = index;
  task.state = state;
  task.allocation = allocation;
  task.server = server;
  task.rus = std::move(rus);
  return task;
}

JobProgress progress(uint8_t job, RunState state) {
  JobProgress progress;
  progress.id = jobId(job);
  progress.state = state;
  progress.owner = "x";
  return progress;
}

// What is recorded, and what is stored at its end.
struct Story {
  std::vector<Event> history;
  WholeStore store;

  // The n-th event of a kind, from 0.
  template <typename T>
  T& at(size_t n = 0) {
    for (Event& event : history) {
      if (auto* found = std::get_if<T>(&event); found != nullptr && n-- == 0) return *found;
    }
    throw std::out_of_range("no such event");
  }
  StoreContents& stored() { return store.contents; }
  std::vector<std::string> problems() const {
    Checker checker;
    for (const Event& event : history) checker.take(event);
    return checker.finish(store);
  }
};

// Jobs of agent x: job 1, a gang, has a task that runs and one that starts on s0, and its commit was
// repeated; the only task of job 2 is done, and job 4 got its units of s1; job 3 waited, and was cancelled.
// Agent y was replaced by another process of its name, and skipped a sequence. At the end x attaches anew.
Story sound() {
  Story story;
  auto& h = story.history;
  h = {Begun{1, 10}, MasterStarted{}};
  h.push_back(MonitorAttaching{1, "m", {facts(0), facts(1)}, {}});
  h.push_back(MonitorAttached{1, {}, {}});
  h.push_back(AgentAttaching{2, 1, "x", 0});
  h.push_back(AgentAttached{2, 5, {}});
  h.push_back(News{1, {withFacts(state(0, 1, {}, 0)), withFacts(state(1, 1, {}, 0))}, {}});

  Commit first = commit(1, 1, 2, 1);
  first.gang = true;
  first.claims = {claim(0, 0, 1), claim(1, 0, 1)};
  const CommitAnswer granted =
      answer(1, {{Verdict::kGranted, 10, {0}}, {Verdict::kGranted, 11, {1}}}, {state(0, 3, {0, 1}, 51)});
  h.push_back(CommitSent{3, 1, first});
  h.push_back(CommitAnswered{3, granted});
  h.push_back(CommitSent{4, 1, first});
  h.push_back(CommitAnswered{4, granted});
  Commit second = commit(2, 2, 1, 2);
  second.answered = 1;
  second.claims = {claim(0, 1, 2)};
  h.push_back(CommitSent{5, 1, second});
  h.push_back(CommitAnswered{5, answer(2, {{Verdict::kGranted, 12, {0, 1}}}, {state(1, 2, {0, 1}, 52)})});
  h.push_back(ReportsSent{6, {report(10, false), report(12, false)}});
  h.push_back(ReportsAnswered{6});
  h.push_back(ReportsSent{7, {report(12, true)}});
  h.push_back(ReportsAnswered{7});
  const Commit third = commit(3, 3, 1, 1);
  h.push_back(CommitSent{8, 1, third});
  h.push_back(CommitAnswered{8, answer(3, {})});
  h.push_back(CancelSent{9, jobId(3)});
  h.push_back(CancelAnswered{9});
  Commit fourth = commit(4, 4, 1, 2);
  fourth.claims = {claim(0, 1, 2)};
  h.push_back(CommitSent{10, 1, fourth});
  h.push_back(CommitAnswered{10, answer(4, {{Verdict::kGranted, 13, {0, 1}}}, {state(1, 4, {0, 1}, 52)})});

  h.push_back(AgentAttaching{11, 2, "y", 0});
  h.push_back(AgentAttached{11, 1, {}});
  h.push_back(CommitSent{12, 2, commit(2, 5, 1, 1)});
  h.push_back(CommitAnswered{12, {2, Outcome::kRefused, "commit 1 is missing", {}, {}}});
  h.push_back(AgentAttaching{13, 3, "y", 0});
  h.push_back(AgentAttached{13, 2, {}});
  Commit late;
  late.sequence = 1;
  late.job = jobId(1);
  h.push_back(CommitSent{14, 2, late});
  h.push_back(CommitAnswered{14, {1, Outcome::kSuperseded, "", {}, {}}});

  h.push_back(Settled{});
  h.push_back(AgentAttaching{15, 4, "x", 5});
  h.push_back(AgentAttached{15, 5, {}});
  h.push_back(News{4, {withFacts(state(0, 3, {0, 1}, 51)), withFacts(state(1, 4, {0, 1}, 52))}, {}});

  StoreContents& stored = story.store.contents;
  stored.cluster = ClusterRecord{"c", 1, 100};
  stored.servers = {{0, facts(0), "m"}, {1, facts(1), "m"}};
  stored.agents = {{"x", 5}, {"y", 2}};
  stored.answers = {{"x", 5, answer(2, {{Verdict::kGranted, 12, {0, 1}}})},
                    {"x", 5, answer(3, {})},
                    {"x", 5, answer(4, {{Verdict::kGranted, 13, {0, 1}}})}};
  stored.jobs = {first.newJob->record, second.newJob->record, third.newJob->record, fourth.newJob->record};
  stored.progress = {progress(1, RunState::kRunning), progress(2, RunState::kDone),
                     progress(3, RunState::kCancelled), progress(4, RunState::kStarting)};
  stored.tasks = {task(1, 0, RunState::kRunning, 10, "s0", {0}),
                  task(1, 1, RunState::kStarting, 11, "s0", {1}),
                  task(2, 0, RunState::kDone, 12, "s1", {0, 1}), task(3, 0, RunState::kCancelled, 0, "", {}),
                  task(4, 0, RunState::kStarting, 13, "s1", {0, 1})};
  Usage usage;
  usage.user = "ada";
  usage.attempts = usage.done = usage.cancelled = 1;
  stored.usage = {usage};
  return story;
}

struct Bug {
  std::string name;
  std::function<void(Story&)> plant;
  std::string named;  // part of what the checker says

  friend std::ostream& operator<<(std::ostream& out, const Bug& bug) { return out << bug.name; }
};

std::vector<Bug> bugs() {
  using S = Story;
  const auto grants = [](S& s, size_t n) -> std::vector<Grant>& {
    return s.at<CommitAnswered>(n).answer.grants;
  };
  return {
      // What is in the store.
      {"GrantLost", [](S& s) { s.stored().tasks.erase(s.stored().tasks.begin()); },
       "allocation 10 of t/" + toString(jobId(1)) + "/0 was answered, and is lost"},
      {"GrantOnOtherUnits", [](S& s) { s.stored().tasks[0].rus = {3}; },
       "not on the units that were answered"},
      {"TaskThatNobodyEndedIsOver", [](S& s) { s.stored().tasks[0].state = RunState::kFailed; },
       "is over, and nobody ended it"},
      {"EndLost", [](S& s) { s.stored().tasks[2].state = RunState::kRunning; },
       "allocation 12 of t/" + toString(jobId(2)) + "/0 has ended"},
      {"TwoOwnersInTheStore", [](S& s) { s.stored().tasks[1].rus = {0}; },
       "unit 0 of s0 has two owners: allocation 10 and allocation 11"},
      {"TaskThatNobodyWasGranted",
       [](S& s) { s.stored().tasks[3] = task(3, 0, RunState::kStarting, 50, "s0", {2}); },
       "has allocation 50, which nobody was granted"},
      {"JobLost",
       [](S& s) {
         s.stored().jobs.erase(s.stored().jobs.begin() + 2);
         s.stored().progress.erase(s.stored().progress.begin() + 2);
         s.stored().tasks.erase(s.stored().tasks.begin() + 3);
       },
       "job " + toString(jobId(3)) + " was answered as made, and is lost"},
      {"JobNotAsSubmitted", [](S& s) { s.stored().jobs[0].spec.tasks = 3; }, "is not what anybody submitted"},
      {"FilesLost",
       [](S& s) {
         s.at<CommitSent>().commit.newJob->record.hasFiles = s.stored().jobs[0].hasFiles = true;
         s.at<CommitSent>(1).commit.newJob->record.hasFiles = true;
       },
       "its files are lost"},
      {"CancelLost",
       [](S& s) {
         s.stored().progress[2].state = s.stored().tasks[3].state = RunState::kQueued;
         s.stored().usage[0].cancelled = 0;
       },
       "the cancel of job " + toString(jobId(3)) + " was answered, and is lost"},
      {"AnswerLost", [](S& s) { s.stored().answers.pop_back(); },
       "commit 4 of x, epoch 5: its answer is lost"},
      {"OtherAnswerStored", [](S& s) { s.stored().answers[2].answer.grants[0].allocation = 14; },
       "commit 4 of x, epoch 5: another answer is stored"},
      {"AnswerToNoCommit", [](S& s) { s.stored().answers[2].answer.sequence = 9; }, "was never sent"},
      {"EpochLost", [](S& s) { s.stored().agents[1].epoch = 1; }, "y was given epoch 2, which is lost"},
      {"NumbersGoBack", [](S& s) { s.stored().cluster->nextAllocation = 13; },
       "allocation 13 has been given out"},
      {"ServerLost", [](S& s) { s.stored().servers.pop_back(); }, "server s1 is lost"},
      {"EndCountedTwice", [](S& s) { s.stored().usage[0].attempts = 2; }, "2 attempts are counted"},
      {"JobCountedTwice", [](S& s) { s.stored().usage[0].done = 2; }, "3 jobs are counted as over"},

      // What is answered.
      {"ChangedVerdict", [grants](S& s) { grants(s, 1)[1].rus = {2}; },
       "commit 1 of x, epoch 5 was answered"},
      {"CommitAppliedTwice",
       [grants](S& s) {
         grants(s, 1)[0] = {Verdict::kGranted, 20, {2}};
         grants(s, 1)[1] = {Verdict::kGranted, 21, {3}};
       },
       "its repeat: outcome 0, granted 20, granted 21"},
      {"TaskPlacedTwice",
       [](S& s) {
         s.at<CommitSent>(4).commit.newJob.reset();
         s.at<CommitSent>(4).commit.job = jobId(2);
       },
       "was placed twice: allocation 12 and allocation 13"},
      {"TwoOwners", [grants](S& s) { grants(s, 0)[1].rus = grants(s, 1)[1].rus = {0}; },
       "unit 0 of server 0 has two owners: allocation 10 and allocation 11"},
      {"UnitsGivenBeforeTheirEnd", [](S& s) { s.at<ReportsSent>(1).reports.clear(); },
       "unit 0 of server 1 has two owners: allocation 12 and allocation 13"},
      {"GangInPart", [grants](S& s) { grants(s, 0)[1] = {Verdict::kNotFree}; }, "a gang was granted in part"},
      {"TooFewUnits", [grants](S& s) { grants(s, 2)[0].rus = {0}; }, "has 1 units, 2 were claimed"},
      {"VerdictMissing", [grants](S& s) { grants(s, 0).pop_back(); }, "1 verdicts on 2 claims"},
      {"AllocationOfTwo", [grants](S& s) { grants(s, 4)[0].allocation = 12; },
       "allocation 12 of t/" + toString(jobId(2)) + "/0 is now told as that of"},
      {"NumbersThatDoNotRise", [grants](S& s) { grants(s, 4)[0].allocation = 3; },
       "allocation 3 was granted after allocation 12"},
      {"JobMadeTwice",
       [](S& s) {
         Commit& again = s.at<CommitSent>(4).commit;
         again.job = again.newJob->record.id = jobId(1);
       },
       "made job " + toString(jobId(1)) + ", which was there already"},
      {"SkippedSequenceTaken", [](S& s) { s.at<CommitAnswered>(5).answer = answer(2, {}); },
       "came before the one before it"},
      {"ReplacedAgentAnswered", [](S& s) { s.at<CommitAnswered>(6).answer = answer(1, {}); },
       "commit 1 of y, epoch 1 came on a connection that had been replaced"},
      {"SupersededByNobody", [](S& s) { s.at<CommitAnswered>(4).answer.outcome = Outcome::kSuperseded; },
       "no other connection asked"},
      {"EpochGivenTwice", [](S& s) { s.at<AgentAttached>(2).epoch = 1; }, "y was given epoch 1 as a new one"},
      {"EpochGoesBack", [](S& s) { s.at<AgentAttaching>(3).epoch = s.at<AgentAttached>(3).epoch = 4; },
       "x was given epoch 4 again, after epoch 5"},

      // What agents are told of servers.
      {"SumNotThatOfTheUnits", [](S& s) { s.at<CommitAnswered>(2).answer.servers[0].status.sum[0] = 1; },
       "2 units taken, and tasks that make a sum of 1"},
      {"OneVersionTwoStates",
       [](S& s) {
         s.at<CommitAnswered>(1).answer.servers[0] = state(0, 3, {0, 2}, 51);
       },
       "version 3 of server 0 was told with another state"},
      {"LastUnitsNotThoseOfTheStore",
       [](S& s) {
         s.at<News>(1).servers[0] = withFacts(state(0, 9, {0, 2}, 51));
       },
       "s0: other free units than the store has"},
      {"LastSumNotThatOfTheStore", [](S& s) { ++s.stored().jobs[0].spec.profile.caused[1]; },
       "s0: another sum than its tasks make"},
      {"LastBoundNotThatOfTheStore",
       [](S& s) {
         s.at<News>(1).servers[0] = withFacts(state(0, 9, {0, 1}, 60));
       },
       "s0: another bound than its tasks make"},
      {"LastStateMissing", [](S& s) { s.at<News>(1).servers.pop_back(); }, "was told 1 of 2 servers"},
  };
}

TEST(TortureChecker, HasNothingAgainstAHistoryInWhichEverythingIsKept) {
  EXPECT_THAT(sound().problems(), IsEmpty());
}

// Which of two connections came first is the order in which the master took them, not the one in which
// they asked.
TEST(TortureChecker, LetsAConnectionBeSupersededByOneThatAskedBeforeItAndWasTakenLater) {
  Story story;
  story.history = {Begun{1, 10},
                   MasterStarted{},
                   AgentAttaching{1, 1, "x", 0},
                   AgentAttaching{2, 2, "x", 0},
                   AgentAttached{2, 1, {}},
                   AgentAttached{1, 2, {}},
                   CommitSent{3, 2, commit(1, 1, 1, 1)},
                   CommitAnswered{3, {1, Outcome::kSuperseded, "", {}, {}}}};
  story.stored().cluster = ClusterRecord{"c", 1, 100};
  story.stored().agents = {{"x", 2}};
  EXPECT_THAT(story.problems(), IsEmpty());
}

class Planted : public testing::TestWithParam<Bug> {};

TEST_P(Planted, BugIsNamed) {
  Story story = sound();
  GetParam().plant(story);
  EXPECT_THAT(story.problems(), Contains(HasSubstr(GetParam().named)));
}

INSTANTIATE_TEST_SUITE_P(TortureChecker, Planted, testing::ValuesIn(bugs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace tarcil::torture::checker_test
