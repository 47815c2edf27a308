#include "etcd/client.h"

namespace tarcil::etcd {

std::string endOf(std::string prefix) {
  while (static_cast<uint8_t>(prefix.back()) == 0xff) prefix.pop_back();
  ++prefix.back();
  return prefix;
}

}  // namespace tarcil::etcd
