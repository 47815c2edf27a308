// The description of what a gateway serves, for programs: OpenAPI 3.1, made from the table of routes.
#pragma once

#include "formats/json.h"

namespace tarcil::gateway {

const Json& openApi();

}  // namespace tarcil::gateway
