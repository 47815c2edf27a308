#include "master/server/read_only_gate.h"

#include "master/logic/read_only.h"
#include "rpc/errors.h"

namespace tarcil {
namespace {

kj::Exception refusal() {
  return toException(master::readOnlyError());
}

kj::Exception noLateJobs() {
  return toException(notFound("a master knows no late-bound jobs: agents do"));
}

class ReadOnlyClientPort final : public wire::ClientPort::Server {
 public:
  explicit ReadOnlyClientPort(wire::UserPort::Client user) : user_(kj::mv(user)) {}

  kj::Promise<void> user(UserContext context) override {
    context.getResults().setPort(user_);
    return kj::READY_NOW;
  }

  kj::Promise<void> masters(MastersContext) override { return kj::READY_NOW; }
  kj::Promise<void> submit(SubmitContext) override { return refusal(); }
  kj::Promise<void> plan(PlanContext) override { return refusal(); }
  kj::Promise<void> lateBinding(LateBindingContext) override { return refusal(); }
  kj::Promise<void> output(OutputContext) override { return atServers("the output of tasks is"); }
  kj::Promise<void> resultFiles(ResultFilesContext) override {
    return atServers("files that are kept of tasks are");
  }
  kj::Promise<void> readResult(ReadResultContext) override {
    return atServers("files that are kept of tasks are");
  }

  kj::Promise<void> lateJobs(LateJobsContext) override { return kj::READY_NOW; }
  kj::Promise<void> findLateJobs(FindLateJobsContext) override { return kj::READY_NOW; }
  kj::Promise<void> lateJob(LateJobContext) override { return noLateJobs(); }
  kj::Promise<void> cancelLateJob(CancelLateJobContext) override { return noLateJobs(); }
  kj::Promise<void> waitLateJob(WaitLateJobContext) override { return noLateJobs(); }
  kj::Promise<void> lateOutput(LateOutputContext) override { return noLateJobs(); }

 private:
  static kj::Promise<void> atServers(const char* what) {
    Error error = master::readOnlyError();
    error.message += std::string("; ") + what + " at their servers";
    return toException(error);
  }

  wire::UserPort::Client user_;
};

class ReadOnlyGateImpl final : public wire::ReadOnlyGate::Server {
 public:
  explicit ReadOnlyGateImpl(wire::MasterGate::Client master) : master_(kj::mv(master)) {}

  // As a role or a user at a master.
  kj::Promise<void> login(wire::MasterGate::Server::LoginContext context) override {
    return context.tailCall(loginRequest(context.getParams().getToken()));
  }

  // As a user at an agent.
  kj::Promise<void> login(wire::AgentGate::Server::LoginContext context) override {
    return loginRequest(context.getParams().getToken()).send().then([context](auto&& login) mutable {
      if (!login.hasUser()) kj::throwFatalException(toException(denied("the token is not a user's")));
      auto results = context.getResults();
      results.setCaller(login.getCaller());
      results.setCluster(login.getCluster());
      results.setClient(kj::heap<ReadOnlyClientPort>(login.getUser()));
    });
  }

 private:
  capnp::Request<wire::MasterGate::LoginParams, wire::MasterGate::LoginResults> loginRequest(
      capnp::Text::Reader token) {
    auto request = master_.loginRequest();
    request.setToken(token);
    return request;
  }

  wire::MasterGate::Client master_;
};

}  // namespace

wire::ReadOnlyGate::Client makeReadOnlyGate(wire::MasterGate::Client master) {
  return kj::heap<ReadOnlyGateImpl>(kj::mv(master));
}

}  // namespace tarcil
