// Gives libFuzzer valid messages to begin with: one file for each kind in the folder named.
#include <cstdio>
#include <fstream>

#include "tests/hostile/decoding.h"

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "seed_corpus FOLDER\n"), 2;
  const auto examples = tarcil::hostile::examples();
  for (size_t kind = 0; kind < examples.size(); ++kind) {
    std::ofstream out(std::string(argv[1]) + "/example-" + std::to_string(kind), std::ios::binary);
    out.put(static_cast<char>(kind));
    out.write(reinterpret_cast<const char*>(examples[kind].data()),
              static_cast<std::streamsize>(examples[kind].size()));
    if (!out) return std::fprintf(stderr, "%s: cannot be written\n", argv[1]), 1;
  }
  return 0;
}
