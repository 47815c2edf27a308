#include "agent/server/client_port.h"

#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

class ClientPortImpl final : public wire::ClientPort::Server {
 public:
  ClientPortImpl(AgentServer& server, AgentServer::User user) : server_(server), user_(kj::mv(user)) {}

  kj::Promise<void> submit(SubmitContext context) override {
    auto params = context.getParams();
    const JobId id = readJobId(params.getId());
    InputFiles files;
    if (params.getFiles().size() > 0) {
      auto held = server_.heldFiles().hold(user_.caller.user, read(params.getFiles()));
      if (!held) return toException(held.error());
      files = std::move(*held);
    }
    JobSpec spec = read(params.getSpec());
    context.releaseParams();
    return server_.submit(user_.caller, id, std::move(spec), std::move(files));
  }

  kj::Promise<void> plan(PlanContext context) override {
    return server_.planTurns().add(user_.caller.user, [this, context]() mutable {
      auto params = context.getParams();
      const auto plan = server_.plan(user_.caller, read(params.getSpec()), params.getSeed());
      if (!plan) kj::throwFatalException(toException(plan.error()));
      write(*plan, context.getResults().initPlan());
    });
  }

  // The master knows where the task is, and whether the caller may see it; the monitor has the output.
  kj::Promise<void> output(OutputContext context) override {
    auto params = context.getParams();
    auto locate = user_.port.locateRequest();
    locate.setId(params.getId());
    locate.setTask(params.getTask());
    return locate.send().then([this, context](auto&& place) mutable -> kj::Promise<void> {
      const AllocationId allocation = place.getAllocation();
      if (allocation == 0) {
        context.getResults().setEnded(true);
        return kj::READY_NOW;
      }
      auto params = context.getParams();
      return server_.monitors()
          .output(text(place.getAddress()), allocation, params.getStream(), params.getOffset(),
                  params.getWait())
          .then([context, allocation](MonitorClient::Output&& output) mutable {
            auto results = context.getResults();
            results.setContent(output.content);
            results.setEnded(output.ended);
            results.setAllocation(allocation);
            results.setStart(output.start);
          });
    });
  }

  kj::Promise<void> lateBinding(LateBindingContext context) override {
    context.getResults().setPort(server_.lateBinding().open(user_.caller, context.getParams().getClient()));
    return kj::READY_NOW;
  }

  kj::Promise<void> lateJob(LateJobContext context) override {
    const auto params = context.getParams();
    requireOk(server_.lateBinding().describe(user_.caller, readJobId(params.getId()), params.getFirstOver(),
                                             context.getResults().initJob()));
    return kj::READY_NOW;
  }

  kj::Promise<void> lateJobs(LateJobsContext context) override {
    auto params = context.getParams();
    server_.lateBinding().list(user_.caller, params.getLimit(), params.getFilter(), context.getResults());
    return kj::READY_NOW;
  }

  kj::Promise<void> findLateJobs(FindLateJobsContext context) override {
    const auto ids = server_.lateBinding().withPrefix(user_.caller, text(context.getParams().getPrefix()));
    auto list = context.getResults().initIds(static_cast<uint32_t>(ids.size()));
    for (uint32_t i = 0; i < ids.size(); ++i) list.set(i, bytesOf(ids[i]));
    return kj::READY_NOW;
  }

  kj::Promise<void> cancelLateJob(CancelLateJobContext context) override {
    const auto before = server_.lateBinding().cancel(user_.caller, readJobId(context.getParams().getId()));
    if (!before) return toException(before.error());
    context.getResults().setState(toWire(*before));
    return kj::READY_NOW;
  }

  kj::Promise<void> waitLateJob(WaitLateJobContext context) override {
    return server_.lateBinding()
        .untilOver(user_.caller, readJobId(context.getParams().getId()))
        .then([context](RunState state) mutable { context.getResults().setState(toWire(state)); });
  }

  kj::Promise<void> lateOutput(LateOutputContext context) override {
    auto params = context.getParams();
    return server_.lateBinding()
        .outputLocation(user_.caller, readJobId(params.getId()), params.getTask(), params.getWait())
        .then([this, context](LateBindingAgent::OutputLocation&& place) mutable -> kj::Promise<void> {
          auto params = context.getParams();
          if (place.address.empty()) {
            context.getResults().setEnded(place.isOver);
            return kj::READY_NOW;
          }
          return server_.monitors()
              .lateOutput(place.address, place.lease, params.getStream(), params.getOffset())
              .then([context](MonitorClient::Output&& output) mutable {
                auto results = context.getResults();
                results.setContent(output.content);
                results.setEnded(output.ended);
                results.setStart(output.start);
              });
        });
  }

  kj::Promise<void> user(UserContext context) override {
    context.getResults().setPort(user_.port);
    return kj::READY_NOW;
  }

 private:
  AgentServer& server_;
  AgentServer::User user_;
};

class AgentGateImpl final : public wire::AgentGate::Server {
 public:
  AgentGateImpl(AgentServer& server, LetIn letIn) : server_(server), letIn_(std::move(letIn)) {}

  kj::Promise<void> login(LoginContext context) override {
    return server_.authenticate(text(context.getParams().getToken()))
        .then([this, context](AgentServer::User&& user) mutable {
          letIn_(Peer::kUser);
          auto results = context.getResults();
          write(user.caller, results.initCaller());
          results.setCluster(text(server_.cluster()));
          results.setClient(kj::heap<ClientPortImpl>(server_, kj::mv(user)));
        });
  }

 private:
  AgentServer& server_;
  const LetIn letIn_;
};

}  // namespace

wire::AgentGate::Client makeAgentGate(AgentServer& server, LetIn letIn) {
  return kj::heap<AgentGateImpl>(server, std::move(letIn));
}

}  // namespace tarcil
