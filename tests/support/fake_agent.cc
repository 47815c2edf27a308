#include "tests/support/fake_agent.h"

#include "tests/support/event_text.h"

namespace tarcil {
namespace {

const Error kDead{ErrorCode::kUnavailable, "the agent is gone"};

}  // namespace

FakeAgent::FakeAgent(FakeWorld& world, FakeMaster& master, std::string name, const AgentOptions& options,
                     Directory monitorAt)
    : world_(world),
      master_(master),
      name_(std::move(name)),
      options_(options),
      monitorAt_(std::move(monitorAt)),
      connection_(world, master, *this),
      timer_(world) {}

void FakeAgent::start() {
  world_.note(name_, "starts");
  logic_ = std::make_unique<AgentLogic>(options_);
  connection_.start();
}

void FakeAgent::crash() {
  world_.note(name_, "dies");
  logic_.reset();
  ++life_;
  timer_.clear();
  connection_.stop();
  for (auto& [request, answer] : std::exchange(submissions_, {})) answer(kDead);
}

void FakeAgent::submit(const Caller& caller, const NewJob& job, Answer answer) {
  if (!alive()) return answer(kDead);
  const uint64_t request = world_.nextNumber();
  submissions_.emplace(request, std::move(answer));
  take(agent::SubmitArrived{request, caller, job.record.id, job.record.spec, job.files});
}

void FakeAgent::connected() {
  connection_.toMaster([this, epoch = logic_->epoch()] {
    master_.attachAgent(connection_, name_, epoch, [this](const agent::Event& event) { take(event); });
  });
}

void FakeAgent::disconnected() {
  take(agent::MasterLost{});
}

void FakeAgent::take(const agent::Event& event) {
  if (!alive()) return;
  world_.note(name_, text(event));
  std::vector<agent::Action> actions;
  logic_->handle(event, world_.now(), world_.rng(), actions);
  for (const agent::Action& action : actions) carryOut(action);
}

void FakeAgent::carryOut(const agent::Action& action) {
  if (const auto* send = std::get_if<agent::SendCommit>(&action)) {
    connection_.toMaster(
        [this, session = connection_.session(), commit = send->commit] { master_.commit(session, commit); });
  } else if (const auto* passed = std::get_if<agent::PassTurns>(&action)) {
    connection_.toMaster([this, session = connection_.session(), jobs = passed->jobs,
                          untried = passed->untried] { master_.passTurns(session, jobs, untried); });
  } else if (const auto* start = std::get_if<agent::Launch>(&action)) {
    launch(*start);
  } else if (const auto* answer = std::get_if<agent::AnswerSubmit>(&action)) {
    submissions_.extract(answer->request).mapped()(answer->status);
  } else if (std::holds_alternative<agent::AskSnapshot>(action)) {
    world_.violated(name_ + "'s copy of the state differs from the master's");
  } else if (const auto* wake = std::get_if<agent::WakeAt>(&action)) {
    timer_.set(wake->when, [this] { take(agent::TimerFired{}); });
  }
}

// There and back again; the agent may have died in between, or the monitor.
void FakeAgent::launch(const agent::Launch& launch) {
  using Outcome = agent::LaunchAnswered::Outcome;
  const auto reply = [this, life = life_, spec = launch.spec](Outcome outcome) {
    world_.after(world_.delay(), [this, life, spec, outcome] {
      if (life == life_) take(agent::LaunchAnswered{spec.allocation, outcome});
    });
  };
  world_.after(world_.delay(), [this, launch, reply] {
    FakeMonitor* monitor = monitorAt_(launch.address);
    if (monitor == nullptr || !monitor->alive()) return reply(Outcome::kUnreachable);
    monitor->launch(launch.spec, [reply](FakeMonitor::Outcome outcome) {
      reply(outcome == FakeMonitor::Outcome::kAccepted  ? Outcome::kAccepted
            : outcome == FakeMonitor::Outcome::kRevoked ? Outcome::kRevoked
                                                        : Outcome::kUnreachable);
    });
  });
}

}  // namespace tarcil
