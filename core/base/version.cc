#include "core/base/version.h"

namespace tarcil {

const char* version() {
  return TARCIL_VERSION;
}

}  // namespace tarcil
