#include "rpc/security.h"

#include <kj/compat/tls.h>
#include <kj/debug.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/units.h"
#include "rpc/address.h"
#include "rpc/errors.h"
#include "rpc/stream_around.h"

namespace tarcil {
namespace {

kj::StringPtr text(const std::string& of) {
  return {of.c_str(), of.size()};
}

kj::Exception disconnected(const std::string& why) {
  return {kj::Exception::Type::DISCONNECTED, __FILE__, __LINE__, kj::str(why.c_str())};
}

// The clock that tells when a certificate is over may be set: it is looked at so often.
constexpr Duration kBetweenLooks = std::chrono::minutes(1);

// OpenSSL's words, and ours. The first that is found counts.
struct Words {
  std::string_view theirs, ours;
};
constexpr auto kWords = std::to_array<Words>({
    // Of the peer's certificate, as this end sees it.
    {"certificate is not yet valid",
     "the peer's certificate is not valid yet: is this machine's clock right?"},
    {"certificate has expired",
     "the peer's certificate has expired, by this machine's clock; the peer renews or joins anew"},
    {"self-signed certificate",
     "the peer's certificate is signed by itself, and not by this cluster's authority"},
    {"self signed certificate",
     "the peer's certificate is signed by itself, and not by this cluster's authority"},
    {"unable to get local issuer certificate", "the peer's certificate is of another cluster's authority"},
    {"unable to get issuer certificate", "the peer's certificate is of another cluster's authority"},
    {"certificate signature failure", "the peer's certificate is of another cluster's authority"},
    {"hostname mismatch", "the peer's certificate is for another role than this one"},
    {"did not return a certificate", "the peer has no certificate; it gets one with `tarcil join`"},
    {"certificate verify failed", "the peer's certificate is not one of this cluster, or is not valid now"},
    // Of ours, as the peer says.
    {"alert certificate expired",
     "the peer says that our certificate has expired; join anew, or look at the clocks of both machines"},
    {"alert unknown ca", "the peer is of another cluster: our certificate is not of its authority"},
    {"alert decrypt error", "the peer is of another cluster: our certificate is not of its authority"},
    {"alert bad certificate",
     "the peer does not take our certificate: is it valid yet, by the clocks of both machines?"},
    {"alert certificate unknown", "the peer does not take our certificate"},
    {"alert certificate required", "the peer asks for a certificate; get one with `tarcil join`"},
    {"alert handshake failure", "the peer asks for a certificate, or speaks TLS in another way"},
    // No TLS at all.
    {"wrong version number", "the peer does not speak TLS: it has no identity, or this is another port"},
    {"http request", "the peer speaks HTTP"},
    {"unable to continue I/O", "the peer does not speak TLS, or has ended the connection"},
    {"unexpected eof", "the peer ended the connection"},
});

// Whoever reads it hears of what has happened in words, and as a lost connection, which it is.
class TlsStream final : public StreamAround {
 public:
  using StreamAround::StreamAround;

  kj::Promise<size_t> tryRead(void* to, size_t least, size_t most) override {
    return inner_->tryRead(to, least, most).catch_([](kj::Exception&& exception) -> kj::Promise<size_t> {
      return explained(exception);
    });
  }
  kj::Promise<void> write(const void* data, size_t size) override { return inner_->write(data, size); }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    return inner_->write(pieces);
  }
  void shutdownWrite() override { inner_->shutdownWrite(); }
};

// A stream to come: who reads or writes waits for it. Not KJ's own (newPromisedStream), which logs an error
// for each stranger that fails.
class HandshakingStream final : public kj::AsyncIoStream {
 public:
  explicit HandshakingStream(kj::Promise<kj::Own<kj::AsyncIoStream>> stream)
      : whenThere_(stream
                       .then([this](kj::Own<kj::AsyncIoStream>&& there) {
                         owned_ = kj::mv(there);
                         stream_ = owned_.get();
                       })
                       .fork()) {}

  kj::Promise<size_t> tryRead(void* to, size_t least, size_t most) override {
    return onceThere(
        [to, least, most](kj::AsyncIoStream& stream) { return stream.tryRead(to, least, most); });
  }
  kj::Promise<void> write(const void* data, size_t size) override {
    return onceThere([data, size](kj::AsyncIoStream& stream) { return stream.write(data, size); });
  }
  kj::Promise<void> write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    return onceThere([pieces](kj::AsyncIoStream& stream) { return stream.write(pieces); });
  }
  kj::Promise<void> whenWriteDisconnected() override {
    return onceThere([](kj::AsyncIoStream& stream) { return stream.whenWriteDisconnected(); });
  }
  // Before it is there nothing has been written, and whoever reads is told by its failure.
  void shutdownWrite() override {
    if (stream_ != nullptr) stream_->shutdownWrite();
  }
  void abortRead() override {
    if (stream_ != nullptr) stream_->abortRead();
  }

 private:
  template <typename Act>
  auto onceThere(Act act) -> decltype(act(std::declval<kj::AsyncIoStream&>())) {
    if (stream_ != nullptr) return act(*stream_);
    return whenThere_.addBranch().then([this, act]() { return act(*stream_); });
  }

  kj::Own<kj::AsyncIoStream> owned_;
  kj::AsyncIoStream* stream_ = nullptr;  // until the handshake is over
  kj::ForkedPromise<void> whenThere_;
};

// Of a peer's certificate KJ tells nothing but its common name. The X509 that it has is reached as the
// language allows it: what is named in an explicit instantiation may be private.
void* certificateIn(kj::TlsPeerIdentity& peer);
template <auto member>
struct Reach {
  friend void* certificateIn(kj::TlsPeerIdentity& peer) { return peer.*member; }
};
template struct Reach<&kj::TlsPeerIdentity::cert>;

// Who a peer's certificate is for; nobody where it showed none.
PeerName nameOf(kj::PeerIdentity& peer) {
  auto& certified = kj::downcast<kj::TlsPeerIdentity>(peer);
  if (!certified.hasCertificate()) return {};
  const kj::String name = certified.getCommonName();
  auto identity = parseIdentity(std::string_view(name.cStr(), name.size()));
  if (!identity) kj::throwFatalException(disconnected("the peer's certificate names no role of tarcil"));
  return {std::move(*identity), endOf(certificateIn(certified))};
}

// --- Greeting: a mark, the master's time in seconds and the size of what follows, big-endian ---

constexpr std::string_view kGreetingMark = "TARCILJ1";
constexpr size_t kGreetingHead = kGreetingMark.size() + 8 + 4;
constexpr size_t kMaxAuthority = 16 << 10;

void appendNumber(std::string& to, uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) to += static_cast<char>(number >> shift);
}
uint64_t numberAt(const std::string& from, size_t at, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = at; i < at + bytes; ++i) number = number << 8 | static_cast<uint8_t>(from[i]);
  return number;
}

kj::Promise<std::string> readExactly(kj::AsyncIoStream& stream, size_t size) {
  auto buffer = kj::heap<std::string>(size, '\0');
  auto read = stream.tryRead(buffer->data(), size, size);
  return read.then([size, buffer = kj::mv(buffer)](size_t got) mutable {
    if (got < size)
      kj::throwFatalException(
          disconnected("nobody lets machines join there; give the master's joining port"));
    return std::move(*buffer);
  });
}

}  // namespace

struct Security::Contexts {
  explicit Contexts(const Credentials& credentials)
      : authority(text(credentials.authority)),
        pair(pairOf(credentials)),
        dialling(options(false)),
        demanding(options(true)) {}

  static kj::Maybe<kj::TlsKeypair> pairOf(const Credentials& credentials) {
    if (credentials.certificate.empty()) return nullptr;
    return kj::TlsKeypair{kj::TlsPrivateKey(text(credentials.key)),
                          kj::TlsCertificate(text(credentials.certificate))};
  }
  kj::TlsContext::Options options(bool demandsCertificate) {
    kj::TlsContext::Options options;
    options.useSystemTrustStore = false;
    options.trustedCertificates = kj::arrayPtr(&authority, 1);
    options.minVersion = kj::TlsVersion::TLS_1_2;
    options.verifyClients = demandsCertificate;
    KJ_IF_MAYBE (ours, pair) options.defaultKeypair = *ours;
    return options;
  }

  kj::TlsCertificate authority;
  kj::Maybe<kj::TlsKeypair> pair;
  kj::TlsContext dialling;  // and for whoever connects, certificate or not
  kj::TlsContext demanding;
};

Security::Security(const Clock& clock, Trust trust) : clock_(clock), insecure_(trust.insecure) {
  if (trust.credentials) renew(std::move(*trust.credentials));
}

Security::~Security() noexcept(false) = default;

void Security::renew(Credentials credentials) {
  if (!credentials.certificate.empty()) {
    auto facts = readCertificate(credentials.certificate);
    if (!facts) kj::throwFatalException(toException(facts.error()));
    identity_ = facts->identity;
  }
  contexts_ = std::make_unique<Contexts>(credentials);
  authority_ = std::move(credentials.authority);
}

bool Security::protects(const std::string& address) const {
  return contexts_ != nullptr && isTcp(address);
}

bool Security::isKnownAt(const std::string& address) const {
  return protects(address) && identity_.has_value();
}

Status Security::mayUse(const std::string& address) const {
  if (insecure_ || protects(address) || staysOnThisMachine(address)) return {};
  return invalid(address +
                 ": others could read and change what is sent there; give the cluster an authority with "
                 "`tarcil init` and "
                 "`tarcil join`, which protect it, or add --insecure on a network that you trust");
}

kj::Promise<Security::Dialled> Security::dial(kj::Own<kj::AsyncIoStream> stream, const Expected& whom) {
  const std::string host = hostNameOf(whom.role);
  return kj::evalNow([this, &stream, &host]() {
           return contexts_->dialling.wrapClient(
               kj::AuthenticatedStream{kj::mv(stream), kj::UnknownPeerIdentity::newInstance()}, text(host));
         })
      .then(
          [this, whom](kj::AuthenticatedStream&& secured) -> Dialled {
            const PeerName shown = nameOf(*secured.peerIdentity);
            const std::optional<Identity>& peer = shown.identity;
            if (!peer || peer->role != whom.role) {
              kj::throwFatalException(
                  disconnected("the peer is no " + std::string(name(whom.role)) + " of this cluster"));
            }
            if (!whom.name.empty() && !mayBeCalled(*peer, whom.name)) {
              kj::throwFatalException(
                  disconnected("the peer is " + described(*peer) + ", and not " + whom.name));
            }
            if (isRevoked(*peer))
              kj::throwFatalException(disconnected("the certificate of " + described(*peer) + " is revoked"));
            return {kj::heap<TlsStream>(kj::mv(secured.stream)), *peer, shown.until};
          },
          [](kj::Exception&& exception) -> Dialled { kj::throwFatalException(explained(exception)); });
}

kj::Own<kj::AsyncIoStream> Security::accept(kj::Own<kj::AsyncIoStream> stream, Demand demand,
                                            std::shared_ptr<PeerName> peer) {
  return kj::heap<HandshakingStream>(shakeHands(kj::mv(stream), demand, std::move(peer)));
}

kj::Promise<kj::Own<kj::AsyncIoStream>> Security::shakeHands(kj::Own<kj::AsyncIoStream> stream, Demand demand,
                                                             std::shared_ptr<PeerName> peer) {
  if (demand == Demand::kJoining) {
    auto words = kj::heap<std::string>(greeting());
    auto said = stream->write(words->data(), words->size()).attach(kj::mv(words));
    return said.then([this, stream = kj::mv(stream), peer = std::move(peer)]() mutable {
      return shakeHands(kj::mv(stream), Demand::kNothing, std::move(peer));
    });
  }
  return kj::evalNow([this, &stream, demand]() {
           auto& context = demand == Demand::kCertificate ? contexts_->demanding : contexts_->dialling;
           return context.wrapServer(
               kj::AuthenticatedStream{kj::mv(stream), kj::UnknownPeerIdentity::newInstance()});
         })
      .then(
          [peer = std::move(peer)](kj::AuthenticatedStream&& secured) -> kj::Own<kj::AsyncIoStream> {
            PeerName shown = nameOf(*secured.peerIdentity);
            peer->identity = std::move(shown.identity);
            peer->until = shown.until;
            return kj::heap<TlsStream>(kj::mv(secured.stream));
          },
          [](kj::Exception&& exception) -> kj::Own<kj::AsyncIoStream> {
            kj::throwFatalException(explained(exception));
          });
}

void Security::setRevoked(const std::vector<uint64_t>& serials) {
  revoked_ = {serials.begin(), serials.end()};
  for (Standing& each : standing_) {
    if (revoked_.contains(each.serial)) each.ended->reject(disconnected("the peer's certificate is revoked"));
  }
}

kj::Promise<void> Security::untilRevoked(const Identity& identity) {
  if (isRevoked(identity)) return disconnected("the certificate of " + described(identity) + " is revoked");
  std::erase_if(standing_, [](Standing& each) { return !each.ended->isWaiting(); });
  auto paf = kj::newPromiseAndFulfiller<void>();
  standing_.push_back({identity.serial, kj::mv(paf.fulfiller)});
  return kj::mv(paf.promise);
}

kj::Promise<void> Security::untilExpired(kj::Timer& timer, WallTime until) const {
  const Duration left = until - clock_.now().wall;
  if (left <= Duration::zero())
    return disconnected("the peer's certificate has expired; it comes back with the next");
  return timer.afterDelay(std::min(left, kBetweenLooks).count() * kj::MICROSECONDS)
      .then([this, &timer, until]() { return untilExpired(timer, until); });
}

kj::Promise<void> Security::untilOver(kj::Timer& timer, const Identity& identity, WallTime until) {
  return untilRevoked(identity).exclusiveJoin(untilExpired(timer, until));
}

std::string Security::greeting() const {
  std::string greeting(kGreetingMark);
  appendNumber(greeting,
               static_cast<uint64_t>(
                   std::chrono::floor<std::chrono::seconds>(clock_.now().wall).time_since_epoch().count()),
               8);
  appendNumber(greeting, authority_.size(), 4);
  return greeting + authority_;
}

kj::Promise<Greeting> readGreeting(kj::AsyncIoStream& stream) {
  return readExactly(stream, kGreetingHead).then([&stream](std::string&& head) {
    const uint64_t seconds = numberAt(head, kGreetingMark.size(), 8),
                   size = numberAt(head, kGreetingMark.size() + 8, 4);
    if (!head.starts_with(kGreetingMark) || size == 0 || size > kMaxAuthority ||
        seconds > (uint64_t{1} << 40)) {
      kj::throwFatalException(disconnected(
          "no master lets machines join there; give its joining port, which `tarcil init` printed"));
    }
    return readExactly(stream, size).then([seconds](std::string&& authority) {
      return Greeting{std::move(authority), WallTime(std::chrono::seconds(seconds))};
    });
  });
}

kj::Exception explained(const kj::Exception& exception) {
  const std::string_view theirs(exception.getDescription().cStr());
  const auto* const found = std::ranges::find_if(
      kWords, [theirs](const Words& words) { return theirs.find(words.theirs) != std::string_view::npos; });
  return disconnected(std::string(found == kWords.end() ? theirs : found->ours));
}

}  // namespace tarcil
