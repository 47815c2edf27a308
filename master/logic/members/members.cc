#include "master/logic/members/members.h"

#include "core/base/units.h"
#include "master/logic/audit/audited.h"

namespace tarcil::master {
namespace {

MemberCertificate certificateOf(const EventContext& context, uint64_t serial, Duration life) {
  return {serial, context.now.wall - kClockSlack, context.now.wall + life};
}

struct Change {
  EventContext& context;
  MemberTable& members = context.tables.members;

  Result<MemberRecord> operator()(const MemberInvited& invited) {
    if (Status named = checkMemberName("name", invited.role, invited.name); !named) return named.error();
    if (invited.role == MemberRole::kMaster && !invited.isOverUnixSocket) {
      return denied(
          "a word for a master, which gets the keys of the cluster, is made on the machine of the master "
          "that "
          "leads; `tarcil master list` says which that is");
    }
    if (invited.life < kLeastInvitation || invited.life > kMostInvitation) {
      return invalid("life: " + formatDuration(invited.life) + " is out of range; write " +
                     formatDuration(kLeastInvitation) + " to " + formatDuration(kMostInvitation));
    }
    const WallTime now = context.now.wall;
    return members.invite(invited.role, invited.name, {invited.word, now + invited.life}, now);
  }
  Result<MemberRecord> operator()(const MemberJoined& joined) {
    return members.join(joined.word, certificateOf(context, joined.serial, joined.life), context.now.wall);
  }
  Result<MemberRecord> operator()(const CertificateRenewed& renewed) {
    return members.renew(renewed.shown, certificateOf(context, renewed.serial, renewed.life),
                         context.now.wall);
  }
  Result<MemberRecord> operator()(const CertificateNoted& noted) {
    if (auto record = members.note(noted.identity, noted.certificate)) return std::move(*record);
    return Error{ErrorCode::kConflict,
                 described(noted.identity) + " has that certificate, or too many, already"};
  }
  Result<MemberRecord> operator()(const MemberRevoked& revoked) {
    return members.revoke(revoked.role, revoked.name);
  }
};

}  // namespace

void changeMembers(EventContext& context, const MembersChanged& event) {
  MemberTable& members = context.tables.members;
  const auto before = members.revokedSerials();
  for (auto& [role, name] : members.forgetExpired(context.now.wall))
    context.out.erase(EraseMember{role, name});
  Result<MemberRecord> changed = std::visit(Change{context}, event.change);
  if (changed) context.out.put(*changed);
  if (auto revoked = members.revokedSerials(); revoked != before) {
    context.out.send(PublishRevoked{std::move(revoked)});
  }
  audit(context, event, changed);
  context.out.send(AnswerMembers{event.request, std::move(changed)});
}

}  // namespace tarcil::master
