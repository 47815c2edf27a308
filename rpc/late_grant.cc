#include "rpc/late_grant.h"

#include <capnp/message.h>

#include <utility>

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

std::string signedPart(LateGrant grant) {
  grant.signature.clear();
  capnp::MallocMessageBuilder message;
  write(grant, message.initRoot<wire::LateGrant>());
  return "tarcil late grant 1" + convert::canonical(message.getRoot<wire::LateGrant>().asReader());
}

}  // namespace

LateGrant signedGrant(LateGrant grant, const SigningKey& key) {
  grant.signature = key.sign(signedPart(grant));
  return grant;
}

bool isSignedBy(const LateGrant& grant, const PublicKey& key) {
  return isSignatureOf(signedPart(grant), key, grant.signature);
}

void write(const LateGrant& grant, wire::LateGrant::Builder to) {
  to.setAgent(convert::text(grant.agent));
  to.setUser(convert::text(grant.user));
  to.setRunAs(convert::text(grant.runAs));
  to.setUntil(toWire(grant.until));
  to.setSignature(convert::data(grant.signature));
}

LateGrant read(wire::LateGrant::Reader from) {
  return {convert::text(from.getAgent()), convert::text(from.getUser()), convert::text(from.getRunAs()),
          wallTime(from.getUntil()), convert::data(from.getSignature())};
}

}  // namespace tarcil
