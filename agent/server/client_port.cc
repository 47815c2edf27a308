#include "agent/server/client_port.h"

#include "agent/server/upload_port.h"
#include "core/base/units.h"
#include "core/model/job_size.h"
#include "rpc/errors.h"
#include "rpc/local_user.h"
#include "rpc/port_server.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

Error tooManyAtOnce() {
  return invalid("files: take more than " + formatSize(kMaxPieceBytes) +
                 ", and are to come in pieces (ClientPort.upload); use a client of this version");
}

// Until a server that does not answer is asked again.
constexpr kj::Duration kMonitorPause = kj::SECONDS;

struct OutputAsked {
  JobId job;
  TaskIndex task = 0;
  wire::Stream stream = wire::Stream::STDOUT;
  uint64_t offset = 0;
  bool wait = false;
  AllocationId taken = 0, after = 0, only = 0;
};

class ClientPortImpl final : public UserPortServer<wire::ClientPort> {
 public:
  ClientPortImpl(AgentServer& server, kj::Own<FairCalls::User> fairUser, UserLogins::User user)
      : UserPortServer(kj::addRef(*fairUser), user.caller.role),
        server_(server),
        caller_(std::move(user.caller)),
        master_(server.userCalls().port(kj::mv(fairUser), kj::mv(user.port))) {}

  kj::Promise<void> submit(SubmitContext context) override {
    auto params = context.getParams();
    const JobId id = readJobId(params.getId());
    FilePieces files;
    if (params.getFiles().size() > 0) {
      files.push_back(std::make_shared<const FilePiece>(read(params.getFiles())));
    }
    if (sizeOf(files) > kMaxPieceBytes) return toException(tooManyAtOnce());
    JobSpec spec = read(params.getSpec());
    const uint64_t bytes = sizeOf(spec) + sizeOf(files);
    context.releaseParams();
    return fairUser()
        .seat(SeatKind::kSubmission, bytes)
        .then([this, id, spec = std::move(spec),
               files = std::move(files)](kj::Own<FairCalls::Seat>&& seat) mutable {
          return server_.submit(caller_, id, std::move(spec), std::move(files)).attach(kj::mv(seat));
        });
  }

  kj::Promise<void> upload(UploadContext context) override {
    const uint64_t bytes = context.getParams().getBytes();
    requireOk(PieceCounter::check(bytes));
    context.allowCancellation();
    return fairUser()
        .seat(SeatKind::kUpload, bytes)
        .then([this, context, bytes](kj::Own<FairCalls::Seat>&& seat) mutable {
          context.getResults().setUpload(
              makeUploadPort(server_, kj::addRef(fairUser()), caller_, bytes, kj::mv(seat)));
        });
  }

  kj::Promise<void> plan(PlanContext context) override {
    auto params = context.getParams();
    const auto plan = server_.plan(caller_, read(params.getSpec()), params.getSeed());
    if (!plan) return toException(plan.error());
    write(*plan, context.getResults().initPlan());
    return kj::READY_NOW;
  }

  kj::Promise<void> output(OutputContext context) override {
    auto params = context.getParams();
    const OutputAsked asked{readJobId(params.getId()), params.getTask(), params.getStream(),
                            params.getOffset(),        params.getWait(), params.getTaken(),
                            params.getAfter(),         params.getOnly()};
    if (asked.taken != 0 && caller_.role == Role::kRead)
      return toException(denied("only who may change something takes output from a task"));
    context.allowCancellation();
    return outputOf(asked).then([context](Output&& output) mutable {
      auto results = context.getResults();
      results.setContent(output.content);
      results.setEnded(output.ended);
      results.setAllocation(output.allocation);
      results.setStart(output.start);
    });
  }

  kj::Promise<void> resultFiles(ResultFilesContext context) override {
    auto params = context.getParams();
    auto locate = master_.locateRequest();
    locate.setId(params.getId());
    locate.setTask(params.getTask());
    const std::string after = text(params.getAfter());
    context.allowCancellation();
    return locate.send().then([this, context, after](auto&& place) mutable -> kj::Promise<void> {
      const AllocationId allocation = place.getAllocation();
      if (allocation == 0) return kj::READY_NOW;
      return server_.monitors()
          .resultFiles({text(place.getServer()), text(place.getAddress())}, allocation, after)
          .then([context, allocation](auto&& listed) mutable {
            auto results = context.getResults();
            results.setFiles(listed.getFiles());
            results.setMore(listed.getMore());
            results.setEnded(listed.getEnded());
            results.setAllocation(allocation);
          });
    });
  }

  kj::Promise<void> masters(MastersContext context) override {
    return server_.tellMasters(
        context.getResults().initMasters(static_cast<uint32_t>(server_.masters().size())));
  }

  kj::Promise<void> readResult(ReadResultContext context) override {
    auto params = context.getParams();
    auto locate = master_.locateRequest();
    locate.setId(params.getId());
    locate.setTask(params.getTask());
    const AllocationId allocation = params.getAllocation();
    const std::string path = text(params.getPath());
    const uint64_t offset = params.getOffset();
    context.allowCancellation();
    return locate.send().then(
        [this, context, allocation, path, offset](auto&& place) mutable -> kj::Promise<void> {
          if (place.getAllocation() != allocation || allocation == 0) {
            return toException(
                {ErrorCode::kConflict, "the task was run again meanwhile; ask for its files anew"});
          }
          return server_.monitors()
              .readResult({text(place.getServer()), text(place.getAddress())}, allocation, path, offset)
              .then([context](auto&& read) mutable { context.getResults().setContent(read.getContent()); });
        });
  }

  kj::Promise<void> lateBinding(LateBindingContext context) override {
    context.getResults().setPort(
        server_.lateBinding().open(kj::addRef(fairUser()), caller_, context.getParams().getClient()));
    return kj::READY_NOW;
  }

  kj::Promise<void> lateJob(LateJobContext context) override {
    const auto params = context.getParams();
    requireOk(server_.lateBinding().describe(caller_, readJobId(params.getId()), params.getFirstOver(),
                                             context.getResults().initJob()));
    return kj::READY_NOW;
  }

  kj::Promise<void> lateJobs(LateJobsContext context) override {
    auto params = context.getParams();
    server_.lateBinding().list(caller_, params.getLimit(), params.getFilter(), context.getResults());
    return kj::READY_NOW;
  }

  kj::Promise<void> findLateJobs(FindLateJobsContext context) override {
    const auto params = context.getParams();
    return server_.lateBinding()
        .find(caller_, text(params.getPrefix()), params.getNumber())
        .then([context](LateBindingAgent::Found&& found) mutable {
          auto ids = context.getResults().initIds(static_cast<uint32_t>(found.size()));
          auto numbers = context.getResults().initNumbers(static_cast<uint32_t>(found.size()));
          uint32_t i = 0;
          for (const auto& [id, number] : found) {
            ids.set(i, bytesOf(id));
            numbers.set(i++, number);
          }
        });
  }

  kj::Promise<void> cancelLateJob(CancelLateJobContext context) override {
    const auto before = server_.lateBinding().cancel(caller_, readJobId(context.getParams().getId()));
    if (!before) return toException(before.error());
    context.getResults().setState(toWire(*before));
    return kj::READY_NOW;
  }

  kj::Promise<void> waitLateJob(WaitLateJobContext context) override {
    const JobId id = readJobId(context.getParams().getId());
    context.allowCancellation();
    return server_.lateBinding().untilOver(caller_, id).then([context](RunState state) mutable {
      context.getResults().setState(toWire(state));
    });
  }

  kj::Promise<void> lateOutput(LateOutputContext context) override {
    auto params = context.getParams();
    const JobId id = readJobId(params.getId());
    const TaskIndex task = params.getTask();
    const wire::Stream stream = params.getStream();
    const uint64_t offset = params.getOffset();
    const bool wait = params.getWait();
    context.allowCancellation();
    return server_.lateBinding()
        .outputLocation(caller_, id, task, wait)
        .then([this, context, stream,
               offset](LateBindingAgent::OutputLocation&& place) mutable -> kj::Promise<void> {
          if (place.address.empty()) {
            context.getResults().setEnded(place.isOver);
            return kj::READY_NOW;
          }
          return server_.monitors()
              .lateOutput({place.server, place.address}, place.lease, stream, offset)
              .then([context](MonitorClient::Output&& output) mutable {
                auto results = context.getResults();
                results.setContent(output.content);
                results.setEnded(output.ended);
                results.setStart(output.start);
              });
        });
  }

  kj::Promise<void> user(UserContext context) override {
    context.getResults().setPort(master_);
    return kj::READY_NOW;
  }

 private:
  struct Output {
    kj::Array<kj::byte> content = nullptr;
    bool ended = false;
    AllocationId allocation = 0;
    uint64_t start = 0;
  };

  // The master knows where the task is, and whether the caller may see it; the monitor has the output.
  kj::Promise<Output> outputOf(const OutputAsked& asked) {
    auto locate = master_.locateRequest();
    locate.setId(bytesOf(asked.job));
    locate.setTask(asked.task);
    locate.setAfter(asked.after);
    locate.setOnly(asked.only);
    return locate.send().then([this, asked](auto&& place) -> kj::Promise<Output> {
      const AllocationId allocation = place.getAllocation();
      if (allocation == 0 || allocation == asked.after)
        return Output{.ended = true, .allocation = allocation};
      const bool isOver = isFinal(fromWire(place.getState()));
      return server_.monitors()
          .output({text(place.getServer()), text(place.getAddress())}, allocation, asked.stream, asked.offset,
                  asked.wait, asked.taken == allocation)
          .then([allocation](MonitorClient::Output&& output) {
            return Output{kj::mv(output.content), output.ended, allocation, output.start};
          })
          .catch_([this, asked, isOver](kj::Exception&& exception) -> kj::Promise<Output> {
            const bool isLost = fromException(exception).code == ErrorCode::kUnavailable;
            if (isOver || !asked.wait || !isLost) return kj::mv(exception);
            return server_.timer().afterDelay(kMonitorPause).then([this, asked]() {
              return outputOf(asked);
            });
          });
    });
  }

  AgentServer& server_;
  const Caller caller_;
  wire::UserPort::Client master_;  // in turns with other users
};

class AgentGateImpl final : public wire::AgentGate::Server {
 public:
  AgentGateImpl(AgentServer& server, LetIn letIn) : server_(server), letIn_(std::move(letIn)) {}

  kj::Promise<void> login(LoginContext context) override {
    return shownBy(context.getParams().getToken()).then([this, context](UserLogins::Proof&& shown) mutable {
      return server_.logins().logIn(shown).then(
          [this, context, shown](UserLogins::User&& user) mutable { letIn(context, shown, kj::mv(user)); });
    });
  }

 private:
  void letIn(LoginContext context, const UserLogins::Proof& shown, UserLogins::User&& user) {
    auto fairUser = server_.fairCalls().user(user.caller.user);
    letIn_(Peer::kUser, *fairUser, server_.logins().untilEnded(shown, user.caller));
    auto results = context.getResults();
    write(user.caller, results.initCaller());
    results.setCluster(text(server_.cluster()));
    results.setClient(kj::heap<ClientPortImpl>(server_, kj::mv(fairUser), kj::mv(user)));
  }

  kj::Promise<UserLogins::Proof> shownBy(capnp::Text::Reader token) const {
    const std::string from = letIn_.address().empty() ? "unix" : letIn_.address();
    if (token.size() > 0) return UserLogins::Proof{.token = text(token), .localUser = "", .from = from};
    if (!server_.vouches()) {
      kj::throwFatalException(
          toException(denied("this agent lets nobody in without a token (its --vouch); give --token-file "
                             "FILE or set TARCIL_TOKEN_FILE")));
    }
    return localUser(letIn_).then([from](std::string&& user) {
      return UserLogins::Proof{.token = "", .localUser = std::move(user), .from = from};
    });
  }

  AgentServer& server_;
  const LetIn letIn_;
};

}  // namespace

wire::AgentGate::Client makeAgentGate(AgentServer& server, LetIn letIn) {
  return kj::heap<AgentGateImpl>(server, std::move(letIn));
}

}  // namespace tarcil
