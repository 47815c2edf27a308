#include "latebinding/pool_lease.h"

#include <algorithm>

namespace tarcil::late {

std::optional<PoolAnswer> handle(PoolLease& lease, const PoolReport& report, const RuSet& free) {
  if (report.incarnation < lease.incarnation) return std::nullopt;
  if (report.incarnation > lease.incarnation) {
    lease = PoolLease{.incarnation = report.incarnation};
  } else if (report.sequence <= lease.answer.sequence) {
    return report.sequence == lease.answer.sequence ? std::optional(lease.answer) : std::nullopt;
  }
  for (RuIndex ru : report.returned.first(report.returned.size())) lease.held.erase(ru);
  const uint32_t held = lease.held.size();
  lease.answer = {report.incarnation, report.sequence, {}};
  for (RuIndex ru : free.first(report.wanted - std::min(report.wanted, held))) {
    lease.answer.granted.insert(ru);
    lease.held.insert(ru);
  }
  return lease.answer;
}

}  // namespace tarcil::late
