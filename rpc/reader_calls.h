// Which calls of an interface role read may make, as the schema says (annotation forReaders of types.capnp).
#pragma once

#include <capnp/schema.h>

#include <vector>

namespace tarcil {

// By method. Of the interface alone, and not of those that it extends.
std::vector<bool> methodsForReaders(const capnp::InterfaceSchema& interface);

// Looked up once. Methods of other interfaces are not for readers.
template <typename Port>
bool isForReaders(uint64_t interface, uint16_t method) {
  static const std::vector<bool> forReaders = methodsForReaders(capnp::Schema::from<Port>());
  return interface == capnp::typeId<Port>() && method < forReaders.size() && forReaders[method];
}

// As the schema has it; empty of other interfaces.
template <typename Port>
const char* nameOfMethod(uint64_t interface, uint16_t method) {
  const auto methods = capnp::Schema::from<Port>().getMethods();
  return interface == capnp::typeId<Port>() && method < methods.size()
             ? methods[method].getProto().getName().cStr()
             : "";
}

}  // namespace tarcil
