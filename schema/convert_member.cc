#include "schema/convert_member.h"

#include <algorithm>

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

wire::MemberRole toWire(MemberRole role) {
  return toWireEnum<wire::MemberRole>(role);
}

MemberRole fromWire(wire::MemberRole role) {
  return fromWireEnum<MemberRole>(role, 3, "MemberRole");
}

void write(const MemberRecord& value, wire::Member::Builder to) {
  to.setRole(toWire(value.role));
  to.setName(text(value.name));
  if (value.invitation) {
    to.setWord(kj::arrayPtr(value.invitation->word.data(), value.invitation->word.size()));
    to.setWordUntil(toWire(value.invitation->until));
  }
  auto certificates = to.initCertificates(static_cast<uint32_t>(value.certificates.size()));
  for (uint32_t i = 0; i < certificates.size(); ++i) {
    const MemberCertificate& certificate = value.certificates[i];
    certificates[i].setSerial(certificate.serial);
    certificates[i].setFrom(toWire(certificate.from));
    certificates[i].setUntil(toWire(certificate.until));
    certificates[i].setRevoked(certificate.isRevoked);
  }
}

MemberRecord read(wire::Member::Reader from) {
  MemberRecord value{.role = fromWire(from.getRole()), .name = text(from.getName())};
  if (const auto word = from.getWord(); from.getWordUntil() != 0) {
    Invitation& invitation = value.invitation.emplace();
    KJ_REQUIRE(word.size() == invitation.word.size() || word.size() == 0, "a digest of another size",
               word.size());
    std::ranges::copy(word, invitation.word.begin());
    invitation.until = wallTime(from.getWordUntil());
  }
  for (auto each : elements(from.getCertificates())) {
    value.certificates.push_back(
        {each.getSerial(), wallTime(each.getFrom()), wallTime(each.getUntil()), each.getRevoked()});
  }
  return value;
}

void write(const MasterKeys& value, wire::MasterKeys::Builder to) {
  to.setAuthority(text(value.authority));
  to.setTokens(text(value.tokens));
  to.setSecrets(kj::arrayPtr(value.secrets.bytes().data(), value.secrets.size()));
}

MasterKeys read(wire::MasterKeys::Reader from) {
  const auto secrets = from.getSecrets();
  return {text(from.getAuthority()), text(from.getTokens()),
          SecretBytes(std::span<const uint8_t>(secrets.begin(), secrets.size()))};
}

}  // namespace tarcil
