#include "client/late/late_client.h"

#include <kj/debug.h>

#include <utility>

#include "client/agent_login.h"
#include "rpc/errors.h"
#include "rpc/turns.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

// An agent that has just started knows no servers for a moment: its refusals are not the last word.
constexpr Duration kPatience = std::chrono::seconds(5);
constexpr auto kPause = 100 * kj::MILLISECONDS;

Error errorOf(wire::LateRefusal::Reader refusal) {
  const auto code = convert::fromWireEnum<ErrorCode>(refusal.getCode(), 7, "code");
  return {code, text(refusal.getProblem())};
}

void writeJob(const LateClientJob& job, const late::SubmitTasks& submit, wire::LateJob::Builder to) {
  to.setNumber(submit.job);
  to.setId(bytesOf(job.id));
  write(job.spec, to.initSpec());
  if (submit.tasks.size() < job.spec.tasks) {
    convert::writeNumbers<uint32_t>(submit.tasks, to.initTasks(static_cast<uint32_t>(submit.tasks.size())));
  }
  to.setProbeRatio(job.probeRatio.value_or(0));
  convert::writeTexts(job.executor, to.initExecutor(static_cast<uint32_t>(job.executor.size())));
  auto descriptions = to.initDescriptions(static_cast<uint32_t>(job.descriptions.size()));
  for (uint32_t i = 0; i < descriptions.size(); ++i) descriptions.set(i, text(job.descriptions[i]).asBytes());
  to.setDetached(job.detached);
}

}  // namespace

// What the agent calls. It may outlive the session, on a connection that is being closed.
class LateClient::Port final : public wire::LateClient::Server {
 public:
  Port(LateClient& client, late::SessionNumber session) : client_(&client), session_(session) {
    client.listening_ = this;
  }
  ~Port() noexcept(false) {
    if (client_ != nullptr) client_->listening_ = nullptr;
  }

  void forgetClient() { client_ = nullptr; }

  kj::Promise<void> over(OverContext context) override {
    if (client_ == nullptr) return toException({ErrorCode::kConflict, "the session is over"});
    client_->over(session_, context.getParams());
    return kj::READY_NOW;
  }

 private:
  LateClient* client_;
  const late::SessionNumber session_;
};

LateClient::LateClient(Net net, const Clock& clock, std::vector<std::string> agents, std::string token,
                       const late::ClientOptions& options, LateClientListener& listener)
    : net_(net),
      clock_(clock),
      agents_(std::move(agents)),
      token_(std::move(token)),
      options_(options),
      listener_(listener),
      session_(options, static_cast<uint32_t>(agents_.size())),
      alarm_(net.timer, clock, [this]() { wake(); }),
      calls_(*this) {
  session_.start(now(), actions_);
  carryOut();
}

LateClient::~LateClient() noexcept(false) {
  if (listening_ != nullptr) listening_->forgetClient();
}

late::ClientJob LateClient::submit(LateClientJob job) {
  const late::ClientJob number = ++lastJob_;
  const uint32_t tasks = job.spec.tasks;
  const auto onFailure = job.spec.atMostOnce ? late::OnFailure::kAtMostOnce : late::OnFailure::kRelaunch;
  jobs_[number] = {.job = std::move(job), .since = now()};
  session_.submit(number, tasks, onFailure, actions_);
  carryOut();
  return number;
}

void LateClient::cancel(late::ClientJob job) {
  KJ_IF_MAYBE (port, port_) {
    auto request = port->cancelRequest();
    request.initJobs(1).set(0, job);
    calls_.add(request.send().ignoreResult());
  }
}

kj::Promise<void> LateClient::handedOver() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  handedOver_.push_back(kj::mv(paf.fulfiller));
  checkHandedOver();
  return kj::mv(paf.promise);
}

void LateClient::checkHandedOver() {
  for (const auto& [number, held] : jobs_) {
    if (!held.isTaken) return;
  }
  for (auto& fulfiller : std::exchange(handedOver_, {})) fulfiller->fulfill();
}

// --- The session

void LateClient::connectTo(const late::ConnectTo& action) {
  const late::SessionNumber session = action.session;
  if (listening_ != nullptr) listening_->forgetClient();
  listening_ = nullptr;
  connecting_ = nullptr;
  port_ = nullptr;
  connection_ = nullptr;
  connecting_ = connectToAgent(net_, agents_[action.agent])
                    .then([this, session](kj::Own<Connection>&& connection) {
                      connection_ = kj::mv(connection);
                      auto login = connection_->bootstrap().castAs<wire::AgentGate>().loginRequest();
                      login.setToken(text(token_));
                      auto request = login.send().getClient().lateBindingRequest();
                      request.setClient(kj::heap<Port>(*this, session));
                      return request.send();
                    })
                    .then([this, session](auto&& answer) {
                      port_ = answer.getPort();
                      session_.connected(session, now(), actions_);
                      carryOut();
                      return connection_->onDisconnect();
                    })
                    .then([]() -> kj::Promise<void> {
                      return toException({ErrorCode::kUnavailable, "the agent closed the connection"});
                    })
                    // Once this event is handled: the connection is dropped there.
                    .catch_([this, session](kj::Exception&& exception) {
                      calls_.add(kj::evalLater(
                          [this, session, exception = kj::mv(exception)]() { failed(session, exception); }));
                    })
                    .eagerlyEvaluate(nullptr);
}

void LateClient::failed(late::SessionNumber session, const kj::Exception& exception) {
  if (session != session_.session()) return;
  const Error error =
      session_.isConnected() ? fromException(exception) : loginError(agents_[session_.agent()], exception);
  if (error.code == ErrorCode::kDenied) listener_.denied(error);
  session_.disconnected(session, now(), actions_);
  lost_ = error;
  carryOut();
  lost_.reset();
}

void LateClient::over(late::SessionNumber session, wire::LateClient::OverParams::Reader params) {
  session_.heard(session, now());
  for (auto from : convert::elements(params.getTasks())) {
    LateClientResult result;
    result.task = {from.getJob(), from.getTask()};
    result.outcome = convert::fromWireEnum<late::Outcome>(from.getOutcome(), 3, "outcome");
    result.code = from.getCode();
    result.attempts = from.getAttempts();
    result.server = text(from.getServer());
    const auto phases = from.getPhases();
    result.phases = {convert::readDuration(phases.getReserve(), "reserve"),
                     convert::readDuration(phases.getQueue(), "queue"),
                     convert::readDuration(phases.getGetTask(), "getTask"),
                     convert::readDuration(phases.getService(), "service")};
    session_.taskOver(session, {result.task, result.outcome, result.code}, actions_);
    if (actions_.over.empty()) continue;  // it was over already
    actions_.over.clear();
    deliver(result);
  }
  carryOut();
}

void LateClient::deliver(const LateClientResult& result) {
  const auto job = jobs_.find(result.task.job);
  if (job != jobs_.end() && !session_.holds(result.task.job)) jobs_.erase(job);
  listener_.taskOver(result);
}

void LateClient::takeSubmitted(late::SessionNumber session, const std::vector<late::ClientJob>& jobs,
                               wire::LateClientPort::SubmitResults::Reader answer) {
  if (session != session_.session()) return;
  session_.heard(session, now());
  for (const late::ClientJob job : jobs) {
    if (const auto held = jobs_.find(job); held != jobs_.end()) held->second.isTaken = true;
  }
  for (auto refusal : convert::elements(answer.getRefused()))
    refuse(session, refusal.getJob(), errorOf(refusal));
  carryOut();
}

void LateClient::refuse(late::SessionNumber session, late::ClientJob job, const Error& error) {
  const auto held = jobs_.find(job);
  if (held == jobs_.end()) return;
  const uint32_t tasks = held->second.job.spec.tasks;
  if (error.code == ErrorCode::kUnavailable && now() < held->second.since + kPatience) {
    held->second.isTaken = false;
    calls_.add(net_.timer.afterDelay(kPause).then([this, session, job]() {
      if (session != session_.session()) return;
      if (auto again = session_.tasksOf(job)) toSubmit_.push_back(std::move(*again));
      flushSoon();
    }));
    return;
  }
  for (TaskIndex task = 0; task < tasks; ++task) {
    LateClientResult result;
    result.task = {job, task};
    result.outcome = late::Outcome::kCancelled;
    result.problem = error.message;
    session_.taskOver(session, {result.task, result.outcome, 0}, actions_);
    if (actions_.over.empty()) continue;
    actions_.over.clear();
    deliver(result);
  }
}

// --- What the session wants

void LateClient::carryOut() {
  late::ClientActions actions = std::exchange(actions_, {});
  for (const auto& failure : actions.failed) {
    for (auto& [number, held] : jobs_) {
      held.isTaken = false;
      held.since = now();
    }
    toSubmit_.clear();
    listener_.agentFailed(agents_[failure.agent], failure.inFlight,
                          lost_ ? lost_->message : "it does not answer");
  }
  for (const auto& over : actions.over) {
    LateClientResult result;
    result.task = over.task;
    result.outcome = over.outcome;
    result.code = over.code;
    deliver(result);
  }
  for (const auto& connect : actions.connects) connectTo(connect);
  for (const auto& beat : actions.heartbeats) {
    KJ_IF_MAYBE (port, port_) {
      calls_.add(port->heartbeatRequest().send().then(
          [this, session = beat.session](auto&&) { session_.heard(session, now()); }));
    }
  }
  for (auto& submit : actions.submits) toSubmit_.push_back(std::move(submit));
  if (!toSubmit_.empty()) flushSoon();
  if (!handedOver_.empty()) checkHandedOver();
  const MonotonicTime next = session_.nextWake();
  if (next != MonotonicTime::max() && (!wake_ || *wake_ > next)) {
    wake_ = next;
    alarm_.set(next);
  }
}

void LateClient::wake() {
  const MonotonicTime time = now();
  const MonotonicTime due = wake_.value_or(time);
  wake_.reset();
  // This process may have been stopped itself: what has come meanwhile is read before the agent is judged.
  wasLate_ = !wasLate_ && time > due + options_.heartbeat;
  if (wasLate_) {
    wake_ = time + std::chrono::milliseconds(1);
    alarm_.set(*wake_);
    return;
  }
  session_.advance(time, actions_);
  carryOut();
}

void LateClient::flushSoon() {
  if (std::exchange(isFlushing_, true)) return;
  calls_.add(untilIdle(net_.timer).then([this]() { flush(); }));
}

void LateClient::flush() {
  isFlushing_ = false;
  const auto submits = std::exchange(toSubmit_, {});
  KJ_IF_MAYBE (port, port_) {
    if (submits.empty()) return;
    auto request = port->submitRequest();
    auto list = request.initJobs(static_cast<uint32_t>(submits.size()));
    std::vector<late::ClientJob> numbers;
    for (uint32_t i = 0; i < list.size(); ++i) {
      writeJob(jobs_.at(submits[i].job).job, submits[i], list[i]);
      numbers.push_back(submits[i].job);
    }
    calls_.add(request.send().then([this, session = session_.session(), numbers = std::move(numbers)](
                                       auto&& answer) { takeSubmitted(session, numbers, answer); }));
  }
}

// A call that fails because the connection does is the end of the session, which is noticed elsewhere.
void LateClient::taskFailed(kj::Exception&& exception) {
  if (exception.getType() == kj::Exception::Type::DISCONNECTED) return;
  failed(session_.session(), exception);
}

}  // namespace tarcil
