// Misbehaves for a while, as one user of a running cluster, and tells what became of its calls, as JSON.
#include <fcntl.h>
#include <kj/async-io.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rpc/errors.h"
#include "rpc/token.h"
#include "tests/hostile/hostile_client.h"

namespace tarcil::hostile {
namespace {

// As many descriptors as the machine allows.
void takeDescriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int parseAndRun(int argc, char** argv) {
  std::string behaviour;
  std::string agent;
  std::string tokenFile;
  size_t connections = 16;
  double seconds = 10;
  std::string names;
  for (const Behaviour& each : behaviours()) {
    names += "\n  " + std::string(each.name) + ": " + std::string(each.what);
  }
  CLI::App app("A user of a running cluster who means harm. What it does:" + names);
  app.add_option("--behaviour", behaviour, "What it does.")->required();
  app.add_option("--agent", agent, "Address of the agent.")->required();
  app.add_option("--token-file", tokenFile, "File with the token to log in with.")->required();
  app.add_option("--connections", connections, "At once.")->capture_default_str();
  app.add_option("--seconds", seconds, "For how long.")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto token = readTokenFile(tokenFile);
  if (!token) {
    std::fprintf(stderr, "%s\n", token.error().message.c_str());
    return 2;
  }
  takeDescriptors();
  auto io = kj::setupAsyncIo();
  kj::Timer& timer = io.provider->getTimer();
  Tally tally;
  try {
    misbehave({io.provider->getNetwork(), *io.lowLevelProvider, timer}, behaviour,
              {agent, *token, connections}, tally)
        .exclusiveJoin(timer.afterDelay(static_cast<int64_t>(seconds * 1e3) * kj::MILLISECONDS))
        .wait(io.waitScope);
  } catch (const kj::Exception& exception) {
    std::fprintf(stderr, "%s\n", fromException(exception).message.c_str());
    return 1;
  }
  const nlohmann::json result{{"answered", tally.answered},
                              {"refused", tally.refused},
                              {"connections", tally.connections},
                              {"lost", tally.lost}};
  std::printf("%s\n", result.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace tarcil::hostile

int main(int argc, char** argv) {
  return tarcil::hostile::parseAndRun(argc, argv);
}
