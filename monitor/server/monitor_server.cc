#include "monitor/server/monitor_server.h"

#include <kj/debug.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "env/failpoint.h"
#include "env/stop.h"
#include "monitor/late/late_reports.h"
#include "monitor/server/launch_port.h"
#include "rpc/errors.h"
#include "rpc/later_leader.h"
#include "schema/convert.h"
#include "schema/convert_performance.h"
#include "schema/convert_pressure.h"
#include "schema/convert_secret.h"
#include "schema/convert_support.h"
#include "schema/measurement_text.h"

namespace tarcil {
namespace {

using convert::text;

// Whether the call failed since the master is of an earlier version, which is noted in `takes` and said once.
bool isOfEarlierMaster(const kj::Exception& exception, bool& takes, const char* what) {
  if (exception.getType() != kj::Exception::Type::UNIMPLEMENTED) return false;
  if (std::exchange(takes, false)) spdlog::warn("the master is of an earlier version and takes no {}", what);
  return true;
}

// Masters of earlier versions make no tickets, and no grants.
template <typename Key>
std::optional<Key> keyIn(capnp::Data::Reader from) {
  if (from.size() == 0) return std::nullopt;
  Key key;
  KJ_REQUIRE(from.size() == key.size(), "no key has so many bytes", from.size());
  std::copy(from.begin(), from.end(), key.begin());
  return key;
}

// Bytes of output, or of a file, in one answer.
constexpr size_t kOutputPiece = 1 << 20;
constexpr size_t kMaxSamplesAtOnce = 1'000;

// What a shutdown may take after the grace of its tasks, and how often it is looked whether they have ended.
constexpr Duration kShutdownTime = std::chrono::seconds(5);
constexpr auto kShutdownPeriod = 20 * kj::MILLISECONDS;
constexpr auto kLeaveTime = 1 * kj::SECONDS;

// From the piece of this number on, behind those before it.
kj::Promise<std::vector<InputFile>> fetchFiles(wire::MonitorPort::Client port, const JobId& job,
                                               uint32_t number, std::vector<InputFile> files) {
  auto request = port.filesRequest();
  request.setJob(bytesOf(job));
  request.setPiece(number);
  return request.send().then([port = kj::mv(port), job, number, files = std::move(files)](
                                 auto&& piece) mutable -> kj::Promise<std::vector<InputFile>> {
    append(files, read(piece.getFiles()));
    if (number >= piece.getPieces()) return std::move(files);
    return fetchFiles(kj::mv(port), job, number + 1, std::move(files));
  });
}

// What the message had of them is not there any more then.
std::vector<TaskSecret> readSecrets(capnp::List<wire::TaskSecret>::Reader from) {
  std::vector<TaskSecret> secrets;
  for (auto secret : convert::elements(from)) {
    secrets.push_back(read(secret));
    overwrite(secret.getValue());
  }
  return secrets;
}

class ControlImpl final : public wire::MonitorControl::Server {
 public:
  explicit ControlImpl(MonitorServer& server) : server_(server) {}

  kj::Promise<void> stop(StopContext context) override {
    for (AllocationId allocation : context.getParams().getAllocations()) server_.stop(allocation);
    return kj::READY_NOW;
  }

  kj::Promise<void> revoked(RevokedContext context) override {
    server_.setRevoked(convert::readNumbers<uint64_t>(context.getParams().getSerials()));
    return kj::READY_NOW;
  }

  kj::Promise<void> resize(ResizeContext context) override {
    auto params = context.getParams();
    return server_.resize(params.getAllocation(), convert::readNumbers<RuIndex>(params.getRus()));
  }

  kj::Promise<void> throttle(ThrottleContext context) override {
    auto params = context.getParams();
    return server_.throttle(params.getAllocation(), {params.getCpu(), params.getDisk(), params.getNetwork(),
                                                     params.getCacheWays(), params.getMemoryBandwidth()});
  }

  kj::Promise<void> limitPools(LimitPoolsContext context) override {
    LateBindingMonitor* late = server_.lateBinding();
    for (auto limit : convert::elements(context.getParams().getLimits())) {
      if (late != nullptr)
        late->handle(text(limit.getServer()), late::PoolLimit{limit.getRevision(), limit.getUnits()});
    }
    return kj::READY_NOW;
  }

 private:
  MonitorServer& server_;
};

template <typename Request>
void writePage(const monitor::AttachPage& page, Request& request) {
  auto servers = request.initServers(static_cast<uint32_t>(page.servers.size()));
  for (uint32_t i = 0; i < page.servers.size(); ++i) write(page.servers[i], servers[i]);
  auto tasks = request.initTasks(static_cast<uint32_t>(page.tasks.size()));
  for (uint32_t i = 0; i < page.tasks.size(); ++i) write(page.tasks[i], tasks[i]);
}

}  // namespace

MonitorServer::MonitorServer(Net net, const Clock& clock, Rng rng, MonitorServerOptions options,
                             std::unique_ptr<OutputSource> outputs, kj::Function<void(const Error&)> refused,
                             kj::Function<void()> attached)
    : net_(net),
      clock_(clock),
      rng_(rng),
      options_(std::move(options)),
      refused_(kj::mv(refused)),
      attachedCallback_(kj::mv(attached)),
      outputs_(std::move(outputs)),
      alarm_(net.timer, clock, [this]() { dispatch(monitor::TimerFired{}); }),
      violationAlarm_(net.timer, clock, [this]() { sendViolations(); }) {}

void MonitorServer::start(Executor& executor, std::vector<ServerFacts> servers) {
  executor_ = &executor;
  servers_ = std::move(servers);
  const auto recovered = executor.recover();
  for (const RecoveredTask& task : recovered) {
    using State = RecoveredTask::State;
    const bool live = task.state == State::kRunning || task.state == State::kNeverStarted;
    if (live) live_.insert(task.spec.allocation);
  }
  std::vector<std::string> names;
  for (const ServerFacts& server : servers_) names.push_back(server.name);
  std::vector<monitor::Action> actions;
  logic_ = std::make_unique<MonitorLogic>(names, recovered, clock_.now(), actions);
  carryOut(actions);
  link_ = keepLinked(
              net_, options_.masters, Rng(rng_()),
              [this](capnp::Capability::Client master, const std::string& address) {
                return attach(master.castAs<wire::MasterGate>(), address);
              },
              [this](const Error& error, const std::string& address) { lost(error, address); }, {},
              laterLeader(net_, options_.token, term_))
              .eagerlyEvaluate(stopsIfFailed("the link to the master"));
}

kj::Promise<void> MonitorServer::stopTasks(Duration grace) {
  shutsDown_ = true;
  const auto most = (grace + kShutdownTime).count() * kj::MICROSECONDS;
  return leave()
      .then([this, grace]() {
        dispatch(monitor::ShutdownBegun{grace});
        return tasksStopped();
      })
      .exclusiveJoin(net_.timer.afterDelay(most));
}

// A master that is not there, does not answer or does not know the call keeps no task from being stopped.
kj::Promise<void> MonitorServer::leave() {
  KJ_IF_MAYBE (port, port_) {
    return port->leaveRequest()
        .send()
        .ignoreResult()
        .catch_([](kj::Exception&&) {})
        .exclusiveJoin(net_.timer.afterDelay(kLeaveTime));
  }
  return kj::READY_NOW;
}

kj::Promise<void> MonitorServer::tasksStopped() {
  const MonitorLogic::Load load = logic_->load();
  const bool hasTold = !attached_ || load.reportsDue + load.reportsUnderWay == 0;
  if (load.active() == 0 && hasTold) return kj::READY_NOW;
  return net_.timer.afterDelay(kShutdownPeriod).then([this]() { return tasksStopped(); });
}

wire::MonitorGate::Client MonitorServer::gate(LetIn letIn) {
  return makeMonitorGate(*this, std::move(letIn));
}

std::string MonitorServer::metrics() {
  metrics_.show(logic_->load(), attached_);
  if (late_ != nullptr) metrics_.showLate(late_->load());
  return metrics_.set.text();
}

void MonitorServer::tell(ServerPressure pressure) {
  if (attached_) send({pressure}, {});
  pressures_[pressure.server] = std::move(pressure);
}

void MonitorServer::charge(late::PoolPressure pressure) {
  if (attached_) send({}, {pressure});
  poolPressures_[pressure.server] = std::move(pressure);
}

void MonitorServer::show(const std::array<std::optional<double>, kResources>& background,
                         const PressureMeter::Signals& signals, Duration took) {
  metrics_.showPressure(background, signals, took);
}

void MonitorServer::show(const TaskMeter::Load& watched, Duration took) {
  metrics_.showTasks(watched, took);
}

void MonitorServer::tell(const std::vector<Violation>& violations) {
  for (const Violation& violation : violations) {
    if (live_.contains(violation.allocation)) violations_.note(violation);
  }
  sendViolations();
}

void MonitorServer::tell(const std::vector<PerformanceSample>& samples) {
  for (const PerformanceSample& sample : samples) {
    if (live_.contains(sample.allocation)) performances_[sample.allocation] = sample.reached;
  }
  if (attached_) send(samples);
}

void MonitorServer::noteUsual(const std::map<AllocationId, double>& usual) {
  for (const auto& [allocation, performance] : usual) {
    if (live_.contains(allocation)) reached_[allocation] = performance;
  }
}

void MonitorServer::sendViolations() {
  if (!takesViolations_) return;
  KJ_IF_MAYBE (port, port_) {
    if (const auto violations = violations_.due(clock_.now().steady); !violations.empty()) {
      auto request = port->violationsRequest();
      auto list = request.initViolations(static_cast<uint32_t>(violations.size()));
      for (uint32_t i = 0; i < violations.size(); ++i) write(violations[i], list[i]);
      calls_.add(request.send().then(
          [this, attachment = attachments_](auto&&) {
            if (attachment != attachments_ || !attached_) return;
            violations_.taken();
            sendViolations();
          },
          // The next attach tells them again.
          [this](kj::Exception&& exception) {
            if (isOfEarlierMaster(exception, takesViolations_, "performance violations")) return;
            if (attached_ && exception.getType() != kj::Exception::Type::DISCONNECTED)
              fault_->reject(kj::mv(exception));
          }));
    } else if (const auto next = violations_.nextDue()) {
      violationAlarm_.set(*next);
    }
  }
}

// What is lost with the link is told again after the next attach.
void MonitorServer::send(const std::vector<ServerPressure>& pressures,
                         const std::vector<late::PoolPressure>& pools) {
  KJ_IF_MAYBE (port, port_) {
    if (!takesPressure_ || (pressures.empty() && pools.empty())) return;
    auto request = port->pressureRequest();
    auto servers = request.initServers(static_cast<uint32_t>(pressures.size()));
    for (uint32_t i = 0; i < pressures.size(); ++i) write(pressures[i], servers[i]);
    auto charges = request.initPools(static_cast<uint32_t>(pools.size()));
    for (uint32_t i = 0; i < pools.size(); ++i) write(pools[i], charges[i]);
    calls_.add(request.send().ignoreResult().catch_(
        [this](kj::Exception&& exception) { isOfEarlierMaster(exception, takesPressure_, "pressures"); }));
  }
}

// As above.
void MonitorServer::send(const std::vector<PerformanceSample>& samples) {
  KJ_IF_MAYBE (port, port_) {
    for (size_t first = 0; takesPerformance_ && first < samples.size(); first += kMaxSamplesAtOnce) {
      const auto count = static_cast<uint32_t>(std::min(kMaxSamplesAtOnce, samples.size() - first));
      auto request = port->performanceRequest();
      auto list = request.initSamples(count);
      for (uint32_t i = 0; i < count; ++i) write(samples[first + i], list[i]);
      calls_.add(request.send().ignoreResult().catch_([this](kj::Exception&& exception) {
        isOfEarlierMaster(exception, takesPerformance_, "performance");
      }));
    }
  }
}

// What is lost is reported again.
void MonitorServer::report(const std::string& server, const late::PoolReport& report) {
  KJ_IF_MAYBE (port, port_) {
    auto request = port->poolsRequest();
    write(server, report, request.initReports(1)[0]);
    calls_.add(request.send().then(
        [this, attachment = attachments_](auto&& response) {
          if (attachment != attachments_) return;
          for (auto answer : convert::elements(response.getAnswers())) {
            late_->handle(text(answer.getServer()), read(answer));
          }
        },
        [](kj::Exception&& exception) {
          spdlog::warn("late binding: the master takes no report: {}", fromException(exception).message);
        }));
  }
}

void MonitorServer::imageFound(AllocationId allocation, const std::string& digest) {
  dispatch(monitor::ImageFound{allocation, digest});
}

void MonitorServer::taskStarted(AllocationId allocation, WallTime when) {
  if (const auto launched = unstarted_.extract(allocation)) {
    metrics_.start.Observe(seconds(clock_.now().steady - launched.mapped()));
  }
  dispatch(monitor::TaskStarted{allocation, when});
}

void MonitorServer::taskEnded(AllocationId allocation, const TaskEnd& end) {
  failpoint("monitor.task_ended");
  if (serversFault(end)) logFailedLaunch(allocation, end);
  dispatch(monitor::TaskEnded{allocation, end});
  ended(allocation);
}

void MonitorServer::logFailedLaunch(AllocationId allocation, const TaskEnd& end) {
  const auto failed = failedLaunches_.note(clock_.now().steady);
  if (!failed) return;
  spdlog::warn("{} could not be started by this server's fault; the last, allocation {}: {}",
               *failed == 1 ? "a task" : std::to_string(*failed) + " tasks", allocation, end.problem);
}

kj::Promise<void> MonitorServer::authenticate(const std::string& token) {
  if (agentTokens_.contains(token)) return kj::READY_NOW;
  KJ_IF_MAYBE (port, port_) {
    auto request = port->authenticateRequest();
    request.setToken(text(token));
    return request.send().then([this, token](auto&&) {
      if (attached_) agentTokens_.insert(token);
    });
  }
  return toException({ErrorCode::kUnavailable, "the master, who knows the tokens, is out of reach"});
}

bool MonitorServer::isWanted(const LaunchSpec& spec, std::string_view ticket) const {
  if (attachments_ == 0) {
    kj::throwFatalException(
        toException({ErrorCode::kUnavailable, "no master has said yet by what its launches are known"}));
  }
  return !ticketKey_ || isTicketFor(spec, *ticketKey_, ticket);
}

kj::Promise<monitor::AnswerLaunch::Outcome> MonitorServer::launch(LaunchSpec spec) {
  if (shutsDown_) return toException({ErrorCode::kUnavailable, "the monitor shuts down"});
  auto pending = launches_.add();
  failpoint("monitor.launch_arrived");
  dispatch(monitor::LaunchArrived{pending.number, std::move(spec)});
  return kj::mv(pending.promise);
}

void MonitorServer::stop(AllocationId allocation) {
  dispatch(monitor::StopArrived{allocation});
}

kj::Promise<void> MonitorServer::resize(AllocationId allocation, std::vector<RuIndex> rus) {
  auto pending = changes_.add();
  failpoint("monitor.resize_arrived");
  dispatch(monitor::ResizeArrived{pending.number, allocation, std::move(rus)});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<void> MonitorServer::throttle(AllocationId allocation, const Throttle& throttle) {
  auto pending = changes_.add();
  dispatch(monitor::ThrottleArrived{pending.number, allocation, throttle});
  return pending.promise.then([](Status&& status) { requireOk(status); });
}

kj::Promise<MonitorServer::Output> MonitorServer::output(AllocationId allocation, Stream stream,
                                                         uint64_t offset, bool wait) {
  // Whether the task lives is looked at before its output, and the next write is waited for before that: what
  // comes meanwhile is never missed.
  const bool live = live_.contains(allocation);
  kj::Promise<void> grown = live && wait ? outputs_->grown(allocation) : kj::Promise<void>(kj::NEVER_DONE);
  auto content = outputs_->read(allocation, stream, offset, kOutputPiece);
  if (!content.ok() && !live) return toException(content.error());
  if (content.ok() && !content->text.empty()) return Output{std::move(content->text), false, content->offset};
  if (!live || !wait) return Output{"", !live, offset};
  return ends_.wait(allocation).exclusiveJoin(kj::mv(grown)).then([this, allocation, stream, offset]() {
    return output(allocation, stream, offset, true);
  });
}

MonitorServer::Output MonitorServer::lateOutput(late::SlotLeaseId lease, Stream stream, uint64_t offset) {
  if (lateOutputs_ == nullptr)
    kj::throwFatalException(toException(notFound("this monitor takes no late-bound tasks any more")));
  auto content = lateOutputs_->read(late_->outputOf(lease), stream, offset, kOutputPiece);
  if (!content) kj::throwFatalException(toException(content.error()));
  const bool isAll = content->text.empty();
  return {std::move(content->text), isAll, content->offset};
}

MonitorServer::Results MonitorServer::results(AllocationId allocation, const std::string& after) {
  if (live_.contains(allocation)) return {};
  auto page = outputs_->results(allocation, after);
  if (!page) kj::throwFatalException(toException(page.error()));
  return {std::move(*page), true};
}

std::string MonitorServer::readResult(AllocationId allocation, const std::string& path, uint64_t offset) {
  const auto refuse = [](const Error& error) { kj::throwFatalException(toException(error)); };
  if (live_.contains(allocation)) refuse(notFound("the task has not ended: its files are kept then"));
  auto content = outputs_->readResult(allocation, path, offset, kOutputPiece);
  if (!content) refuse(content.error());
  return std::move(*content);
}

kj::Promise<Attached> MonitorServer::attach(wire::MasterGate::Client master, const std::string& address) {
  auto login = master.loginRequest();
  login.setToken(text(tokenFor(net_, address, options_.token)));
  return login.send().then([this, address](auto&& response) {
    requireOk(term_.take(response.getTerm(), address));
    master_ = address;
    if (!response.hasMonitor()) kj::throwFatalException(toException(denied("the token is not a monitor's")));
    wire::MonitorPort::Client port = response.getMonitor();
    auto pages = monitor::attachPages(servers_, logic_->knownTasks());
    auto request = port.attachRequest();
    request.setMonitor(text(options_.identity));
    writePage(pages.front(), request);
    request.setControl(kj::heap<ControlImpl>(*this));
    return request.send().then([this, port, pages = std::move(pages)](auto&& answer) mutable {
      ticketKey_ = keyIn<MacKey>(answer.getTicketKey());
      grantKey_ = keyIn<PublicKey>(answer.getGrantKey());
      monitor::MasterAttached event{convert::readNumbers<uint64_t>(answer.getDrop()),
                                    convert::readNumbers<uint64_t>(answer.getStop()),
                                    convert::readDuration(answer.getLease(), "lease")};
      pages.erase(pages.begin());
      return attachMore(kj::mv(port), std::move(pages), std::move(event));
    });
  });
}

// Page by page; then it is attached.
kj::Promise<Attached> MonitorServer::attachMore(wire::MonitorPort::Client port,
                                                std::vector<monitor::AttachPage> pages,
                                                monitor::MasterAttached event) {
  if (pages.empty()) return attached(kj::mv(port), event);
  auto request = port.attachMoreRequest();
  writePage(pages.front(), request);
  pages.erase(pages.begin());
  return request.send().then(
      [this, port = kj::mv(port), pages = std::move(pages), event = std::move(event)](auto&& answer) mutable {
        for (uint64_t allocation : answer.getDrop()) event.drop.push_back(allocation);
        for (uint64_t allocation : answer.getStop()) event.stop.push_back(allocation);
        return attachMore(kj::mv(port), std::move(pages), std::move(event));
      });
}

Attached MonitorServer::attached(wire::MonitorPort::Client port, const monitor::MasterAttached& event) {
  auto fault = kj::newPromiseAndFulfiller<void>();
  port_ = kj::mv(port);
  fault_ = kj::mv(fault.fulfiller);
  attached_ = takesPressure_ = takesViolations_ = takesPerformance_ = true;
  ++attachments_;
  outage_.end();
  spdlog::info("attached to the master at {}", master_);
  dispatch(event);
  std::vector<ServerPressure> pressures;
  for (const auto& [server, pressure] : pressures_) pressures.push_back(pressure);
  std::vector<late::PoolPressure> pools;
  for (const auto& [server, pressure] : poolPressures_) pools.push_back(pressure);
  send(pressures, pools);
  std::vector<PerformanceSample> samples;
  for (const auto& [allocation, reached] : performances_) samples.push_back({allocation, reached});
  send(samples);
  violations_.attached();
  sendViolations();
  if (late_ != nullptr) late_->masterAttached(grantKey_);
  if (shutsDown_) calls_.add(leave());
  attachedCallback_();
  return Attached{kj::mv(fault.promise)};
}

void MonitorServer::lost(const Error& error, const std::string& address) {
  if (error.code == ErrorCode::kDenied || error.code == ErrorCode::kInvalid) {
    refused_(error);
    return;
  }
  agentTokens_.clear();
  port_ = nullptr;
  if (outage_.begins(error)) {
    spdlog::warn("the master at {} {}: {}; trying again", address,
                 error.code == ErrorCode::kConflict ? "refuses" : "is out of reach", error.message);
  }
  if (!attached_) return;
  attached_ = false;
  violations_.detached();
  dispatch(monitor::MasterLost{});
}

void MonitorServer::dispatch(const monitor::Event& event) {
  // Half of an event is worse than a new start: tasks run on, and their records are on disk.
  runOrStop("handling an event", [this, &event]() {
    std::vector<monitor::Action> actions;
    logic_->handle(event, clock_.now(), rng_, actions);
    carryOut(actions);
  });
}

void MonitorServer::carryOut(std::vector<monitor::Action>& actions) {
  for (auto& action : actions) std::visit([this](auto& concrete) { carryOut(concrete); }, action);
}

void MonitorServer::carryOut(monitor::RecordLaunch& action) {
  live_.insert(action.spec.allocation);
  unstarted_.emplace(action.spec.allocation, clock_.now().steady);
  executor_->record(action.spec);
  failpoint("monitor.launch_recorded");
}

void MonitorServer::carryOut(monitor::AnswerLaunch& action) {
  metrics_.launches[static_cast<size_t>(action.outcome)]->Increment();
  launches_.fulfill(action.request, std::move(action.outcome));
}

void MonitorServer::carryOut(monitor::FetchFiles& action) {
  const AllocationId allocation = action.allocation;
  KJ_IF_MAYBE (port, port_) {
    calls_.add(fetchFiles(*port, action.job, 1, {})
                   .then([this, allocation](std::vector<InputFile>&& files) {
                     failpoint("monitor.files_arrived");
                     dispatch(monitor::FilesArrived{allocation, std::move(files)});
                   })
                   .catch_([this, allocation](kj::Exception&& exception) {
                     dispatch(monitor::FilesArrived{allocation, fromException(exception)});
                   }));
  } else {
    dispatch(monitor::FilesArrived{allocation, Error{ErrorCode::kUnavailable, "the master is out of reach"}});
  }
}

void MonitorServer::carryOut(monitor::FetchSecrets& action) {
  const AllocationId allocation = action.allocation;
  KJ_IF_MAYBE (port, port_) {
    auto request = port->secretsRequest();
    request.setAllocation(allocation);
    calls_.add(request.send()
                   .then([this, allocation](auto&& answer) {
                     failpoint("monitor.secrets_arrived");
                     dispatch(monitor::SecretsArrived{allocation, readSecrets(answer.getSecrets())});
                   })
                   .catch_([this, allocation](kj::Exception&& exception) {
                     dispatch(monitor::SecretsArrived{allocation, fromException(exception)});
                   }));
  } else {
    dispatch(
        monitor::SecretsArrived{allocation, Error{ErrorCode::kUnavailable, "the master is out of reach"}});
  }
}

void MonitorServer::carryOut(monitor::StartTask& action) {
  executor_->start(action.spec, action.files, action.secrets);
}

void MonitorServer::carryOut(monitor::RecordReason& action) {
  executor_->recordReason(action.allocation, action.reason);
  failpoint("monitor.reason_recorded");
}

void MonitorServer::carryOut(monitor::ResizeTask& action) {
  Status resized = executor_->resize(action.allocation, action.rus);
  failpoint("monitor.resized");
  if (resized.ok()) dispatch(monitor::TaskResized{action.allocation, std::move(action.rus)});
  changes_.fulfill(action.request, std::move(resized));
}

void MonitorServer::carryOut(monitor::ThrottleTask& action) {
  Status throttled = executor_->throttle(action.allocation, action.throttle);
  if (action.request) return changes_.fulfill(*action.request, std::move(throttled));
  if (!throttled.ok()) KJ_LOG(WARNING, throttled.error().message);
}

void MonitorServer::carryOut(monitor::RefuseChange& action) {
  changes_.fulfill(action.request, std::move(action.error));
}

void MonitorServer::carryOut(monitor::SignalTask& action) {
  executor_->signal(action.allocation, action.signal);
  failpoint("monitor.signalled");
}

void MonitorServer::carryOut(monitor::ForgetTask& action) {
  failpoint("monitor.before_forget");
  reached_.erase(action.allocation);
  executor_->forget(action.allocation);
}

// Its command is not to be trusted: what it printed may be anything.
Measurement MonitorServer::measuredBy(AllocationId allocation) {
  const auto printed = outputs_->read(allocation, Stream::kStdout, 0, kMaxMeasurementBytes + 1);
  if (!printed) return {{}, "what it printed cannot be read: " + printed.error().message};
  if (printed->text.empty()) return {{}, "it printed nothing"};
  auto measured = parseMeasurement(printed->text);
  if (!measured) return {{}, "what it printed is no measurement: " + measured.error().message};
  return std::move(*measured);
}

void MonitorServer::carryOut(monitor::SendReports& action) {
  for (const size_t i : action.measuring) {
    action.reports[i].measured = measuredBy(action.reports[i].allocation);
  }
  for (TaskReport& report : action.reports) {
    const auto reached = reached_.find(report.allocation);
    if (report.ended && reached != reached_.end()) report.reached = reached->second;
  }
  KJ_IF_MAYBE (port, port_) {
    auto request = port->reportRequest();
    auto reports = request.initReports(static_cast<uint32_t>(action.reports.size()));
    for (uint32_t i = 0; i < action.reports.size(); ++i) write(action.reports[i], reports[i]);
    failpoint("monitor.before_report");
    calls_.add(request.send().then(
        [this, begin = clock_.now().steady](auto&&) {
          failpoint("monitor.reports_acknowledged");
          metrics_.report.Observe(seconds(clock_.now().steady - begin));
          dispatch(monitor::ReportsAcknowledged{});
        },
        // Whatever the reason, this session cannot report any more; the next one reports it all again.
        [this](kj::Exception&& exception) { fault_->reject(kj::mv(exception)); }));
  }
  // Tasks that ended without ever having been started never come back from the executor.
  for (const TaskReport& report : action.reports) {
    if (!report.ended) continue;
    metrics_.ends[static_cast<size_t>(report.end.cause)]->Increment();
    ended(report.allocation);
  }
}

void MonitorServer::carryOut(monitor::RenewLease& action) {
  KJ_IF_MAYBE (port, port_) {
    auto request = port->renewRequest();
    auto starting = request.initStarting(static_cast<uint32_t>(action.starting.size()));
    convert::writeNumbers<uint64_t>(action.starting, starting);
    calls_.add(request.send().then(
        [this, attachment = attachments_](auto&& answer) {
          // By then another attachment may have taken the place of the one that was asked.
          if (attachment != attachments_ || !attached_) return;
          dispatch(monitor::LeaseRenewed{convert::readNumbers<uint64_t>(answer.getRefused())});
        },
        [this, attachment = attachments_](kj::Exception&& exception) {
          if (attachment == attachments_) fault_->reject(kj::mv(exception));
        }));
  }
}

void MonitorServer::carryOut(monitor::ExtendLease& action) {
  executor_->extendLease(action.until);
}

void MonitorServer::carryOut(monitor::WakeAt& action) {
  alarm_.set(action.when);
}

void MonitorServer::ended(AllocationId allocation) {
  violations_.forget(allocation);
  performances_.erase(allocation);
  if (live_.erase(allocation) == 0) return;
  unstarted_.erase(allocation);
  ends_.happened(allocation);
}

}  // namespace tarcil
