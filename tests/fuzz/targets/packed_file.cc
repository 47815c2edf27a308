// Files that may be packed by gzip: traces and recordings.
#include "formats/packed_file.h"

#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/text_errors.h"

namespace tarcil::fuzz {
namespace {

constexpr size_t kMostBytes = 100'000;

void check(const Bytes& input) {
  const MemoryFile file(input);
  const auto whole = readPackedFile(file.path(), kMostBytes);
  const auto part = readPackedFile(file.path(), kMostBytes, CutOff::kAccept);
  for (const auto& text : {whole, part}) {
    if (!text) requireBegins(text.error(), file.path() + ": ");
    require(!text || text->size() <= kMostBytes, "it is unpacked beyond the bound");
  }
  require(!whole || (part && *part == *whole), "a whole file reads another way where its end may be missing");
}

}  // namespace

const Target kPackedFile = {"packed_file", check, noSeeds,
                            [](const Bytes& input, Rng& rng) { return mutated(input, rng); }};

}  // namespace tarcil::fuzz
