#include "rpc/later_leader.h"

#include <utility>

#include "schema/master.capnp.h"

namespace tarcil {
namespace {

kj::Promise<void> ask(wire::MasterGate::Client master, const std::string& token, HighestTerm& highest,
                      bool isAttached) {
  auto request = master.laterLeaderRequest();
  request.setToken(token.c_str());
  request.setTerm(highest.term());
  return request.send().then(
      [&highest, isAttached](auto&& answer) -> kj::Promise<void> {
        const bool isLater = answer.getTerm() > highest.term();
        highest.hear(answer.getTerm());
        // To the leader of that term, of which another one has told before.
        if (isAttached && !isLater) return kj::NEVER_DONE;
        return kj::READY_NOW;
      },
      [](kj::Exception&& exception) -> kj::Promise<void> {
        if (exception.getType() == kj::Exception::Type::UNIMPLEMENTED) return kj::NEVER_DONE;
        return kj::mv(exception);
      });
}

}  // namespace

Changed laterLeader(Net net, std::string token, HighestTerm& highest) {
  return [net, token = std::move(token), &highest](capnp::Capability::Client peer, const std::string& address,
                                                   bool isAttached) {
    return ask(peer.castAs<wire::MasterGate>(), tokenFor(net, address, token), highest, isAttached);
  };
}

}  // namespace tarcil
