// Tortures a master: see torture_run.h. What came of it is for tarcil_torture_check to judge.
//   tarcil_torture --folder DIR [--seconds S] [--seed N] [--tarcil PROGRAM]
#include <CLI/CLI.hpp>
#include <cstdio>

#include "tests/torture/torture_run.h"

int main(int argc, char** argv) {
  tarcil::torture::RunOptions options;
  options.tarcil = TARCIL_BINARY;
  CLI::App app("Kills a master again and again while agents commit, and records what all were told.");
  app.add_option("--folder", options.folder, "Where to keep the history, the store and the log.")->required();
  app.add_option("--seconds", options.seconds, "How long.")->capture_default_str();
  app.add_option("--seed", options.seed, "Of what is asked for.")->capture_default_str();
  app.add_option("--tarcil", options.tarcil, "The program.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    auto io = kj::setupAsyncIo();
    tarcil::torture::torture(options, io);
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "tarcil_torture: %s\n", problem.what());
  } catch (const kj::Exception& problem) {
    std::fprintf(stderr, "tarcil_torture: %s\n", kj::str(problem).cStr());
  }
  return 1;
}
