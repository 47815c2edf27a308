#include "sim/faults/agent_process.h"

#include "sim/faults/event_text.h"

namespace tarcil::sim {
namespace {

// Clients cut files into pieces of so many bytes.
constexpr uint64_t kPieceBytes = 256;

const Error kDead{ErrorCode::kUnavailable, "the agent is gone"};

}  // namespace

AgentProcess::AgentProcess(VirtualWorld& world, const Masters& masters, std::string name,
                           const AgentOptions& options, Directory monitorAt, std::function<void()> ended)
    : world_(world),
      name_(std::move(name)),
      options_(options),
      monitorAt_(std::move(monitorAt)),
      ended_(std::move(ended)),
      clock_(world),
      connection_(world, masters, *this),
      timer_(world, clock_, [this] { take(agent::TimerFired{}); }) {}

void AgentProcess::start() {
  world_.note(name_, "starts");
  logic_ = std::make_unique<AgentLogic>(options_);
  connection_.start();
}

void AgentProcess::crash() {
  world_.note(name_, "dies");
  logic_.reset();
  ++life_;
  midway_ = nullptr;
  oomKiller_.callOff();
  timer_.clear();
  connection_.stop();
  for (auto& [request, answer] : std::exchange(submissions_, {})) answer(kDead);
}

void AgentProcess::submit(const Caller& caller, const NewJob& job, Answer answer) {
  if (!alive() || !connection_.hasDescriptors()) return answer(kDead);
  const uint64_t request = world_.nextNumber();
  submissions_.emplace(request, std::move(answer));
  const FilePieces files = job.files ? inPieces(*job.files, kPieceBytes) : FilePieces{};
  take(agent::SubmitArrived{request, caller, job.record.id, job.record.spec, files});
}

void AgentProcess::connected() {
  connection_.line().toMaster([this, way = connection_.shared(), epoch = logic_->epoch(), life = life_] {
    way->master().attachAgent(way, name_, epoch,
                              {.events =
                                   [this, life](const agent::Event& event) {
                                     if (life == life_) take(event);
                                   },
                               .superseded =
                                   [this, life] {
                                     if (life == life_) end();
                                   },
                               .asksForMore =
                                   [this, way, life] {
                                     if (life != life_) return;
                                     way->toMaster([way] { way->master().moreJobs(way->session()); });
                                   }});
  });
}

void AgentProcess::disconnected() {
  take(agent::MasterLost{});
}

void AgentProcess::take(const agent::Event& event) {
  if (!alive()) return;
  world_.event(name_, [&event] { return text(event); });
  std::vector<agent::Action> actions;
  logic_->handle(event, clock_.now(), world_.rng(), actions);
  const auto* answered = std::get_if<agent::CommitAnswered>(&event);
  if (answered != nullptr && answered->answer.outcome == CommitAnswer::Outcome::kSuperseded) {
    return end();
  }
  if (midway_ && actions.size() > 1) actions.resize(1 + world_.rng().below(actions.size() - 1));
  const bool dies = midway_ && !actions.empty();
  for (const agent::Action& action : actions) carryOut(action);
  if (dies) {
    const auto crashed = std::exchange(midway_, nullptr);
    crash();
    crashed();
  } else if (oomKiller_.strikes(queued(), world_.now().steady)) {
    end();
  }
}

void AgentProcess::end() {
  crash();
  ended_();
}

size_t AgentProcess::queued() const {
  const AgentLogic::Load load = logic_->load();
  return load.jobs + load.submissions + load.commits;
}

void AgentProcess::carryOut(const agent::Action& action) {
  if (const auto* send = std::get_if<agent::SendCommit>(&action)) {
    commit(send->commit);
  } else if (const auto* piece = std::get_if<agent::SendPiece>(&action)) {
    if (!connection_.isUp()) return;
    connection_.line().toMaster(
        [way = connection_.shared(), piece = *piece] { way->master().piece(way->session(), piece); });
  } else if (const auto* passed = std::get_if<agent::DeclineOffers>(&action)) {
    if (!connection_.isUp()) return;
    const auto message = [way = connection_.shared(), jobs = passed->jobs, untried = passed->untried] {
      way->master().declineOffers(way->session(), jobs, untried);
    };
    connection_.line().toMaster(message, message);
  } else if (const auto* start = std::get_if<agent::Launch>(&action)) {
    launch(*start);
  } else if (const auto* answer = std::get_if<agent::AnswerSubmit>(&action)) {
    submissions_.extract(answer->request).mapped()(answer->status);
  } else if (std::holds_alternative<agent::AskSnapshot>(action)) {
    connection_.line().toMaster([way = connection_.shared()] { way->master().askSnapshot(way->session()); });
  } else if (const auto* wake = std::get_if<agent::WakeAt>(&action)) {
    timer_.set(wake->when);
  }
}

void AgentProcess::commit(const Commit& commit) {
  if (!connection_.isUp()) return;
  const auto message = [way = connection_.shared(), commit](MasterProcess::Copy copy) {
    way->master().commit(way->session(), commit, copy);
  };
  connection_.line().toMaster([message] { message(MasterProcess::Copy::kFirst); },
                              [message] { message(MasterProcess::Copy::kRepeat); });
}

// There and back again; the agent may have died in between, or the monitor, or a message may be lost.
void AgentProcess::launch(const agent::Launch& launch) {
  using Outcome = agent::LaunchAnswered::Outcome;
  const auto reply = [this, life = life_, spec = launch.spec](Outcome outcome) {
    world_.after(world_.delay(), [this, life, spec, outcome] {
      if (life == life_) take(agent::LaunchAnswered{spec.allocation, outcome});
    });
  };
  const auto arrive = [this, launch](const std::function<void(Outcome)>& answer) {
    MonitorProcess* monitor = monitorAt_(launch.address);
    if (monitor == nullptr || !monitor->accepts()) return answer(Outcome::kUnreachable);
    monitor->launch(launch.spec, [answer](MonitorProcess::Outcome outcome) {
      answer(outcome == MonitorProcess::Outcome::kAccepted  ? Outcome::kAccepted
             : outcome == MonitorProcess::Outcome::kRevoked ? Outcome::kRevoked
                                                            : Outcome::kUnreachable);
    });
  };
  if (world_.oneIn(world_.repeatedOneIn)) {
    world_.after(world_.delay() + world_.upTo(world_.repeatedWithin), [arrive] { arrive([](Outcome) {}); });
  }
  if (!connection_.hasDescriptors()) return reply(Outcome::kUnreachable);
  // Lost on the way, there or back.
  if (world_.oneIn(world_.lostLaunchOneIn)) {
    if (world_.oneIn(2)) world_.after(world_.delay(), [arrive] { arrive([](Outcome) {}); });
    return reply(Outcome::kUnreachable);
  }
  world_.after(world_.delay(), [arrive, reply] { arrive(reply); });
}

}  // namespace tarcil::sim
