// Why something is so, in the words of a peer, for people.
#pragma once

#include <cstddef>
#include <string>

namespace tarcil {

// The master keeps and passes on no more of what an agent or a monitor says.
inline constexpr size_t kMaxReasonBytes = 1'000;

// Cut to that, in front of a character, with "..." at the end.
std::string asReason(std::string text);

}  // namespace tarcil
