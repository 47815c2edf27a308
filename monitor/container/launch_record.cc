#include "monitor/container/launch_record.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <string.h>

#include "schema/convert.h"

namespace tarcil {

std::string encodeLaunch(const LaunchSpec& spec) {
  capnp::MallocMessageBuilder message;
  write(spec, message.initRoot<wire::LaunchSpec>());
  const kj::Array<capnp::word> words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  return std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

std::optional<LaunchSpec> decodeLaunch(std::string_view bytes, AllocationId allocation) {
  auto words = kj::heapArray<capnp::word>(bytes.size() / sizeof(capnp::word));
  if (words.size() == 0) return std::nullopt;
  ::memcpy(words.begin(), bytes.data(), words.size() * sizeof(capnp::word));
  std::optional<LaunchSpec> spec;
  const auto malformed = kj::runCatchingExceptions([&words, &spec] {
    capnp::FlatArrayMessageReader message(words);
    spec = read(message.getRoot<wire::LaunchSpec>());
  });
  return malformed == nullptr && spec->allocation == allocation ? spec : std::nullopt;
}

}  // namespace tarcil
