#include "schema/measurement_text.h"

#include <capnp/compat/json.h>
#include <capnp/message.h>

#include <algorithm>

#include "schema/convert.h"
#include "schema/convert_support.h"

namespace tarcil {
namespace {

// Deep enough for a profile with platforms.
constexpr size_t kMaxNested = 8;

bool isControl(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
}

Measurement decode(std::string_view text) {
  capnp::JsonCodec codec;
  codec.setMaxNestingDepth(kMaxNested);
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<wire::Measurement>();
  codec.decode(kj::arrayPtr(text.data(), text.size()), root);
  return read(root.asReader());
}

}  // namespace

std::string textOf(const Measurement& measurement) {
  capnp::JsonCodec codec;
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<wire::Measurement>();
  write(measurement, root);
  // Cap'n Proto 0.9.2 reads the escapes of some control characters as others: \u001b as U+0011.
  std::string problem = measurement.problem;
  std::ranges::replace_if(problem, isControl, ' ');
  root.setProblem(convert::text(problem));
  return std::string(codec.encode(root.asReader()).cStr()) + "\n";
}

Result<Measurement> parseMeasurement(std::string_view text) {
  if (text.size() > kMaxMeasurementBytes) {
    return invalid("it has more than " + std::to_string(kMaxMeasurementBytes) + " bytes");
  }
  Result<Measurement> parsed = invalid("it cannot be read");
  auto failure = kj::runCatchingExceptions([&]() { parsed = decode(text); });
  KJ_IF_MAYBE (exception, failure) {
    const auto why = exception->getDescription();
    return invalid(std::string(why.begin(), why.size()));
  }
  // Escaped or not.
  if (std::ranges::any_of(text, isControl) || (parsed && std::ranges::any_of(parsed->problem, isControl))) {
    return invalid("it has control characters");
  }
  return parsed;
}

}  // namespace tarcil
