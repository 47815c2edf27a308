// The names that operators give: agents, servers, platforms, racks, attributes. They end up in paths, in keys
// of the store, in constraints and in tables, so they are kept plain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tarcil {

inline constexpr size_t kMaxNameCharacters = 128;

// A name of 1 to `most` ASCII letters, digits, dots, dashes and underscores that starts with neither dot
// nor dash.
bool isPlainName(std::string_view name, size_t most);

// Invalid where it is no plain name of at most kMaxNameCharacters; the message begins with `what` (a flag,
// a field).
Status checkName(const std::string& what, std::string_view name);

}  // namespace tarcil
