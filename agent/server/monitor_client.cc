#include "agent/server/monitor_client.h"

#include "rpc/errors.h"
#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// A port that keeps its connection alive for as long as it is held: calls go straight on to the port.
class HeldPort final : public wire::LaunchPort::Server {
 public:
  HeldPort(kj::Own<Connection> connection, wire::LaunchPort::Client port)
      : connection_(kj::mv(connection)), port_(kj::mv(port)) {}

  kj::Promise<void> launch(LaunchContext context) override {
    auto request = port_.launchRequest();
    request.setSpec(context.getParams().getSpec());
    request.setTicket(context.getParams().getTicket());
    return context.tailCall(kj::mv(request));
  }

  kj::Promise<void> output(OutputContext context) override {
    auto params = context.getParams();
    auto request = port_.outputRequest();
    request.setAllocation(params.getAllocation());
    request.setStream(params.getStream());
    request.setOffset(params.getOffset());
    request.setWait(params.getWait());
    request.setLate(params.getLate());
    request.setTaken(params.getTaken());
    return context.tailCall(kj::mv(request));
  }

  kj::Promise<void> resultFiles(ResultFilesContext context) override {
    auto request = port_.resultFilesRequest();
    request.setAllocation(context.getParams().getAllocation());
    request.setAfter(context.getParams().getAfter());
    return context.tailCall(kj::mv(request));
  }

  kj::Promise<void> readResult(ReadResultContext context) override {
    auto params = context.getParams();
    auto request = port_.readResultRequest();
    request.setAllocation(params.getAllocation());
    request.setPath(params.getPath());
    request.setOffset(params.getOffset());
    return context.tailCall(kj::mv(request));
  }

 private:
  kj::Own<Connection> connection_;
  wire::LaunchPort::Client port_;
};

}  // namespace

kj::Promise<wire::LaunchPort::Outcome> MonitorClient::launch(const std::string& address,
                                                             const LaunchSpec& spec,
                                                             const std::string& ticket) {
  Peer& peer = peerAt({spec.server, address});
  auto request = peer.port.launchRequest();
  write(spec, request.initSpec());
  request.setTicket(convert::data(ticket));
  return request.send()
      .then([](auto&& response) { return response.getOutcome(); })
      .catch_([this, address,
               number = peer.number](kj::Exception&& exception) -> kj::Promise<wire::LaunchPort::Outcome> {
        drop(address, number);
        return kj::mv(exception);
      });
}

// An error that the monitor sent leaves the connection as good as it was, but for one that let nobody in.
template <typename Answer>
kj::Promise<Answer> MonitorClient::droppingLost(const std::string& address, uint64_t number,
                                                kj::Promise<Answer> answer) {
  return answer.catch_([this, address, number](kj::Exception&& exception) -> kj::Promise<Answer> {
    if (fromException(exception).code == ErrorCode::kUnavailable) drop(address, number);
    return kj::mv(exception);
  });
}

kj::Promise<MonitorClient::Output> MonitorClient::output(const Place& place, AllocationId allocation,
                                                         wire::Stream stream, uint64_t offset, bool wait,
                                                         bool isTaken) {
  return outputOf(place, {allocation, false, stream, offset, wait, isTaken});
}

kj::Promise<MonitorClient::Output> MonitorClient::lateOutput(const Place& place, late::SlotLeaseId lease,
                                                             wire::Stream stream, uint64_t offset) {
  return outputOf(place, {lease, true, stream, offset, false, false});
}

kj::Promise<MonitorClient::Output> MonitorClient::outputOf(const Place& place, const Asked& asked) {
  Peer& peer = peerAt(place);
  auto request = peer.port.outputRequest();
  request.setAllocation(asked.id);
  request.setLate(asked.isLate);
  request.setStream(asked.stream);
  request.setOffset(asked.offset);
  request.setWait(asked.wait);
  request.setTaken(asked.isTaken);
  return droppingLost<Output>(place.address, peer.number, request.send().then([](auto&& response) {
    return Output{kj::heapArray<kj::byte>(response.getContent()), response.getEnded(), response.getStart()};
  }));
}

kj::Promise<capnp::Response<wire::LaunchPort::ResultFilesResults>> MonitorClient::resultFiles(
    const Place& place, AllocationId allocation, const std::string& after) {
  Peer& peer = peerAt(place);
  auto request = peer.port.resultFilesRequest();
  request.setAllocation(allocation);
  request.setAfter(convert::text(after));
  return droppingLost<capnp::Response<wire::LaunchPort::ResultFilesResults>>(place.address, peer.number,
                                                                             request.send());
}

kj::Promise<capnp::Response<wire::LaunchPort::ReadResultResults>> MonitorClient::readResult(
    const Place& place, AllocationId allocation, const std::string& path, uint64_t offset) {
  Peer& peer = peerAt(place);
  auto request = peer.port.readResultRequest();
  request.setAllocation(allocation);
  request.setPath(convert::text(path));
  request.setOffset(offset);
  return droppingLost<capnp::Response<wire::LaunchPort::ReadResultResults>>(place.address, peer.number,
                                                                            request.send());
}

MonitorClient::Peer& MonitorClient::peerAt(const Place& place) {
  auto it = peers_.find(place.address);
  if (it == peers_.end()) it = peers_.emplace(place.address, Peer{++numbers_, logIn(place)}).first;
  return it->second;
}

kj::Promise<wire::LaunchPort::Client> MonitorClient::logIn(const Place& place) {
  auto connecting = connect(net_, place.address, {MemberRole::kMonitor, place.server});
  return connecting.then([token = tokenFor(net_, place.address, token_)](kj::Own<Connection>&& connection) {
    auto request = connection->bootstrap().castAs<wire::MonitorGate>().loginRequest();
    request.setToken(convert::text(token));
    return request.send().then(
        [connection = kj::mv(connection)](auto&& response) mutable -> wire::LaunchPort::Client {
          return kj::heap<HeldPort>(kj::mv(connection), response.getLauncher());
        });
  });
}

void MonitorClient::drop(const std::string& address, uint64_t number) {
  if (auto it = peers_.find(address); it != peers_.end() && it->second.number == number) peers_.erase(it);
}

}  // namespace tarcil
