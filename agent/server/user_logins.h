// Users who log in at the agent: the master says who they are, and the agent remembers it for as long as the
// master would say so again.
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "core/base/result.h"
#include "core/state/caller.h"
#include "env/stop.h"
#include "rpc/wait_list.h"
#include "schema/master.capnp.h"

namespace tarcil {

// Single-threaded. Outlives the promises that it gives.
class UserLogins final {
 public:
  // Logins without a session that are remembered; where one more comes these are forgotten, and asked about
  // again.
  static constexpr size_t kMaxRemembered = 10'000;
  // How long somebody waits where there is no master, so that the next one is noticed at once; and how many
  // do.
  static constexpr auto kMaxWait = 1 * kj::SECONDS;
  static constexpr size_t kMaxWaiting = 10'000;

  // `timer` outlives it.
  explicit UserLogins(kj::Timer& timer) : timer_(timer) {}

  // What a user shows: a token, or that the agent's machine knows them by this name.
  struct Proof {
    std::string token;
    std::string localUser;  // counts where the token is empty
    std::string from{};     // the address, which the master tells its audit log

    auto operator<=>(const Proof&) const = default;
  };
  struct User {
    Caller caller;
    wire::UserPort::Client port;
  };
  // Asks the master, or remembers. Fails as Denied where the master lets nobody in by this, and as
  // Unavailable where there is none for kMaxWait, or kMaxWaiting wait already.
  kj::Promise<User> logIn(const Proof& shown);

  // Fails as soon as what was shown no longer makes its holder this caller. While the master is away it goes
  // on; one that is back is asked at once.
  kj::Promise<void> untilEnded(const Proof& shown, const Caller& caller);

  // The link to the master stands, or why it does not.
  void linked(wire::AgentPort::Client master);
  void unlinked(const std::string& problem);
  // Asks about everybody anew.
  void forget();

 private:
  class Session;
  struct Login {
    kj::Maybe<User> user;                  // as the master has said
    kj::Promise<void> watching = nullptr;  // for the end of that
    std::list<Session*> sessions;
  };

  kj::Promise<User> ask(const Proof& shown);
  kj::Promise<void> untilLinked();
  kj::Exception noMaster() const;
  void remember(const Proof& shown, User user);
  void forget(const Proof& shown);
  // Holds the sessions against what the master says now.
  void lookAgain(const Proof& shown);
  void endSessions(const Proof& shown, const Error& why);

  kj::Timer& timer_;
  kj::Maybe<wire::AgentPort::Client> master_;
  std::string problem_ = "the master is out of reach";
  uint64_t asked_ = 0;  // counts links and forget(): what was asked before does not count
  std::map<Proof, Login> logins_;
  WaitList<int> links_;
  size_t waiting_ = 0;  // for a link
  StopsIfFailed stops_{"logins"};
  kj::TaskSet looks_{stops_};
};

}  // namespace tarcil
