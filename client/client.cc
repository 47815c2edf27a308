#include "client/client.h"

#include <algorithm>

#include "client/agent_login.h"
#include "rpc/errors.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

// A link that served for so long was a good one: its loss starts an outage of its own.
constexpr kj::Duration kProven = 1 * kj::SECONDS;
constexpr kj::Duration kFirstPause = 10 * kj::MILLISECONDS;
constexpr kj::Duration kMaxPause = 500 * kj::MILLISECONDS;

kj::Exception unavailable(std::string message) {
  return toException({ErrorCode::kUnavailable, std::move(message)});
}

// Nothing that an agent said.
kj::Exception disconnected(const char* message) {
  return kj::Exception(kj::Exception::Type::DISCONNECTED, __FILE__, __LINE__, kj::heapString(message));
}

}  // namespace

// One login. Refcounted, so that calls in flight keep theirs while others have moved on.
struct Client::Link final : kj::Refcounted {
  Link(kj::Own<Connection> connection, Session session)
      : connection(kj::mv(connection)), session(kj::mv(session)) {}

  kj::Own<Link> addRef() { return kj::addRef(*this); }  // for kj::ForkedPromise

  kj::Own<Connection> connection;
  Session session;
  kj::ForkedPromise<void> broken = nullptr;  // rejected once the link is of no use
};

Client::Client(Net net, std::vector<std::string> agents, std::string token, ClientOptions options, Say say)
    : net_(net),
      agents_(std::move(agents)),
      token_(std::move(token)),
      options_(options),
      say_(kj::mv(say)),
      next_(options.first) {}

Client::~Client() noexcept(false) = default;

kj::Promise<void> Client::untilAnswered(Request request) {
  auto owned = kj::heap(kj::mv(request));
  auto done = attempt(*owned);
  return done.attach(kj::mv(owned));
}

kj::Promise<void> Client::attempt(Request& request) {
  auto sent = link().then([&request](kj::Own<Link>&& link) {
    auto answered = request(link->session).exclusiveJoin(link->broken.addBranch());
    return answered.attach(kj::mv(link));
  });
  const uint64_t number = linkNumber_;
  return sent.then(
      [this]() -> kj::Promise<void> {
        outageSince_ = nullptr;
        failuresInRow_ = 0;
        return kj::READY_NOW;
      },
      [this, number, &request](kj::Exception&& failure) -> kj::Promise<void> {
        const bool isLogin = number == linkNumber_ && loggedInAt_ == nullptr;
        kj::Exception exception = isLogin ? toException(loginError(agent(), failure)) : kj::mv(failure);
        const Error error = fromException(exception);
        hasHeard_ = hasHeard_ || wasSent(failure);
        if (error.code != ErrorCode::kUnavailable) return kj::mv(exception);
        return recover(number, error.message).then([this, &request]() { return attempt(request); });
      });
}

// Resolves when another attempt is due; fails when patience is at its end.
kj::Promise<void> Client::recover(uint64_t linkNumber, const std::string& problem) {
  const kj::TimePoint now = net_.timer.now();
  if (linkNumber == linkNumber_) {
    bool isNewOutage = outageSince_ == nullptr;
    KJ_IF_MAYBE (since, loggedInAt_) {
      isNewOutage = isNewOutage || now - *since > kProven;
    }
    link_ = nullptr;
    loggedInAt_ = nullptr;
    ++linkNumber_;
    ++failuresInRow_;
    const std::string lost = agent();
    ++next_;
    if (isNewOutage) {
      outageSince_ = now;
      say_(lost + " does not answer (" + problem + "); " +
           (agents_.size() > 1 ? "going on with " + agent() : "trying again"));
    }
  }
  const kj::Duration patience = hasLoggedIn() || hasHeard_ ? options_.patience : options_.firstPatience;
  KJ_IF_MAYBE (since, outageSince_) {
    if (now - *since >= patience) {
      return unavailable("the cluster is out of reach: no agent answered for " +
                         std::to_string(patience / kj::SECONDS) + " s; the last problem: " + problem +
                         (hasLoggedIn() || hasHeard_
                              ? ""
                              : "; is the cluster running? `tarcil up` starts one on this machine"));
    }
  }
  // Through all agents without a pause, then again with pauses that grow.
  if (failuresInRow_ % agents_.size() != 0) return kj::READY_NOW;
  const size_t round = std::min<size_t>(failuresInRow_ / agents_.size(), 8);
  return net_.timer.afterDelay(std::min(kFirstPause * (1 << round), kMaxPause));
}

kj::Promise<kj::Own<Client::Link>> Client::link() {
  KJ_IF_MAYBE (present, link_) {
    return present->addBranch();
  }
  return link_.emplace(logIn(agent()).fork()).addBranch();
}

kj::Promise<kj::Own<Client::Link>> Client::logIn(const std::string& agent) {
  const uint64_t number = linkNumber_;
  const auto tooLate = [this]() {
    return net_.timer.afterDelay(options_.loginTimeout).then([]() -> kj::Promise<void> {
      return disconnected("it did not let us in in time");
    });
  };
  return connectToAgent(net_, agent)
      .exclusiveJoin(tooLate().then([]() -> kj::Own<Connection> { KJ_UNREACHABLE; }))
      .then([this, number, tooLate](kj::Own<Connection>&& connection) {
        auto request = connection->bootstrap().castAs<wire::AgentGate>().loginRequest();
        request.setToken(token_.c_str());
        auto login = request.send();
        auto port = login.getClient();
        auto user = port.userRequest().send().getPort();
        auto gone = connection->onDisconnect();
        auto made = kj::refcounted<Link>(kj::mv(connection), Session{kj::mv(port), kj::mv(user)});
        auto taken = login.then([this, number](capnp::Response<wire::AgentGate::LoginResults>&& answer) {
          caller_ = read(answer.getCaller());
          if (number == linkNumber_) loggedInAt_ = net_.timer.now();
        });
        made->broken =
            taken.exclusiveJoin(tooLate())
                .then([gone = kj::mv(gone)]() mutable { return kj::mv(gone); })
                .then([]() -> kj::Promise<void> { return disconnected("the connection was lost"); })
                .fork();
        return made;
      });
}

}  // namespace tarcil
