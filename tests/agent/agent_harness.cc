#include "tests/agent/agent_harness.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tarcil {

using namespace std::chrono_literals;

JobId jobId(uint8_t number) {
  JobId id;
  id.bytes.fill(number);
  return id;
}

Caller alice() {
  return {.user = "alice", .role = Role::kSubmit, .runAs = {"alice", "batch"}};
}

AgentHarness::AgentHarness(const std::vector<ServerBuilder>& servers, const AgentOptions& options,
                           uint64_t seed)
    : master(servers), agent(options), rng_(seed), now_{MonotonicTime(1h), WallTime(24h)} {}

void AgentHarness::rankByQuality() {
  QualitySettings settings;
  settings.ranking = RankBy::kQuality;
  handle(agent::SettingsUpdated{settings});
}

void AgentHarness::attach(uint64_t epoch) {
  attachOnly(epoch);
  feedSnapshot();
}

void AgentHarness::attachOnly(uint64_t epoch) {
  handle(agent::MasterAttached{epoch, master.unfinishedJobs()});
}

void AgentHarness::feedSnapshot() {
  tellServers();
  handle(agent::SnapshotComplete{});
}

agent::RequestId AgentHarness::submit(const JobSpec& spec, const JobId& id, const Caller& caller) {
  agent::RequestId request = nextRequest_++;
  handle(agent::SubmitArrived{.request = request, .caller = caller, .job = id, .spec = spec, .files = {}});
  return request;
}

void AgentHarness::submitted(const JobSpec& spec, const JobId& id) {
  submit(spec, id);
  takeCommits();
}

void AgentHarness::takeCommit() {
  ASSERT_FALSE(commits.empty());
  Commit commit = std::move(commits.front());
  commits.pop_front();
  const CommitAnswer answer = master.take(commit);
  handle(agent::CommitAnswered{answer});
  const auto isRefused = [](const Grant& grant) { return grant.verdict != Verdict::kGranted; };
  if (std::ranges::any_of(answer.grants, isRefused)) offerJobsAfterNews();
}

void AgentHarness::takeCommits() {
  while (!commits.empty()) takeCommit();
}

void AgentHarness::tell(const JobAssignment& assignment) {
  handle(agent::JobAssigned{assignment});
  offerJobsAfterNews();
}

void AgentHarness::tellServer(ServerId server) {
  handle(agent::ServersUpdated{{master.update(server)}});
  offerJobsAfterNews();
}

void AgentHarness::tellServers() {
  handle(agent::ServersUpdated{master.snapshot()});
  offerJobsAfterNews();
}

void AgentHarness::offerJobs() {
  const std::vector<JobId> waiting = master.waitingJobs();
  if (!waiting.empty()) handle(agent::JobsOffered{waiting});
}

void AgentHarness::offerJobsAfterNews() {
  if (!holdsOffers_) offerJobs();
}

void AgentHarness::endTask(const JobId& job, TaskIndex task) {
  tell(master.end(job, task));
  tellServers();
}

void AgentHarness::pass(Duration time) {
  const MonotonicTime end = now_.steady + time;
  while (wake_ && *wake_ <= end) fire();
  now_.wall += end - now_.steady;
  now_.steady = end;
}

void AgentHarness::fire() {
  const MonotonicTime due = std::max(*wake_, now_.steady);
  wake_.reset();
  now_.wall += due - now_.steady;
  now_.steady = due;
  handle(agent::TimerFired{});
}

void AgentHarness::handle(const agent::Event& event) {
  std::vector<agent::Action> actions;
  agent.handle(event, now_, rng_, actions);
  for (agent::Action& action : actions) {
    if (auto* sent = std::get_if<agent::SendCommit>(&action)) {
      ++commitsSent;
      commits.push_back(std::move(sent->commit));
    } else if (auto* piece = std::get_if<agent::SendPiece>(&action)) {
      pieces.push_back(std::move(*piece));
    } else if (auto* launch = std::get_if<agent::Launch>(&action)) {
      launches.push_back(std::move(*launch));
    } else if (auto* answered = std::get_if<agent::AnswerSubmit>(&action)) {
      EXPECT_TRUE(answers_.emplace(answered->request, answered->status).second) << "answered twice";
    } else if (auto* placed = std::get_if<agent::TasksPlaced>(&action)) {
      waits.push_back(*placed);
    } else if (auto* offers = std::get_if<agent::DeclineOffers>(&action)) {
      declined.insert(declined.end(), offers->jobs.begin(), offers->jobs.end());
      untried.insert(untried.end(), offers->untried.begin(), offers->untried.end());
    } else if (std::holds_alternative<agent::AskSnapshot>(action)) {
      ++snapshotsAsked;
    } else {
      wake_ = std::get<agent::WakeAt>(action).when;
    }
  }
}

std::optional<Status> AgentHarness::answer(agent::RequestId request) const {
  auto found = answers_.find(request);
  if (found == answers_.end()) return std::nullopt;
  return found->second;
}

std::string AgentHarness::answerText(agent::RequestId request) const {
  std::optional<Status> status = answer(request);
  if (!status) return "none";
  return status->ok() ? "" : status->error().message;
}

}  // namespace tarcil
