// The examples of decoding.h as values.
#pragma once

#include <capnp/serialize.h>

#include "schema/convert.h"
#include "schema/convert_cron.h"
#include "schema/convert_profile.h"
#include "tests/fuzz/decoding.h"
#include "tests/fuzz/message_mutation.h"

namespace tarcil::fuzz {

template <typename W>
auto example() {
  const Bytes bytes = exampleOf(capnp::Schema::from<W>());
  const auto words = wordsOf(bytes.data(), bytes.size());
  capnp::FlatArrayMessageReader message(words);
  return read(message.getRoot<W>());
}

}  // namespace tarcil::fuzz
