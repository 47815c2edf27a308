#include "monitor/server/launch_port.h"

#include "rpc/errors.h"
#include "rpc/port_server.h"
#include "schema/convert.h"
#include "schema/convert_results.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

wire::LaunchPort::Outcome toWire(monitor::AnswerLaunch::Outcome outcome) {
  return convert::toWireEnum<wire::LaunchPort::Outcome>(outcome);
}

void write(const MonitorServer::Output& output, wire::LaunchPort::OutputResults::Builder to) {
  to.setContent(convert::data(output.content));
  to.setEnded(output.ended);
  to.setStart(output.start);
}

class LaunchPortImpl final : public RolePortServer<wire::LaunchPort> {
 public:
  // `agent`: its name, as its certificate says; empty where it has none.
  LaunchPortImpl(MonitorServer& server, std::string agent) : server_(server), agent_(std::move(agent)) {}

  kj::Promise<void> launch(LaunchContext context) override {
    const auto params = context.getParams();
    LaunchSpec spec = read(params.getSpec());
    if (!server_.isWanted(spec, convert::data(params.getTicket()))) {
      context.getResults().setOutcome(wire::LaunchPort::Outcome::NO_TICKET);
      return kj::READY_NOW;
    }
    return server_.launch(std::move(spec)).then([context](monitor::AnswerLaunch::Outcome outcome) mutable {
      context.getResults().setOutcome(toWire(outcome));
    });
  }

  kj::Promise<void> lateBinding(LateBindingContext context) override {
    LateBindingMonitor* late = server_.lateBinding();
    if (late == nullptr) {
      return toException({ErrorCode::kUnavailable, "this monitor takes no late-bound tasks"});
    }
    auto results = context.getResults();
    results.setPort(late->open(agent_, context.getParams().getAgent()));
    const auto& names = late->serverNames();
    convert::writeTexts(names, results.initServers(static_cast<uint32_t>(names.size())));
    return kj::READY_NOW;
  }

  kj::Promise<void> output(OutputContext context) override {
    auto params = context.getParams();
    const auto stream = params.getStream() == wire::Stream::STDOUT ? Stream::kStdout : Stream::kStderr;
    if (params.getLate()) {
      write(server_.lateOutput(params.getAllocation(), stream, params.getOffset()), context.getResults());
      return kj::READY_NOW;
    }
    const AllocationId allocation = params.getAllocation();
    const uint64_t offset = params.getOffset();
    const bool wait = params.getWait();
    if (params.getTaken()) server_.outputTaken(allocation, stream, offset);
    context.allowCancellation();
    return server_.output(allocation, stream, offset, wait)
        .then([context](MonitorServer::Output&& output) mutable { write(output, context.getResults()); });
  }

  kj::Promise<void> resultFiles(ResultFilesContext context) override {
    auto params = context.getParams();
    const auto listed = server_.results(params.getAllocation(), convert::text(params.getAfter()));
    auto results = context.getResults();
    const auto& files = listed.page.files;
    tarcil::write(files, results.initFiles(static_cast<uint32_t>(files.size())));
    results.setMore(listed.page.more);
    results.setEnded(listed.ended);
    return kj::READY_NOW;
  }

  kj::Promise<void> readResult(ReadResultContext context) override {
    auto params = context.getParams();
    const std::string content =
        server_.readResult(params.getAllocation(), convert::text(params.getPath()), params.getOffset());
    context.getResults().setContent(convert::data(content));
    return kj::READY_NOW;
  }

 private:
  MonitorServer& server_;
  const std::string agent_;
};

class MonitorGateImpl final : public wire::MonitorGate::Server {
 public:
  MonitorGateImpl(MonitorServer& server, LetIn letIn) : server_(server), letIn_(std::move(letIn)) {}

  kj::Promise<void> login(LoginContext context) override {
    return admitted(context.getParams().getToken()).then([this, context]() mutable {
      letIn_(Peer::kRole);
      context.getResults().setLauncher(
          kj::heap<LaunchPortImpl>(server_, letIn_.peer() ? letIn_.peer()->name : ""));
    });
  }

 private:
  kj::Promise<void> admitted(capnp::Text::Reader token) {
    if (!letIn_.peer()) return server_.authenticate(convert::text(token));
    if (letIn_.peer()->role == MemberRole::kAgent && !server_.isRevoked(*letIn_.peer())) return kj::READY_NOW;
    return toException(denied("the certificate of " + described(*letIn_.peer()) +
                              (server_.isRevoked(*letIn_.peer()) ? " is revoked" : " is not an agent's")));
  }

  MonitorServer& server_;
  const LetIn letIn_;
};

}  // namespace

wire::MonitorGate::Client makeMonitorGate(MonitorServer& server, LetIn letIn) {
  return kj::heap<MonitorGateImpl>(server, std::move(letIn));
}

}  // namespace tarcil
