// Who a certificate is for. The rest of the cluster believes nothing of a certificate but its common name,
// which is this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tarcil {

// The parts that machines play; people have no certificates.
enum class MemberRole : uint8_t { kMaster, kAgent, kMonitor };

std::string_view name(MemberRole role);  // "master", "agent", "monitor"
std::optional<MemberRole> memberRoleNamed(std::string_view name);

// A machine of the cluster under the name that its operator gave it.
struct Identity {
  MemberRole role = MemberRole::kMaster;
  std::string name;
  uint64_t serial = 0;  // of the certificate: random, never 0

  bool operator==(const Identity&) const = default;
};

// "ROLE/NAME/SERIAL", the serial as 16 hexadecimal digits.
std::string commonName(const Identity& identity);

// Nothing for any text that commonName() does not write.
std::optional<Identity> parseIdentity(std::string_view commonName);

// "monitor s7", for messages.
std::string described(const Identity& identity);

// Whether the identity may speak under this name: its own, or, where a monitor's ends in *, any that begins
// with what is before the star. Such a one stands for many servers (docs/emulated-servers.md).
bool mayBeCalled(const Identity& identity, std::string_view name);

// Invalid where no certificate is made for this name; the message begins with `what`.
Status checkMemberName(const std::string& what, MemberRole role, std::string_view name);

}  // namespace tarcil
