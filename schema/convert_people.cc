#include "schema/convert_people.h"

#include <algorithm>
#include <limits>

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {

using namespace convert;

namespace {

constexpr int64_t kNoBound = -1;

template <typename T>
int64_t boundOnWire(const std::optional<T>& bound) {
  if (!bound) return kNoBound;
  return static_cast<int64_t>(std::min<uint64_t>(*bound, std::numeric_limits<int64_t>::max()));
}

template <typename T>
std::optional<T> readBound(int64_t bound, const char* what) {
  if (bound == kNoBound) return std::nullopt;
  KJ_REQUIRE(std::in_range<T>(bound), "a bound is out of range", what, bound);
  return static_cast<T>(bound);
}

}  // namespace

wire::Role toWire(Role role) {
  return toWireEnum<wire::Role>(role);
}

Role fromWire(wire::Role role) {
  return fromWireEnum<Role>(role, 5, "Role");
}

void write(const UserRecord& value, wire::User::Builder to) {
  to.setName(text(value.name));
  to.setAccount(text(value.account));
  to.setRole(toWire(value.role));
  writeTexts(value.runAs, to.initRunAs(static_cast<uint32_t>(value.runAs.size())));
  to.setChangedBy(text(value.changedBy));
}

UserRecord read(wire::User::Reader from) {
  return {.name = text(from.getName()),
          .account = text(from.getAccount()),
          .role = fromWire(from.getRole()),
          .runAs = readTexts(from.getRunAs()),
          .changedBy = text(from.getChangedBy())};
}

void write(const AccountRecord& value, wire::Account::Builder to) {
  to.setName(text(value.name));
  to.setShares(value.shares);
  to.setRunningUnits(boundOnWire(value.bounds.runningUnits));
  to.setWaitingTasks(boundOnWire(value.bounds.waitingTasks));
  to.setSpecificationBytes(boundOnWire(value.bounds.specificationBytes));
  to.setHighestPriority(value.bounds.highestPriority);
  to.setMayOptOut(value.bounds.mayOptOut);
  to.setChangedBy(text(value.changedBy));
}

AccountRecord read(wire::Account::Reader from) {
  return {.name = text(from.getName()),
          .shares = from.getShares(),
          .bounds = {.runningUnits = readBound<uint32_t>(from.getRunningUnits(), "runningUnits"),
                     .waitingTasks = readBound<uint32_t>(from.getWaitingTasks(), "waitingTasks"),
                     .specificationBytes =
                         readBound<uint64_t>(from.getSpecificationBytes(), "specificationBytes"),
                     .highestPriority = from.getHighestPriority(),
                     .mayOptOut = from.getMayOptOut()},
          .changedBy = text(from.getChangedBy())};
}

void write(const TokenRecord& value, wire::UserToken::Builder to) {
  to.setId(value.id);
  to.setDigest(kj::arrayPtr(value.digest.data(), value.digest.size()));
  to.setUser(text(value.user));
  to.setRole(toWire(value.role));
  writeTexts(value.runAs, to.initRunAs(static_cast<uint32_t>(value.runAs.size())));
  to.setMade(toWire(value.made));
  to.setUntil(toWire(value.until));
  to.setMadeBy(text(value.madeBy));
}

TokenRecord read(wire::UserToken::Reader from) {
  TokenRecord value{.id = from.getId(),
                    .user = text(from.getUser()),
                    .role = fromWire(from.getRole()),
                    .runAs = readTexts(from.getRunAs()),
                    .made = wallTime(from.getMade()),
                    .until = wallTime(from.getUntil()),
                    .madeBy = text(from.getMadeBy())};
  const auto digest = from.getDigest();
  KJ_REQUIRE(digest.size() == value.digest.size() || digest.size() == 0, "a digest of another size",
             digest.size());
  std::ranges::copy(digest, value.digest.begin());
  return value;
}

}  // namespace tarcil
