#include "bench/commit_load.h"

#include <kj/debug.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil::bench {
namespace {

using convert::text;

// Of so many answers one is timed until its news reaches the watching agent.
constexpr uint64_t kWatchedOneIn = 16;

constexpr size_t kMaxReports = 8;

std::string serverName(uint32_t number) {
  return "server-" + std::to_string(number);
}

// Bears what the tasks of a full server cause, so that every claim is judged and none is turned down for it.
Profile modest() {
  Profile profile;
  profile.caused.fill(3);
  profile.tolerated.fill(90);
  return profile;
}

class NoControl final : public wire::MonitorControl::Server {
  kj::Promise<void> stop(StopContext) override { return kj::READY_NOW; }
};

}  // namespace

// A job on its way: claimed until it is granted, reported as ended.
struct CommitLoad::Cycle {
  JobId job;
  Session* session = nullptr;
  Steady::time_point begin;        // of the commit under way
  bool recorded = false;           // the master has the job
  std::vector<TaskIndex> wanting;  // tasks without a slot
  std::vector<ServerId> servers;   // claimed for each of these
  std::vector<std::pair<ServerId, AllocationId>> granted;
};

// One agent's connection.
class CommitLoad::Session final {
 public:
  Session(CommitLoad& load, size_t number) : load_(load), name_("agent-" + std::to_string(number)) {}

  kj::Promise<void> connect() {
    return tarcil::connect(load_.net_, load_.options_.master)
        .then([this](kj::Own<Connection> connection) {
          connection_ = kj::mv(connection);
          auto login = connection_->bootstrap().castAs<wire::MasterGate>().loginRequest();
          login.setToken(text(load_.options_.agentToken));
          return login.send();
        })
        .then([this](auto&& response) {
          wire::AgentPort::Client port = response.getAgent();
          auto request = port.attachRequest();
          request.setAgent(text(name_));
          request.setAddress("unix:/nowhere");
          auto complete = kj::newPromiseAndFulfiller<void>();
          complete_ = kj::mv(complete.fulfiller);
          request.setFeed(kj::heap<Feed>(*this));
          port_ = kj::mv(port);
          return request.send().ignoreResult().then(
              [this, complete = kj::mv(complete.promise)]() mutable { return logIn(kj::mv(complete)); });
        });
  }

  wire::AgentPort::Client& port() { return KJ_ASSERT_NONNULL(port_); }

  // News of the server at this version is awaited from now on.
  void watch(ServerId server, uint64_t version) {
    if (const auto it = newest_.find(server); it != newest_.end() && it->second >= version) {
      load_.result_.lagMs.push_back(0);
    } else {
      awaited_.insert_or_assign(server, std::pair{version, Steady::now()});
    }
  }

  uint64_t sequence = 0;  // of the last commit sent
  uint64_t answered = 0;  // all up to this one have been
  // With bare claims: the one job, and the task that is claimed for next.
  JobId job;
  TaskIndex next = 0;

 private:
  class Feed final : public wire::AgentFeed::Server {
   public:
    explicit Feed(Session& session) : session_(session) {}

    kj::Promise<void> update(UpdateContext context) override {
      session_.take(context.getParams());
      return kj::READY_NOW;
    }

   private:
    Session& session_;
  };

  // An agent may submit jobs of those alone who have logged in at it.
  kj::Promise<void> logIn(kj::Promise<void> complete) {
    auto request = port().authenticateRequest();
    request.setToken(text(load_.options_.userToken));
    return request.send().then([this, complete = kj::mv(complete)](auto&& response) mutable {
      load_.user_ = read(response.getCaller());
      KJ_REQUIRE(!load_.user_.runAs.empty(), "the user's jobs may run as nobody");
      return kj::mv(complete);
    });
  }

  void take(wire::AgentFeed::UpdateParams::Reader update) {
    if (update.getSnapshotComplete()) complete_->fulfill();
    if (this != load_.sessions_.front().get()) return;
    for (auto server : update.getServers()) {
      const uint64_t version = server.getStatus().getVersion();
      newest_[server.getId()] = version;
      const auto it = awaited_.find(server.getId());
      if (it == awaited_.end() || it->second.first > version) continue;
      load_.result_.lagMs.push_back(milliseconds(Steady::now() - it->second.second));
      awaited_.erase(it);
    }
  }

  CommitLoad& load_;
  const std::string name_;
  kj::Own<Connection> connection_;
  kj::Maybe<wire::AgentPort::Client> port_;
  kj::Own<kj::PromiseFulfiller<void>> complete_;
  // Of the first session only, which watches.
  std::unordered_map<ServerId, uint64_t> newest_;
  std::unordered_map<ServerId, std::pair<uint64_t, Steady::time_point>> awaited_;
};

CommitLoad::CommitLoad(Net net, LoadOptions options)
    : net_(net), options_(std::move(options)), free_(options_.servers, options_.rus), calls_(*this) {}

CommitLoad::~CommitLoad() noexcept = default;

double CommitLoad::connect(kj::WaitScope& scope) {
  connectMonitor().wait(scope);
  const auto begin = Steady::now();
  kj::Vector<kj::Promise<void>> all;
  for (size_t i = 0; i < options_.agents; ++i) {
    sessions_.push_back(std::make_unique<Session>(*this, i));
    all.add(sessions_.back()->connect());
  }
  kj::joinPromises(all.releaseAsArray()).wait(scope);
  return milliseconds(Steady::now() - begin);
}

kj::Promise<void> CommitLoad::connectMonitor() {
  return tarcil::connect(net_, options_.master)
      .then([this](kj::Own<Connection> connection) {
        monitorConnection_ = kj::mv(connection);
        auto login = monitorConnection_->bootstrap().castAs<wire::MasterGate>().loginRequest();
        login.setToken(text(options_.monitorToken));
        return login.send();
      })
      .then([this](auto&& response) {
        wire::MonitorPort::Client port = response.getMonitor();
        auto request = port.attachRequest();
        request.setMonitor("bench");
        auto servers = request.initServers(options_.servers);
        for (uint32_t i = 0; i < options_.servers; ++i) {
          ServerFacts facts;
          facts.name = serverName(i);
          facts.platform = "default";
          facts.rack = "rack-" + std::to_string(i / 40);
          facts.rus = facts.cores = options_.rus;
          facts.memoryBytes = uint64_t{options_.rus} << 30;
          facts.address = "unix:/nowhere";
          write(facts, servers[i]);
        }
        request.setControl(kj::heap<NoControl>());
        monitor_ = kj::mv(port);
        return request.send().ignoreResult();
      });
}

LoadResult CommitLoad::run(kj::WaitScope& scope) {
  if (options_.bare) submitJobs().wait(scope);
  auto done = kj::newPromiseAndFulfiller<void>();
  done_ = kj::mv(done.fulfiller);
  for (size_t i = 0; i < options_.outstanding; ++i) begin(*sessions_[i % sessions_.size()]);
  const auto time = static_cast<int64_t>(options_.seconds * 1e3) * kj::MILLISECONDS;
  const auto stop = net_.timer.afterDelay(time).then([this]() { stopping_ = true; }).eagerlyEvaluate(nullptr);
  done.promise.wait(scope);
  return std::move(result_);
}

JobId CommitLoad::newJobId() {
  JobId id;
  std::array<uint64_t, 2> random{rng_(), rng_()};
  std::memcpy(id.bytes.data(), random.data(), sizeof random);
  return id;
}

uint32_t CommitLoad::tasksOfJob() const {
  if (!options_.bare) return options_.tasks;
  const size_t room = static_cast<size_t>(options_.servers) * options_.rus / options_.rusPerTask;
  // A tenth of the servers' room is left, so that one with room is soon found.
  return static_cast<uint32_t>(room * 9 / 10 / sessions_.size());
}

kj::Promise<void> CommitLoad::submitJobs() {
  kj::Vector<kj::Promise<void>> all;
  for (const auto& session : sessions_) {
    Cycle cycle;
    cycle.job = session->job = newJobId();
    auto request = session->port().commitRequest();
    write(commitFor(*session, cycle), request.initCommit());
    all.add(request.send().then([](auto&& response) {
      const auto answer = response.getAnswer();
      KJ_REQUIRE(answer.getOutcome() == wire::CommitAnswer::Outcome::OK, text(answer.getProblem()));
    }));
  }
  return kj::joinPromises(all.releaseAsArray());
}

void CommitLoad::begin(Session& session) {
  auto cycle = std::make_shared<Cycle>();
  cycle->session = &session;
  if (options_.bare) {
    cycle->job = session.job;
    cycle->recorded = true;
    for (TaskIndex i = 0; i < options_.tasks; ++i) cycle->wanting.push_back(session.next++);
    if (session.next + options_.tasks > tasksOfJob()) stopping_ = true;
  } else {
    cycle->job = newJobId();
    for (TaskIndex task = 0; task < options_.tasks; ++task) cycle->wanting.push_back(task);
  }
  ++underWay_;
  claim(cycle);
}

void CommitLoad::claim(const std::shared_ptr<Cycle>& cycle) {
  Session& session = *cycle->session;
  cycle->servers.clear();
  for (size_t i = 0; i < cycle->wanting.size(); ++i) cycle->servers.push_back(serverWithRoom());
  ++result_.commits;
  result_.taken += static_cast<double>(taken_) /
                   (static_cast<double>(options_.servers) * static_cast<double>(options_.rus));
  auto request = session.port().commitRequest();
  write(commitFor(session, *cycle), request.initCommit());
  cycle->begin = Steady::now();
  calls_.add(request.send().then(
      [this, &session, cycle](auto&& response) { answered(session, cycle, response.getAnswer()); }));
}

Commit CommitLoad::commitFor(Session& session, const Cycle& cycle) {
  Commit commit;
  commit.sequence = ++session.sequence;
  commit.answered = session.answered;
  commit.job = cycle.job;
  JobRecord record;
  record.id = cycle.job;
  record.user = user_.user;
  record.runAs = user_.runAs.front();
  record.submitted = WallTime(Duration(++submitted_));
  JobSpec& spec = record.spec;
  spec.name = "bench";
  spec.command = {"true"};
  spec.tasks = tasksOfJob();
  spec.rusPerTask = options_.rusPerTask;
  spec.profile = modest();
  commit.gang = options_.gang;
  if (!cycle.recorded) commit.newJob.emplace().record = record;
  for (size_t i = 0; i < cycle.wanting.size(); ++i) {
    Claim& claim = commit.claims.emplace_back();
    claim.task = cycle.wanting[i];
    claim.server = cycle.servers[i];
    claim.rus = options_.rusPerTask;
    claim.floor = 0.5;
    claim.q = claim.s = 1;
  }
  const auto claims = static_cast<uint32_t>(commit.claims.size());
  commit.explanation.wanted = commit.explanation.placed = claims;
  commit.explanation.drawn = commit.explanation.acceptable = 8 * claims;
  return commit;
}

void CommitLoad::answered(Session& session, const std::shared_ptr<Cycle>& cycle,
                          wire::CommitAnswer::Reader answer) {
  session.answered = std::max(session.answered, answer.getSequence());
  KJ_REQUIRE(answer.getOutcome() == wire::CommitAnswer::Outcome::OK, text(answer.getProblem()));
  result_.commitMs.push_back(milliseconds(Steady::now() - cycle->begin));
  cycle->recorded = true;
  std::vector<TaskIndex> refused;
  const auto grants = answer.getGrants();
  for (uint32_t i = 0; i < grants.size(); ++i) {
    const ServerId server = cycle->servers[i];
    if (grants[i].getVerdict() != wire::Verdict::GRANTED) {
      refused.push_back(cycle->wanting[i]);
      if (!options_.conflicts) free_[server] += options_.rusPerTask;
      continue;
    }
    ++result_.granted;
    taken_ += options_.rusPerTask;
    cycle->granted.emplace_back(server, grants[i].getAllocation());
  }
  result_.refused += refused.size();
  result_.commitsNotWhollyGranted += refused.empty() ? 0 : 1;
  if (&session != sessions_.front().get() && result_.commitMs.size() % kWatchedOneIn == 0) {
    for (auto server : answer.getServers()) {
      sessions_.front()->watch(server.getId(), server.getStatus().getVersion());
      break;
    }
  }
  if (!refused.empty()) {
    cycle->wanting = std::move(refused);
    claim(cycle);
    return;
  }
  if (options_.bare) {
    finished({cycle});
    return;
  }
  for (const auto& [server, allocation] : cycle->granted) {
    TaskReport& report = ended_.emplace_back();
    report.allocation = allocation;
    report.ended = true;
    report.end.started = report.end.ended = WallTime(Duration(2));
  }
  ending_.push_back(cycle);
  report();
}

void CommitLoad::report() {
  if (reportsUnderWay_ == kMaxReports || ended_.empty()) return;
  ++reportsUnderWay_;
  auto request = KJ_ASSERT_NONNULL(monitor_).reportRequest();
  auto reports = request.initReports(static_cast<uint32_t>(ended_.size()));
  for (uint32_t i = 0; i < ended_.size(); ++i) write(ended_[i], reports[i]);
  ended_.clear();
  calls_.add(request.send().ignoreResult().then([this, cycles = std::exchange(ending_, {})]() {
    --reportsUnderWay_;
    for (const auto& cycle : cycles) {
      taken_ -= cycle->granted.size() * options_.rusPerTask;
      for (const auto& [server, allocation] : cycle->granted) free_[server] += options_.rusPerTask;
    }
    finished(cycles);
    report();
  }));
}

void CommitLoad::finished(const std::vector<std::shared_ptr<Cycle>>& cycles) {
  for (const auto& cycle : cycles) {
    ++result_.cycles;
    --underWay_;
    if (!stopping_) begin(*cycle->session);
  }
  if (stopping_ && underWay_ == 0) done_->fulfill();
}

ServerId CommitLoad::serverWithRoom() {
  while (true) {
    const auto server = static_cast<ServerId>(rng_.below(options_.servers));
    if (options_.conflicts) return server;
    if (free_[server] < options_.rusPerTask) continue;
    free_[server] -= options_.rusPerTask;
    return server;
  }
}

void CommitLoad::taskFailed(kj::Exception&& exception) {
  if (done_->isWaiting()) done_->reject(kj::mv(exception));
}

}  // namespace tarcil::bench
