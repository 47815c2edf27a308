#include "master/server/standby_gate.h"

#include <utility>

#include "rpc/errors.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

class StandbyGateImpl final : public wire::MasterGate::Server {
 public:
  StandbyGateImpl(const StandbyContext& standby, LetIn letIn) : standby_(standby), letIn_(std::move(letIn)) {}

  kj::Promise<void> login(LoginContext) override { return refusal(); }
  kj::Promise<void> renewCertificate(RenewCertificateContext) override { return refusal(); }

  kj::Promise<void> standing(StandingContext context) override {
    write(standby_.standing(), context.getResults().initStanding());
    return kj::READY_NOW;
  }

  kj::Promise<void> laterLeader(LaterLeaderContext context) override {
    const auto asked = context.getParams();
    requireRole(convert::text(asked.getToken()));
    letIn_(Peer::kRole);
    context.allowCancellation();
    return standby_.news.laterThan(asked.getTerm()).then([context](uint64_t term) mutable {
      context.getResults().setTerm(term);
    });
  }

 private:
  // Unavailable: whoever asked goes on to the next master.
  kj::Exception refusal() const {
    const MasterStanding standing = standby_.standing();
    const std::string who = standing.leader.empty() ? "no master leads at the moment"
                                                    : "the master at " + standing.leader + " leads (term " +
                                                          std::to_string(standing.term) + ")";
    return toException({ErrorCode::kUnavailable, "not_leader: " + who});
  }

  void requireRole(const std::string& token) const {
    if (letIn_.peer()) return;
    const auto caller = standby_.tokens.check(token);
    if (!caller) kj::throwFatalException(toException(caller.error()));
    if (isOfUser(caller->role)) kj::throwFatalException(toException(notForUsers()));
  }

  const StandbyContext& standby_;
  const LetIn letIn_;
};

}  // namespace

Error notForUsers() {
  return denied("who leads next is told to agents and monitors");
}

wire::MasterGate::Client makeStandbyGate(const StandbyContext& standby, LetIn letIn) {
  return kj::heap<StandbyGateImpl>(standby, std::move(letIn));
}

}  // namespace tarcil
