#include "core/state/reason.h"

#include <string_view>

namespace tarcil {

std::string asReason(std::string text) {
  constexpr std::string_view kCut = "...";
  if (text.size() <= kMaxReasonBytes) return text;
  size_t end = kMaxReasonBytes - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.replace(end, std::string::npos, kCut);
}

}  // namespace tarcil
