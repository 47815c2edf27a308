// When jobs are to be content with less: so many wait that turning places down for a margin costs more than
// it gains (docs/evaluation.md, "The defaults of the policy").
#pragma once

#include <cstddef>

namespace tarcil {

// Whether slots are judged without QualitySettings::margin: more jobs wait for a place than one for every
// hundred servers, and one besides. `waiting` counts the one that asks, too.
constexpr bool isCrowded(size_t waiting, size_t servers) {
  return waiting > 1 + servers / 100;
}

}  // namespace tarcil
