#include "core/base/ids.h"

#include "core/base/hex.h"

namespace tarcil {

std::string toString(const JobId& id) {
  return hexOf(id.bytes);
}

std::optional<JobId> parseJobId(std::string_view text) {
  JobId id;
  if (!readHex(text, id.bytes)) return std::nullopt;
  return id;
}

}  // namespace tarcil
