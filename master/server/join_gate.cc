#include "master/server/join_gate.h"

#include "schema/convert_member.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

using convert::text;

class JoinGateImpl final : public wire::JoinGate::Server {
 public:
  JoinGateImpl(Registrar& registrar, LetIn letIn) : registrar_(registrar), letIn_(std::move(letIn)) {}

  kj::Promise<void> join(JoinContext context) override {
    auto params = context.getParams();
    return registrar_.join(text(params.getWord()), text(params.getRequest()), letIn_.address())
        .then([this, context](Registrar::Joined&& joined) mutable {
          auto results = context.getResults();
          results.setCertificate(text(joined.certificate));
          results.setMaster(text(registrar_.master()));
          if (joined.keys) write(*joined.keys, results.initKeys());
        });
  }

 private:
  Registrar& registrar_;
  const LetIn letIn_;
};

}  // namespace

wire::JoinGate::Client makeJoinGate(Registrar& registrar, LetIn letIn) {
  return kj::heap<JoinGateImpl>(registrar, std::move(letIn));
}

}  // namespace tarcil
