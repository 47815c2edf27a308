#include "identity/logic/member_table.h"

#include <algorithm>

#include "core/base/units.h"

namespace tarcil {
namespace {

std::string described(const MemberRecord& member) {
  return described(Identity{member.role, member.name});
}

bool isGood(const MemberCertificate& certificate, WallTime now) {
  return !certificate.isRevoked && now < certificate.until;
}

void dropExpired(MemberRecord& member, WallTime now) {
  std::erase_if(member.certificates, [now](const MemberCertificate& each) { return each.until <= now; });
}

}  // namespace

MemberTable::MemberTable(std::vector<MemberRecord> stored) {
  for (MemberRecord& member : stored) {
    Key key{member.role, member.name};
    members_.insert_or_assign(std::move(key), std::move(member));
  }
}

Result<MemberRecord> MemberTable::invite(MemberRole role, const std::string& name,
                                         const Invitation& invitation, WallTime now) {
  const auto found = members_.find({role, name});
  if (found == members_.end() && members_.size() >= kMaxMembers) {
    return Error{ErrorCode::kExhausted,
                 "the cluster has " + std::to_string(kMaxMembers) + " members, as many as it takes"};
  }
  MemberRecord member = found == members_.end() ? MemberRecord{role, name} : found->second;
  dropExpired(member, now);
  const auto good = std::ranges::find_if(member.certificates,
                                         [now](const MemberCertificate& each) { return isGood(each, now); });
  if (good != member.certificates.end()) {
    return Error{ErrorCode::kConflict, "the name is taken: " + described(member) +
                                           " has a certificate until " + formatTime(good->until) +
                                           "; choose another, or revoke it: tarcil certificate revoke " +
                                           std::string(tarcil::name(role)) + " " + name};
  }
  member.invitation = invitation;
  return members_[{role, name}] = std::move(member);
}

Result<MemberRecord> MemberTable::join(const Sha256& word, const MemberCertificate& certificate,
                                       WallTime now) {
  MemberRecord* invited = nullptr;
  for (auto& [key, member] : members_) {
    // All of them are looked at, so that nobody learns by the time it takes how close a guess was.
    if (member.invitation && isSameSecret(member.invitation->word, word)) invited = &member;
  }
  if (invited == nullptr) {
    return denied(
        "no such word is out: it was used, replaced by a later one, or revoked; make a new one with `tarcil "
        "join-token`");
  }
  if (invited->invitation->until <= now) {
    return denied("the word expired at " + formatTime(invited->invitation->until) +
                  "; make a new one with `tarcil join-token`");
  }
  invited->invitation.reset();
  dropExpired(*invited, now);
  invited->certificates.push_back(certificate);
  return *invited;
}

Result<MemberRecord> MemberTable::renew(const Identity& shown, const MemberCertificate& certificate,
                                        WallTime now) {
  if (Status admitted = admits(shown); !admitted) return admitted.error();
  MemberRecord& member =
      members_.try_emplace({shown.role, shown.name}, MemberRecord{shown.role, shown.name}).first->second;
  dropExpired(member, now);
  if (member.certificates.size() >= kMaxCertificatesOfMember) {
    return Error{ErrorCode::kExhausted, described(shown) + " has " +
                                            std::to_string(kMaxCertificatesOfMember) +
                                            " certificates that have not expired, as many as one may have"};
  }
  member.certificates.push_back(certificate);
  return member;
}

std::optional<MemberRecord> MemberTable::note(const Identity& identity,
                                              const MemberCertificate& certificate) {
  MemberRecord& member =
      members_.try_emplace({identity.role, identity.name}, MemberRecord{identity.role, identity.name})
          .first->second;
  const bool isKnown = std::ranges::find(member.certificates, certificate.serial,
                                         &MemberCertificate::serial) != member.certificates.end();
  if (isKnown || member.certificates.size() >= kMaxCertificatesOfMember) return std::nullopt;
  member.certificates.push_back(certificate);
  return member;
}

Result<MemberRecord> MemberTable::revoke(MemberRole role, const std::string& name) {
  const auto found = members_.find({role, name});
  if (found == members_.end()) {
    return notFound("no " + described(Identity{role, name}) +
                    " has a certificate or a word; `tarcil certificate list` shows who has");
  }
  found->second.invitation.reset();
  for (MemberCertificate& certificate : found->second.certificates) certificate.isRevoked = true;
  return found->second;
}

std::vector<MemberTable::Key> MemberTable::forgetExpired(WallTime now) {
  std::vector<Key> forgotten;
  for (auto& [key, member] : members_) {
    dropExpired(member, now);
    if (member.invitation && member.invitation->until <= now) member.invitation.reset();
    if (!member.invitation && member.certificates.empty()) forgotten.push_back(key);
  }
  for (const Key& key : forgotten) members_.erase(key);
  return forgotten;
}

Status MemberTable::admits(const Identity& identity) const {
  const auto found = members_.find({identity.role, identity.name});
  if (found == members_.end()) return {};
  const auto& certificates = found->second.certificates;
  const auto it = std::ranges::find(certificates, identity.serial, &MemberCertificate::serial);
  if (it == certificates.end() || !it->isRevoked) return {};
  return denied("the certificate of " + described(identity) +
                " is revoked; it joins anew with a word of `tarcil join-token`");
}

std::vector<uint64_t> MemberTable::revokedSerials() const {
  std::vector<uint64_t> serials;
  for (const auto& [key, member] : members_) {
    for (const MemberCertificate& certificate : member.certificates) {
      if (certificate.isRevoked) serials.push_back(certificate.serial);
    }
  }
  std::ranges::sort(serials);
  return serials;
}

}  // namespace tarcil
