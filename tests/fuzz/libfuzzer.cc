// libFuzzer's end of the target that the build names in TARCIL_FUZZ_TARGET.
//   tarcil_fuzz_NAME [libFuzzer's options] [FOLDER or FILE...]
//   tarcil_fuzz_NAME --write-seeds=FOLDER    the seeds that are made and not kept, one file each
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>

#include "tests/fuzz/target.h"

namespace {

using tarcil::fuzz::Bytes;

constexpr const tarcil::fuzz::Target& kTarget = tarcil::fuzz::TARCIL_FUZZ_TARGET;
constexpr std::string_view kWriteSeeds = "--write-seeds=";

[[noreturn]] void writeSeeds(const std::string& folder) {
  size_t number = 0;
  for (const Bytes& seed : kTarget.seeds()) {
    std::ofstream out(folder + "/seed-" + std::to_string(number++), std::ios::binary);
    out.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    out.close();
    if (!out) {
      std::fprintf(stderr, "%s: cannot be written\n", folder.c_str());
      std::exit(1);
    }
  }
  std::exit(0);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): libFuzzer's names
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with(kWriteSeeds)) writeSeeds(std::string(argument.substr(kWriteSeeds.size())));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    kTarget.check(Bytes(data, data + size));
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "broken: %s\n", exception.what());
    std::abort();
  }
  return 0;
}

// Of four changes one is of bytes: what libFuzzer has seen the code compare them with is in it.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  tarcil::Rng rng(seed);
  if (rng.below(4) != 0) {
    const Bytes changed = kTarget.mutated(Bytes(data, data + size), rng);
    if (!changed.empty() && changed.size() <= most) {
      std::memcpy(data, changed.data(), changed.size());
      return changed.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}
// NOLINTEND(readability-identifier-naming)
