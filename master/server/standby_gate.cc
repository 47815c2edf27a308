#include "master/server/standby_gate.h"

#include "rpc/errors.h"

namespace tarcil {
namespace {

class StandbyGateImpl final : public wire::MasterGate::Server {
 public:
  explicit StandbyGateImpl(std::function<MasterStanding()> standing) : standing_(std::move(standing)) {}

  kj::Promise<void> login(LoginContext) override { return refusal(); }
  kj::Promise<void> renewCertificate(RenewCertificateContext) override { return refusal(); }

  kj::Promise<void> standing(StandingContext context) override {
    write(standing_(), context.getResults().initStanding());
    return kj::READY_NOW;
  }

 private:
  // Unavailable: whoever asked goes on to the next master.
  kj::Exception refusal() const {
    const MasterStanding standing = standing_();
    const std::string who = standing.leader.empty() ? "no master leads at the moment"
                                                    : "the master at " + standing.leader + " leads (term " +
                                                          std::to_string(standing.term) + ")";
    return toException({ErrorCode::kUnavailable, "not_leader: " + who});
  }

  const std::function<MasterStanding()> standing_;
};

}  // namespace

wire::MasterGate::Client makeStandbyGate(std::function<MasterStanding()> standing) {
  return kj::heap<StandbyGateImpl>(std::move(standing));
}

}  // namespace tarcil
