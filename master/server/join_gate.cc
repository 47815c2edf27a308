#include "master/server/join_gate.h"

#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

class JoinGateImpl final : public wire::JoinGate::Server {
 public:
  explicit JoinGateImpl(Registrar& registrar) : registrar_(registrar) {}

  kj::Promise<void> join(JoinContext context) override {
    auto params = context.getParams();
    return registrar_.join(text(params.getWord()), text(params.getRequest()))
        .then([this, context](std::string&& certificate) mutable {
          auto results = context.getResults();
          results.setCertificate(text(certificate));
          results.setMaster(text(registrar_.master()));
        });
  }

 private:
  Registrar& registrar_;
};

}  // namespace

wire::JoinGate::Client makeJoinGate(Registrar& registrar) {
  return kj::heap<JoinGateImpl>(registrar);
}

}  // namespace tarcil
