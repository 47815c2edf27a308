// The machines of a cluster: who was invited, who has which certificates, and whose are revoked. Decides, and
// signs nothing.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "identity/logic/member.h"

namespace tarcil {

// A member has few at a time: one, and those that it renewed. Whoever asks for more is refused until the
// oldest expires.
inline constexpr size_t kMaxCertificatesOfMember = 8;
inline constexpr size_t kMaxMembers = 100'000;

// Whoever calls it stores each MemberRecord that it gives, before the answer is told. Messages are for
// people.
class MemberTable final {
 public:
  using Key = std::pair<MemberRole, std::string>;

  explicit MemberTable(std::vector<MemberRecord> stored = {});

  // An earlier word for this name is void. Conflict where the name has a certificate that is good; Exhausted
  // where there are too many members.
  Result<MemberRecord> invite(MemberRole role, const std::string& name, const Invitation& invitation,
                              WallTime now);

  // Whom the word invites; it is used up. Denied where it is none that is out, or its time is over.
  // O(members), whatever the word.
  Result<MemberRecord> join(const Sha256& word, const MemberCertificate& certificate, WallTime now);

  // A certificate in place of the one that the caller showed. Denied where that is revoked; Exhausted where
  // it has too many.
  Result<MemberRecord> renew(const Identity& shown, const MemberCertificate& certificate, WallTime now);

  // A certificate that this cluster's authority signed without being asked here, as a master's own; nothing
  // where it is known already, or the name has too many.
  std::optional<MemberRecord> note(const Identity& identity, const MemberCertificate& certificate);

  // Every certificate of the name, and a word that is out for it. NotFound where there is neither.
  Result<MemberRecord> revoke(MemberRole role, const std::string& name);

  // Drops what has expired. Those that have nothing left are forgotten: what is stored of them is to be
  // erased.
  std::vector<Key> forgetExpired(WallTime now);

  // Denied where the certificate with this serial was revoked. One that is not known here was signed by the
  // same authority, and is good.
  Status admits(const Identity& identity) const;

  // Ascending.
  std::vector<uint64_t> revokedSerials() const;

  // Named by role and name, in that order.
  const std::map<Key, MemberRecord>& all() const { return members_; }

 private:
  std::map<Key, MemberRecord> members_;
};

}  // namespace tarcil
