#include "rpc/connection.h"

#include <capnp/rpc-twoparty.h>
#include <fcntl.h>
#include <kj/debug.h>
#include <kj/io.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "core/model/job.h"
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

// Small messages are joined by CoalescingStream; over TCP the kernel must not wait for more.
void prepareTcp(kj::AsyncIoStream& stream) {
  int domain = AF_UNIX;
  kj::uint size = sizeof domain;
  stream.getsockopt(SOL_SOCKET, SO_DOMAIN, &domain, &size);
  if (domain == AF_UNIX) return;
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

class ClientConnection final : public Connection {
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
                        // What waits for the peer learns that it is gone.
                        stream_->abortRead();
                      })
                      .eagerlyEvaluate(nullptr)) {}

  capnp::Capability::Client bootstrap() override { return bootstrap_; }

  kj::Promise<void> onDisconnect() override { return network_.onDisconnect(); }

 private:
  Heartbeat heartbeat_;
  kj::Own<kj::AsyncIoStream> stream_;
  capnp::TwoPartyVatNetwork network_;
  capnp::RpcSystem<VatId> rpc_;
  capnp::Capability::Client bootstrap_;
  kj::Promise<void> watching_;  // dropped first, with the call that asks the peer
};

// Whether it has one of the last quarter of this process's descriptors, which are for its files and for what
// it starts: a role that cannot open a file does wrong what it has promised.
bool takesLastDescriptors(const kj::AsyncIoStream& stream) {
  rlimit limit{};
  KJ_IF_MAYBE (fd, stream.getFd()) {
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(*fd) >= limit.rlim_cur / 4 * 3;
  }
  return false;
}

class Server final : private kj::TaskSet::ErrorHandler {
 public:
  Server(kj::Timer& timer, kj::Own<kj::ConnectionReceiver> receiver, Greeter greeter)
      : timer_(timer),
        receiver_(kj::mv(receiver)),
        greeter_(kj::mv(greeter)),
        visitors_(timer),
        connections_(*this) {}

  kj::Promise<void> run() {
    return accept().then(
        [this](kj::Own<kj::AsyncIoStream>&& stream) -> kj::Promise<void> {
          if (takesLastDescriptors(*stream)) {
            warn("they have three quarters of the descriptors (ulimit -n)");
            stream = nullptr;
            return timer_.afterDelay(kPause).then([this]() { return run(); });
          }
          take(kj::mv(stream));
          // However many come, those who are there are served in between.
          if (++accepted_ % kAcceptedInARow != 0) return run();
          return timer_.afterDelay(kBetweenRows).then([this]() { return run(); });
        },
        [this](kj::Exception&& exception) -> kj::Promise<void> {
          // Out of descriptors, or of memory for sockets.
          if (exception.getType() != kj::Exception::Type::OVERLOADED) return kj::mv(exception);
          return turnAway(exception);
        });
  }

 private:
  // An error may be thrown by the call itself.
  kj::Promise<kj::Own<kj::AsyncIoStream>> accept() {
    return kj::evalNow([this]() { return receiver_->accept(); });
  }

  void take(kj::Own<kj::AsyncIoStream> stream) {
    prepareTcp(*stream);
    auto heartbeat = kj::heap<Heartbeat>(timer_);
    auto visitor =
        visitors_.admit(coalescing(timer_, heartbeat->listenTo(kj::mv(stream)), BeyondUnread::kReadsNoMore));
    auto accepted =
        kj::heap<Accepted>(kj::mv(heartbeat), kj::mv(visitor.stream), greeter_(kj::mv(visitor.letIn)));
    auto silent = visitor.isRole.then([&accepted = *accepted]() { return accepted.silence(); });
    auto ended =
        accepted->network.onDisconnect().exclusiveJoin(kj::mv(visitor.tooLate)).exclusiveJoin(kj::mv(silent));
    connections_.add(ended.attach(kj::mv(accepted)));
  }

  void warn(kj::StringPtr why) {
    if (const auto now = timer_.now(); now >= nextWarning_) {
      nextWarning_ = now + kBetweenWarnings;
      KJ_LOG(WARNING, "peers are turned away: no more can be accepted", why);
    }
  }

  // Those who wait would wake it again at once: they get the reserve, one after the other, and hear that
  // they are disconnected. Where even that fails, it waits for descriptors to come free.
  kj::Promise<void> turnAway(const kj::Exception& why) {
    warn(why.getDescription());
    reserve_ = nullptr;
    return accept()
        .then([](kj::Own<kj::AsyncIoStream>&&) {}, [](kj::Exception&&) {})
        .exclusiveJoin(timer_.afterDelay(kPause))
        .then([this]() {
          reserve_ = openReserve();
          return timer_.afterDelay(kPause);
        })
        .then([this]() { return run(); });
  }

  static kj::AutoCloseFd openReserve() { return kj::AutoCloseFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

  static constexpr uint64_t kAcceptedInARow = 8;
  static constexpr auto kBetweenRows = 1 * kj::MILLISECONDS;
  static constexpr auto kPause = 10 * kj::MILLISECONDS;
  static constexpr auto kBetweenWarnings = 10 * kj::SECONDS;

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
  kj::Own<kj::ConnectionReceiver> receiver_;
  Greeter greeter_;
  Visitors visitors_;
  uint64_t accepted_ = 0;
  kj::AutoCloseFd reserve_ = openReserve();
  kj::TimePoint nextWarning_ = kj::origin<kj::TimePoint>();
  kj::TaskSet connections_;
};

}  // namespace

kj::Promise<kj::Own<Connection>> connect(Net net, const std::string& address) {
  auto tooLate = net.timer.afterDelay(kSilence).then([address]() -> kj::Own<kj::AsyncIoStream> {
    kj::throwFatalException(kj::Exception(
        kj::Exception::Type::DISCONNECTED, __FILE__, __LINE__,
        kj::str("cannot connect to ", address.c_str(), ": no answer for ", kSilence / kj::SECONDS, " s")));
  });
  return connectTo(net.network, net.io, address)
      .exclusiveJoin(kj::mv(tooLate))
      .then([&timer = net.timer](kj::Own<kj::AsyncIoStream>&& stream) -> kj::Own<Connection> {
        prepareTcp(*stream);
        return kj::heap<ClientConnection>(timer, kj::mv(stream));
      });
}

kj::Promise<void> serve(kj::Timer& timer, kj::Own<kj::ConnectionReceiver> receiver, Greeter greeter) {
  auto server = kj::heap<Server>(timer, kj::mv(receiver), kj::mv(greeter));
  auto running = server->run();
  return running.attach(kj::mv(server));
}

}  // namespace tarcil
