#include "rpc/connection.h"

#include <capnp/rpc-twoparty.h>
#include <kj/debug.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>

#include "core/model/job.h"
#include "rpc/acceptor.h"
#include "rpc/coalescing_stream.h"
#include "rpc/heartbeat.h"

namespace tarcil {
namespace {

using capnp::rpc::twoparty::Side;
using capnp::rpc::twoparty::VatId;

// Room for the largest submission (its input files) beside the rest of the message; everything a peer may
// send is bounded by it.
capnp::ReaderOptions readerOptions() {
  capnp::ReaderOptions options;
  options.traversalLimitInWords = (kMaxInputBytes + (32ull << 20)) / sizeof(capnp::word);
  return options;
}

// Of one peer's calls that have not been answered; beyond, no more is read from it until some have been. So
// what a peer makes this process hold is bounded, and it feels in time that it asks for too much. Above
// what all the calls take that wait for something to happen (master/server/watchers.h), which must not shut
// out others.
constexpr size_t kWordsInFlight = (32ull << 20) / sizeof(capnp::word);

// A peer whose machine or network has gone says nothing: its connection ends when the kernel has heard
// nothing from it for kSilence, which it asks for once a second. No peer is waited for longer to take up a
// connection.
constexpr auto kSilence = kLooksUntilSilent * kHeartbeat;
constexpr int kAskAfterSeconds = kHeartbeat / kj::SECONDS;

void set(kj::AsyncIoStream& stream, int level, int option, int value) {
  stream.setsockopt(level, option, &value, sizeof value);
}

bool isUnixSocket(kj::AsyncIoStream& stream) {
  int domain = AF_UNIX;
  kj::uint size = sizeof domain;
  stream.getsockopt(SOL_SOCKET, SO_DOMAIN, &domain, &size);
  return domain == AF_UNIX;
}

// Of whoever made the connection; nothing where the kernel does not say.
std::optional<uint32_t> uidOf(kj::AsyncIoStream& stream) {
  if (!isUnixSocket(stream)) return std::nullopt;
  ucred peer{};
  kj::uint size = sizeof peer;
  stream.getsockopt(SOL_SOCKET, SO_PEERCRED, &peer, &size);
  if (size != sizeof peer || peer.pid == 0) return std::nullopt;
  return peer.uid;
}

// Small messages are joined by CoalescingStream; over TCP the kernel must not wait for more.
void prepareTcp(kj::AsyncIoStream& stream) {
  if (isUnixSocket(stream)) return;
  set(stream, IPPROTO_TCP, TCP_NODELAY, 1);
  set(stream, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(stream, IPPROTO_TCP, TCP_KEEPIDLE, kAskAfterSeconds);
  set(stream, IPPROTO_TCP, TCP_KEEPINTVL, kAskAfterSeconds);
  set(stream, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kSilence / kj::MILLISECONDS));
}

capnp::Capability::Client bootstrapOf(Side side, capnp::RpcSystem<VatId>& rpc) {
  capnp::MallocMessageBuilder message(8);
  auto vat = message.initRoot<VatId>();
  vat.setSide(side);
  return rpc.bootstrap(vat);
}

// What a client offers to a server: nothing, but it answers that.
class Nothing final : public capnp::Capability::Server {
 public:
  DispatchCallResult dispatchCall(uint64_t interface, uint16_t method,
                                  capnp::CallContext<capnp::AnyPointer, capnp::AnyPointer>) override {
    return internalUnimplemented("Nothing", interface, method);
  }
};

// Resolves when the peer is silent. Its bootstrap capability is called with what no interface has: any event
// loop that goes on answers that it does not know it. To ask for the capability itself anew will not do: once
// a connection has ended Cap'n Proto throws there from a destructor, while calls of what came over it just
// fail.
kj::Promise<void> silenceOf(Heartbeat& heartbeat, capnp::Capability::Client& peer) {
  constexpr uint64_t kNoInterface = 0;
  return heartbeat.silence([&peer]() {
    return peer.typelessRequest(kNoInterface, 0, capnp::MessageSize{4, 0}).send().ignoreResult();
  });
}

class ClientConnection : public Connection {
 public:
  ClientConnection(kj::Timer& timer, kj::Own<kj::AsyncIoStream> stream)
      : heartbeat_(timer),
        stream_(coalescing(timer, heartbeat_.listenTo(kj::mv(stream)), BeyondUnread::kWriterWaits)),
        network_(*stream_, Side::CLIENT, readerOptions()),
        rpc_(capnp::makeRpcServer(network_, kj::heap<Nothing>())),
        bootstrap_(bootstrapOf(Side::SERVER, rpc_)),
        watching_(silenceOf(heartbeat_, bootstrap_)
                      .then([this]() {
                        KJ_LOG(INFO, "a peer is silent: the connection is dropped");
                        abort();
                      })
                      .eagerlyEvaluate(nullptr)) {}

  capnp::Capability::Client bootstrap() override { return bootstrap_; }

  kj::Promise<void> onDisconnect() override { return network_.onDisconnect(); }

 protected:
  // What waits for the peer learns that it is gone.
  void abort() { stream_->abortRead(); }

 private:
  Heartbeat heartbeat_;
  kj::Own<kj::AsyncIoStream> stream_;
  capnp::TwoPartyVatNetwork network_;
  capnp::RpcSystem<VatId> rpc_;
  capnp::Capability::Client bootstrap_;
  kj::Promise<void> watching_;  // dropped first, with the call that asks the peer
};

// To a peer with a certificate: the end of that ends it.
class CertifiedConnection final : public ClientConnection {
 public:
  CertifiedConnection(kj::Timer& timer, kj::Own<kj::AsyncIoStream> stream, kj::Promise<void> untilOver)
      : ClientConnection(timer, kj::mv(stream)),
        over_(untilOver.eagerlyEvaluate([this](kj::Exception&&) { abort(); })) {}

 private:
  kj::Promise<void> over_;
};

class Server final : private kj::TaskSet::ErrorHandler {
 public:
  Server(kj::Timer& timer, kj::Own<kj::ConnectionReceiver> receiver, Greeter greeter, Security* security,
         Demand demand)
      : timer_(timer),
        security_(security),
        demand_(demand),
        acceptor_(timer, kj::mv(receiver),
                  [this](kj::Own<kj::AsyncIoStream> stream) { take(kj::mv(stream)); }),
        greeter_(kj::mv(greeter)),
        visitors_(timer),
        connections_(*this) {}

  kj::Promise<void> run() { return acceptor_.run(); }

 private:
  void take(kj::Own<kj::AsyncIoStream> stream) {
    prepareTcp(*stream);
    const std::string address = addressOf(*stream);
    auto peer = std::make_shared<PeerName>();
    peer->uid = uidOf(*stream);
    peer->address = address;
    if (security_ != nullptr && security_->speaksTls() && !isUnixSocket(*stream))
      stream = security_->accept(kj::mv(stream), demand_, peer);
    auto heartbeat = kj::heap<Heartbeat>(timer_);
    auto visitor = visitors_.admit(
        coalescing(timer_, heartbeat->listenTo(kj::mv(stream)), BeyondUnread::kReadsNoMore), address, peer);
    auto accepted =
        kj::heap<Accepted>(kj::mv(heartbeat), kj::mv(visitor.stream), greeter_(kj::mv(visitor.letIn)));
    auto silent = visitor.isRole.then([this, peer = kj::mv(peer), &accepted = *accepted]() {
      return accepted.silence().exclusiveJoin(untilOver(*peer));
    });
    auto ended =
        accepted->network.onDisconnect().exclusiveJoin(kj::mv(visitor.tooLate)).exclusiveJoin(kj::mv(silent));
    connections_.add(ended.attach(kj::mv(accepted)));
  }

  kj::Promise<void> untilOver(const PeerName& peer) {
    if (!peer.identity) return kj::NEVER_DONE;
    return security_->untilOver(timer_, *peer.identity, peer.until);
  }

  struct Accepted {
    Accepted(kj::Own<Heartbeat> itsHeartbeat, kj::Own<kj::AsyncIoStream> itsStream,
             capnp::Capability::Client bootstrap)
        : heartbeat(kj::mv(itsHeartbeat)),
          stream(kj::mv(itsStream)),
          network(*stream, Side::SERVER, readerOptions()),
          rpc(capnp::makeRpcServer(network, kj::mv(bootstrap))),
          peer(bootstrapOf(Side::CLIENT, rpc)) {
      rpc.setFlowLimit(kWordsInFlight);
    }

    kj::Promise<void> silence() {
      return silenceOf(*heartbeat, peer).then([]() -> kj::Promise<void> {
        return KJ_EXCEPTION(DISCONNECTED, "a peer is silent");
      });
    }

    kj::Own<Heartbeat> heartbeat;
    kj::Own<kj::AsyncIoStream> stream;
    capnp::TwoPartyVatNetwork network;
    capnp::RpcSystem<VatId> rpc;
    capnp::Capability::Client peer;
  };

  // A peer's broken connection is its own affair; it is seen by whoever holds a session of it.
  void taskFailed(kj::Exception&& exception) override { KJ_LOG(INFO, "connection failed", exception); }

  kj::Timer& timer_;
  Security* const security_;
  const Demand demand_;
  Acceptor acceptor_;
  Greeter greeter_;
  Visitors visitors_;
  kj::TaskSet connections_;
};

}  // namespace

kj::Own<Connection> connectionOver(kj::Timer& timer, kj::Own<kj::AsyncIoStream> stream) {
  return kj::heap<ClientConnection>(timer, kj::mv(stream));
}

kj::Promise<kj::Own<Connection>> connect(Net net, const std::string& address, const Expected& whom) {
  const auto fails = [address](const std::string& why) {
    return kj::Exception(kj::Exception::Type::DISCONNECTED, __FILE__, __LINE__,
                         kj::str("cannot connect to ", address.c_str(), ": ", why.c_str()));
  };
  if (net.security != nullptr) {
    if (const Status may = net.security->mayUse(address); !may) return fails(may.error().message);
  }
  auto tooLate = net.timer.afterDelay(kSilence).then([fails]() -> kj::Own<Connection> {
    kj::throwFatalException(fails("no answer for " + std::to_string(kSilence / kj::SECONDS) + " s"));
  });
  return connectTo(net.network, net.io, address)
      .then([net, address, whom,
             fails](kj::Own<kj::AsyncIoStream>&& stream) -> kj::Promise<kj::Own<Connection>> {
        prepareTcp(*stream);
        if (net.security == nullptr || !net.security->protects(address))
          return connectionOver(net.timer, kj::mv(stream));
        return net.security->dial(kj::mv(stream), whom)
            .then(
                [net](Security::Dialled&& dialled) -> kj::Own<Connection> {
                  return kj::heap<CertifiedConnection>(
                      net.timer, kj::mv(dialled.stream),
                      net.security->untilOver(net.timer, dialled.peer, dialled.until));
                },
                [fails](kj::Exception&& exception) -> kj::Own<Connection> {
                  kj::throwFatalException(fails(exception.getDescription().cStr()));
                });
      })
      .exclusiveJoin(kj::mv(tooLate));
}

kj::Promise<void> serve(kj::Timer& timer, kj::Own<kj::ConnectionReceiver> receiver, Greeter greeter,
                        Security* security, Demand demand) {
  auto server = kj::heap<Server>(timer, kj::mv(receiver), kj::mv(greeter), security, demand);
  auto running = server->run();
  return running.attach(kj::mv(server));
}

}  // namespace tarcil
