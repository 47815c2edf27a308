// A user's connection to a cluster: logged in at one agent, and at another one when that is lost.
#pragma once

#include <capnp/capability.h>
#include <kj/async.h>
#include <kj/debug.h>
#include <kj/function.h>
#include <kj/timer.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/state/caller.h"
#include "rpc/connection.h"
#include "schema/agent.capnp.h"

namespace tarcil {

// What a login returns. Both are usable at once: calls are pipelined behind the login.
struct Session {
  wire::ClientPort::Client agent;
  wire::UserPort::Client user;
};

struct ClientOptions {
  // How long calls are repeated while no agent lets us in: before any has answered, be it that its master is
  // out of reach, and after one has. The first is shorter, because then the cluster is probably not there at
  // all; it still bridges a restart.
  kj::Duration firstPatience = 3 * kj::SECONDS;
  kj::Duration patience = 10 * kj::SECONDS;
  kj::Duration loginTimeout = 3 * kj::SECONDS;
  size_t first = 0;  // index of the agent that is tried first; a random one spreads the load
};

// Single-threaded. Must outlive the promises that it gives.
class Client {
 public:
  using Say = kj::Function<void(const std::string&)>;

  // Nothing is sent before the first ask(). `say` is called with one message for each outage. Requires:
  // agents is not empty.
  Client(Net net, std::vector<std::string> agents, std::string token, ClientOptions options, Say say);
  ~Client() noexcept(false);
  KJ_DISALLOW_COPY(Client);

  // Sends the request that `send(session)` makes, again at the next agent whenever the connection is lost or
  // the agent says Unavailable: only for calls that may be repeated (the schema says which). Fails with the
  // error that the cluster answered, or as Unavailable when no agent answered for as long as the options say.
  template <typename Send>
  auto ask(Send send) {
    using Answer = decltype(send(std::declval<Session&>()).wait(std::declval<kj::WaitScope&>()));
    auto answer = kj::heap<kj::Maybe<Answer>>();
    kj::Maybe<Answer>& slot = *answer;
    Request request = [send = kj::mv(send), &slot](Session& session) mutable {
      return send(session).then([&slot](Answer&& given) { slot = kj::mv(given); });
    };
    return untilAnswered(kj::mv(request)).then([answer = kj::mv(answer)]() mutable -> Answer {
      return kj::mv(KJ_ASSERT_NONNULL(*answer));
    });
  }

  // Whether any agent has accepted the token: before that, no call has reached the cluster.
  bool hasLoggedIn() const { return caller_.has_value(); }
  // As whom the last agent that accepted the token knows its user.
  const std::optional<Caller>& caller() const { return caller_; }

 private:
  using Request = kj::Function<kj::Promise<void>(Session&)>;
  struct Link;

  kj::Promise<void> untilAnswered(Request request);
  kj::Promise<void> attempt(Request& request);
  kj::Promise<void> recover(uint64_t linkNumber, const std::string& problem);
  kj::Promise<kj::Own<Link>> link();
  kj::Promise<kj::Own<Link>> logIn(const std::string& agent);
  const std::string& agent() const { return agents_[next_ % agents_.size()]; }

  const Net net_;
  const std::vector<std::string> agents_;
  const std::string token_;
  const ClientOptions options_;
  Say say_;

  size_t next_;              // the agent in use or to be tried
  uint64_t linkNumber_ = 0;  // counts links, so that one loss seen by many calls counts once
  uint32_t failuresInRow_ = 0;
  std::optional<Caller> caller_;
  bool hasHeard_ = false;  // from an agent
  kj::Maybe<kj::TimePoint> outageSince_;
  kj::Maybe<kj::TimePoint> loggedInAt_;  // of the present link
  kj::Maybe<kj::ForkedPromise<kj::Own<Link>>> link_;
};

}  // namespace tarcil
