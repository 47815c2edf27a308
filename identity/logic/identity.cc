#include "identity/logic/identity.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/hex.h"
#include "core/base/names.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

constexpr std::array<std::pair<MemberRole, std::string_view>, 3> kRoles = {
    {{MemberRole::kMaster, "master"}, {MemberRole::kAgent, "agent"}, {MemberRole::kMonitor, "monitor"}}};

bool standsForMany(MemberRole role, std::string_view name) {
  return role == MemberRole::kMonitor && name.size() > 1 && name.back() == '*';
}

bool isMemberName(MemberRole role, std::string_view name) {
  if (standsForMany(role, name)) name.remove_suffix(1);
  return isPlainName(name, kMaxNameCharacters);
}

}  // namespace

std::string_view name(MemberRole role) {
  return std::ranges::find(kRoles, role, &std::pair<MemberRole, std::string_view>::first)->second;
}

std::optional<MemberRole> memberRoleNamed(std::string_view name) {
  const auto* const found = std::ranges::find(kRoles, name, &std::pair<MemberRole, std::string_view>::second);
  if (found == kRoles.end()) return std::nullopt;
  return found->first;
}

std::string commonName(const Identity& identity) {
  return std::string(name(identity.role)) + "/" + identity.name + "/" + hexOf(identity.serial);
}

std::optional<Identity> parseIdentity(std::string_view commonName) {
  const size_t first = commonName.find('/'), last = commonName.rfind('/');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  const auto role = memberRoleNamed(commonName.substr(0, first));
  const std::string_view name = commonName.substr(first + 1, last - first - 1);
  const auto serial = numberInHex(commonName.substr(last + 1));
  if (!role || !isMemberName(*role, name) || serial.value_or(0) == 0) return std::nullopt;
  return Identity{*role, std::string(name), *serial};
}

std::string described(const Identity& identity) {
  return std::string(name(identity.role)) + " " + identity.name;
}

bool mayBeCalled(const Identity& identity, std::string_view name) {
  if (!standsForMany(identity.role, identity.name)) return identity.name == name;
  return name.starts_with(std::string_view(identity.name).substr(0, identity.name.size() - 1));
}

Status checkMemberName(const std::string& what, MemberRole role, std::string_view name) {
  if (isMemberName(role, name)) return {};
  if (role == MemberRole::kMonitor && name.find('*') != std::string_view::npos) {
    return invalid(what + ": " + shown(name) +
                   " is no name; a star stands at its end and behind something, as in rack7-*");
  }
  return checkName(what, name);
}

}  // namespace tarcil
