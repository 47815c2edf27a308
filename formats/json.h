// JSON whose keys keep the order in which they were written.
#pragma once

#include <nlohmann/json.hpp>

namespace tarcil {

using Json = nlohmann::ordered_json;

}  // namespace tarcil
