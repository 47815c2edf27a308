#include "agent/server/agent_server.h"

#include <spdlog/spdlog.h>

#include "agent/server/client_port.h"
#include "env/failpoint.h"
#include "env/loop_step.h"
#include "env/stop.h"
#include "rpc/errors.h"
#include "rpc/later_leader.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

class FeedImpl final : public wire::AgentFeed::Server {
 public:
  explicit FeedImpl(AgentServer& server) : server_(server) {}

  kj::Promise<void> revoked(RevokedContext context) override {
    server_.setRevoked(convert::readNumbers<uint64_t>(context.getParams().getSerials()));
    return kj::READY_NOW;
  }

  kj::Promise<void> update(UpdateContext context) override {
    // What cannot be taken would be missing for ever: with a new link everything comes again.
    KJ_IF_MAYBE (failure, kj::runCatchingExceptions([this, &context]() {
                   context.getResults().setDiffers(server_.takeUpdate(context.getParams()));
                 })) {
      server_.dropLink(*failure);
      return kj::mv(*failure);
    }
    return kj::READY_NOW;
  }

 private:
  AgentServer& server_;
};

agent::LaunchAnswered::Outcome outcomeOf(wire::LaunchPort::Outcome outcome) {
  switch (outcome) {
    case wire::LaunchPort::Outcome::ACCEPTED:
      return agent::LaunchAnswered::Outcome::kAccepted;
    case wire::LaunchPort::Outcome::REVOKED:
      return agent::LaunchAnswered::Outcome::kRevoked;
    // The server has moved to another monitor, and its new address is on its way. Or the master gives no
    // ticket now: the task is to be launched no more, or its monitor is about to attach anew.
    case wire::LaunchPort::Outcome::UNKNOWN_SERVER:
    case wire::LaunchPort::Outcome::NO_TICKET:
      return agent::LaunchAnswered::Outcome::kUnreachable;
  }
  return agent::LaunchAnswered::Outcome::kUnreachable;
}

agent::QueueTold readQueue(wire::QueueNews::Reader from) {
  agent::QueueTold queue{.capacityVersion = from.getCapacityVersion(),
                         .crowded = from.getCrowded(),
                         .waiting = from.getWaiting(),
                         .waitingTasks = from.getWaitingTasks()};
  const int16_t pending = from.getPendingPriority();
  if (pending >= 0 && pending <= UINT8_MAX) queue.pendingPriority = static_cast<uint8_t>(pending);
  for (const ServerId server : from.getReserved()) queue.reserved.push_back(server);
  return queue;
}

agent::JobsOffered readOffers(capnp::List<wire::JobOffer>::Reader from) {
  agent::JobsOffered offers;
  for (auto offer : from) {
    const JobId job = readJobId(offer.getJob());
    offers.jobs.push_back(job);
    if (offer.getBound() >= 0) offers.bounds[job] = convert::readDuration(offer.getBound(), "bound");
    if (offer.getMayUseReserved()) continue;
    std::vector<ServerId>& all = offers.usableReserved[job];
    for (const ServerId server : offer.getUsableReserved()) all.push_back(server);
  }
  return offers;
}

template <typename Answer>
std::vector<JobAssignment> jobsIn(const Answer& answer) {
  const LoopStep step("jobs of the master");
  std::vector<JobAssignment> jobs;
  for (auto job : answer.getJobs()) jobs.push_back(read(job));
  return jobs;
}

}  // namespace

AgentServer::AgentServer(Net net, const Clock& clock, Rng rng, AgentServerOptions options,
                         kj::Function<void(const Error&)> refused, kj::Function<void()> attached)
    : net_(net),
      timer_(net.timer),
      clock_(clock),
      rng_(rng),
      options_(std::move(options)),
      refused_(kj::mv(refused)),
      attachedCallback_(kj::mv(attached)),
      logic_(options_.logic),
      alarm_(net.timer, clock, [this]() { dispatch(agent::TimerFired{}); }),
      monitors_(net, options_.token),
      lateBinding_(
          net, clock, Rng(rng_()), options_.token, metrics_, options_.lateBinding,
          [this](uint32_t count) { return leaseNumbers(count); },
          [this](const std::string& user, const std::string& runAs) { return lateGrant(user, runAs); }),
      fairCalls_(kj::refcounted<FairCalls>(net.timer)),
      heard_(clock.now().steady),
      link_(keepLinked(
                net, options_.masters, Rng(rng_()),
                [this](capnp::Capability::Client master, const std::string& address) {
                  return attach(master.castAs<wire::MasterGate>(), address);
                },
                [this](const Error& error, const std::string& address) { lost(error, address); }, {},
                laterLeader(net_, options_.token, term_))
                .eagerlyEvaluate(stopsIfFailed("the link to the master"))) {}

wire::AgentGate::Client AgentServer::gate(LetIn letIn) {
  return makeAgentGate(*this, std::move(letIn));
}

kj::Promise<JobNumber> AgentServer::leaseNumbers(uint32_t count) {
  KJ_IF_MAYBE (port, port_) {
    auto request = port->leaseNumbersRequest();
    request.setCount(count);
    return request.send().then([](auto&& answer) { return answer.getFirst(); });
  }
  return toException({ErrorCode::kUnavailable, problem_});
}

kj::Promise<LateGrant> AgentServer::lateGrant(const std::string& user, const std::string& runAs) {
  KJ_IF_MAYBE (port, port_) {
    auto request = port->lateGrantRequest();
    request.setUser(text(user));
    request.setRunAs(text(runAs));
    return request.send().then([](auto&& answer) { return read(answer.getGrant()); },
                               [user, runAs](kj::Exception&& exception) -> LateGrant {
                                 if (exception.getType() != kj::Exception::Type::UNIMPLEMENTED)
                                   kj::throwFatalException(kj::mv(exception));
                                 // A master of an earlier version, whose monitors want none.
                                 return {{}, user, runAs, WallTime::max()};
                               });
  }
  return toException({ErrorCode::kUnavailable, problem_});
}

kj::Promise<void> AgentServer::submit(const Caller& caller, const JobId& id, JobSpec spec, FilePieces files) {
  auto pending = submissions_.add();
  failpoint("agent.submit_arrived");
  dispatch(agent::SubmitArrived{pending.number, caller, id, std::move(spec), std::move(files)});
  return pending.promise.then([this, begin = clock_.now().steady](Status&& status) {
    metrics_.count(status);
    metrics_.submission.Observe(seconds(clock_.now().steady - begin));
    requireOk(status);
  });
}

std::string AgentServer::metrics() {
  metrics_.show(logic_.load(), attached_, clock_.now().steady - heard_);
  return metrics_.set.text();
}

kj::Promise<Attached> AgentServer::attach(wire::MasterGate::Client master, const std::string& address) {
  auto login = master.loginRequest();
  login.setToken(text(tokenFor(net_, address, options_.token)));
  return login.send().then([this, address](auto&& response) {
    requireOk(term_.take(response.getTerm(), address));
    master_ = address;
    cluster_ = text(response.getCluster());
    if (!response.hasAgent()) {
      kj::throwFatalException(toException(denied("the token is not an agent's")));
    }
    wire::AgentPort::Client port = response.getAgent();
    auto request = port.attachRequest();
    request.setAgent(text(options_.name));
    request.setEpoch(logic_.epoch());
    request.setAddress(text(options_.address));
    request.setFeed(kj::heap<FeedImpl>(*this));
    return request.send().then([this, port](auto&& answer) mutable {
      // Users' calls to the master do not wait until the jobs are listed.
      logins_.linked(port);
      const bool more = answer.getMore();
      return listed(kj::mv(port), agent::MasterAttached{answer.getEpoch(), jobsIn(answer), more}, more);
    });
  });
}

// One message after the other, so that others are served between them.
kj::Promise<Attached> AgentServer::listed(wire::AgentPort::Client port, const agent::Event& event,
                                          bool more) {
  if (!more) return attached(kj::mv(port), event);
  dispatch(event);
  auto asked = port.moreJobsRequest().send();
  return asked.then([this, port = kj::mv(port)](auto&& answer) mutable {
    const bool more = answer.getMore();
    return listed(kj::mv(port), agent::JobsTold{jobsIn(answer), more}, more);
  });
}

Attached AgentServer::attached(wire::AgentPort::Client port, const agent::Event& event) {
  auto fault = kj::newPromiseAndFulfiller<void>();
  lateBinding_.masterAttached();
  port_ = kj::mv(port);
  fault_ = kj::mv(fault.fulfiller);
  attached_ = isAttaching_ = true;
  outage_.end();
  dispatch(event);
  spdlog::info("attached to the master at {} (epoch {})", master_, logic_.epoch());
  auto early = std::move(early_);
  early_.clear();
  for (const agent::Event& news : early) dispatch(news);
  return Attached{kj::mv(fault.promise)};
}

void AgentServer::lost(const Error& error, const std::string& address) {
  if (error.code == ErrorCode::kDenied || error.code == ErrorCode::kInvalid) {
    refused_(error);
    return;
  }
  early_.clear();
  port_ = nullptr;
  const bool isRefused = error.code == ErrorCode::kConflict;
  problem_ = "the master at " + address + (isRefused ? " refuses: " : " is out of reach: ") + error.message;
  logins_.unlinked(problem_);
  if (outage_.begins(error)) spdlog::warn("{}; trying again", problem_);
  if (!attached_) return;
  attached_ = false;
  dispatch(agent::MasterLost{});
}

void AgentServer::superseded() {
  refused_({ErrorCode::kConflict, "another process has attached as agent '" + options_.name +
                                      "'; give each agent a name of its own"});
}

bool AgentServer::takeUpdate(wire::AgentFeed::UpdateParams::Reader update) {
  const LoopStep step("news of the master");
  heard_ = clock_.now().steady;
  if (update.getSuperseded()) superseded();
  std::vector<agent::Event> news;
  for (auto platform : update.getPlatforms()) {
    const Share share = readShare(platform);
    lateBinding_.note(text(platform.getName()), share);
    news.emplace_back(agent::PlatformUpdated{text(platform.getName()), share});
  }
  for (auto shares : update.getShares()) lateBinding_.note(text(shares.getUser()), shares.getShares());
  if (update.hasSettings()) news.emplace_back(agent::SettingsUpdated{read(update.getSettings())});
  agent::ServersUpdated servers;
  for (auto server : update.getServers()) servers.updates.push_back(read(server));
  for (const ServerUpdate& update : servers.updates) lateBinding_.note(update);
  if (!servers.updates.empty()) news.emplace_back(std::move(servers));
  for (auto assignment : update.getAssignments()) news.emplace_back(agent::JobAssigned{read(assignment)});
  if (update.getSnapshotComplete()) news.emplace_back(agent::SnapshotComplete{});
  if (update.hasQueue()) {
    news.emplace_back(readQueue(update.getQueue()));
  }
  if (update.getOffers().size() > 0) news.emplace_back(readOffers(update.getOffers()));
  for (agent::Event& event : news) {
    if (attached_) {
      dispatch(event);
    } else {
      early_.push_back(std::move(event));
    }
  }
  copyDiffers_ = false;
  if (attached_ && update.hasChecksum()) {
    const auto told = update.getChecksum();
    dispatch(agent::ChecksumTold{{.statuses = told.getSum(), .facts = told.getFacts()}});
  }
  return copyDiffers_;
}

void AgentServer::dropLink(const kj::Exception& why) {
  if (attached_) fault_->reject(kj::cp(why));
}

void AgentServer::dispatch(const agent::Event& event) {
  const LoopStep step("the agent's decisions");
  // Half of an event is worse than a new start, which gets everything from the master.
  runOrStop("handling an event", [this, &event]() {
    std::vector<agent::Action> actions;
    const Now now = clock_.now();
    const uint64_t before = logic_.load().decisions;
    logic_.handle(event, now, rng_, actions);
    if (const uint64_t made = logic_.load().decisions - before; made > 0) {
      metrics_.countDecisions(made, clock_.now().steady - now.steady);
    }
    for (auto& action : actions) std::visit([this](auto& concrete) { carryOut(concrete); }, action);
  });
  if (std::holds_alternative<agent::SnapshotComplete>(event) && std::exchange(isAttaching_, false)) {
    attachedCallback_();
  }
}

void AgentServer::carryOut(agent::SendPiece& action) {
  KJ_IF_MAYBE (port, port_) {
    auto request = port->pieceRequest();
    request.setJob(bytesOf(action.job));
    request.setUser(text(action.user));
    request.setBytes(action.bytes);
    request.setNumber(action.number);
    write(*action.files, request.initFiles(static_cast<uint32_t>(action.files->size())));
    failpoint("agent.before_piece");
    calls_.add(request.send().then(
        [this, upload = action.upload](auto&& response) {
          failpoint("agent.piece_answered");
          dispatch(agent::PieceAnswered{upload, response.getIsThere()});
        },
        [this, upload = action.upload](kj::Exception&& exception) {
          Error error = fromException(exception);
          // It is sent again when the link has been made anew.
          if (error.code == ErrorCode::kUnavailable) return dropLink(exception);
          dispatch(agent::PieceAnswered{upload, std::move(error)});
        }));
  }
}

void AgentServer::carryOut(agent::SendCommit& action) {
  KJ_IF_MAYBE (port, port_) {
    const Commit& commit = action.commit;
    spdlog::info("job {}: commit {} claims {} of {} tasks (drawn {}, p {:.3f})", toString(commit.job),
                 commit.sequence, commit.claims.size(), commit.explanation.wanted, commit.explanation.drawn,
                 shareAcceptable(commit.explanation));
    auto request = port->commitRequest();
    write(commit, request.initCommit());
    failpoint("agent.before_commit");
    metrics_.count(commit.explanation);
    calls_.add(request.send().then(
        [this, begin = clock_.now().steady](auto&& response) {
          failpoint("agent.commit_answered");
          metrics_.commit.Observe(seconds(clock_.now().steady - begin));
          CommitAnswer answer = read(response.getAnswer());
          if (answer.outcome == CommitAnswer::Outcome::kSuperseded) {
            superseded();
          }
          // What is granted is launched at once, mostly; else another ticket is asked for.
          const auto tickets = response.getTickets();
          for (uint32_t i = 0; i < tickets.size() && i < answer.grants.size(); ++i)
            tickets_.emplace(answer.grants[i].allocation, convert::data(tickets[i]));
          dispatch(agent::CommitAnswered{std::move(answer)});
          tickets_.clear();
        },
        // It is sent again when the link has been made anew.
        [this](kj::Exception&& exception) { fault_->reject(kj::mv(exception)); }));
  }
}

void AgentServer::carryOut(agent::DeclineOffers& action) {
  KJ_IF_MAYBE (port, port_) {
    auto request = port->declineOffersRequest();
    writeJobIds(action.jobs, request.initJobs(static_cast<uint32_t>(action.jobs.size())));
    writeJobIds(action.untried, request.initUntried(static_cast<uint32_t>(action.untried.size())));
    // A link that breaks is noticed elsewhere, and ends every offer.
    calls_.add(request.send().then([](auto&&) {}, [](kj::Exception&&) {}));
  }
}

kj::Promise<wire::LaunchPort::Outcome> AgentServer::launch(const agent::Launch& launch,
                                                           const std::string& ticket) {
  return monitors_.launch(launch.address, launch.spec, ticket)
      .then([this, launch](wire::LaunchPort::Outcome outcome) -> kj::Promise<wire::LaunchPort::Outcome> {
        if (outcome != wire::LaunchPort::Outcome::NO_TICKET) return outcome;
        KJ_IF_MAYBE (port, port_) {
          auto request = port->ticketsRequest();
          request.initAllocations(1).set(0, launch.spec.allocation);
          return request.send().then([this, launch](auto&& answer) {
            const auto tickets = answer.getTickets();
            return monitors_.launch(launch.address, launch.spec,
                                    tickets.size() == 0 ? "" : convert::data(tickets[0]));
          });
        }
        return outcome;
      });
}

void AgentServer::carryOut(agent::Launch& action) {
  using Outcome = agent::LaunchAnswered::Outcome;
  const AllocationId allocation = action.spec.allocation;
  failpoint("agent.before_launch");
  const auto ticket = tickets_.find(allocation);
  calls_.add(launch(action, ticket == tickets_.end() ? "" : ticket->second)
                 .then([](wire::LaunchPort::Outcome outcome) { return outcomeOf(outcome); },
                       [address = action.address](kj::Exception&& exception) {
                         spdlog::warn("monitor {}: {}", address, fromException(exception).message);
                         return Outcome::kUnreachable;
                       })
                 .then([this, allocation](Outcome outcome) {
                   failpoint("agent.launched");
                   metrics_.launches[static_cast<size_t>(outcome)]->Increment();
                   dispatch(agent::LaunchAnswered{allocation, outcome});
                 }));
}

void AgentServer::carryOut(agent::AnswerSubmit& action) {
  failpoint("agent.before_answer");
  submissions_.fulfill(action.request, std::move(action.status));
}

void AgentServer::carryOut(agent::TasksPlaced& action) {
  for (uint32_t i = 0; i < action.tasks; ++i) metrics_.wait.Observe(seconds(action.waited));
}

void AgentServer::carryOut(agent::AskSnapshot&) {
  spdlog::warn("the copy of the cluster's state differs from the master's; it is fetched anew");
  copyDiffers_ = true;
}

void AgentServer::carryOut(agent::WakeAt& action) {
  alarm_.set(action.when);
}

}  // namespace tarcil
