// What a client notices of a master that dies: asks for one stored change after the other, several at a time,
// and prints each that took long. See failover.py.
//
//   pauses AGENTS TOKEN-FILE SECONDS AT-ONCE
//
// Each line: when it was asked for, in seconds of the wall clock; how long its answer took, in seconds. At
// the end: "answered N", and "failed N".
#include <kj/async-io.h>
#include <kj/debug.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bench/report.h"
#include "client/client.h"
#include "rpc/errors.h"
#include "rpc/token.h"

namespace tarcil::bench {
namespace {

constexpr double kLong = 0.02;

class Asking final {
 public:
  Asking(Client& client, Steady::time_point until) : client_(client), until_(until) {}

  kj::Promise<void> askAgain(uint32_t number) {
    if (Steady::now() > until_) return kj::READY_NOW;
    const double when =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const auto begin = Steady::now();
    return client_
        .ask([this, number](Session& session) {
          auto request = session.user.setSharesRequest();
          request.setUser(kj::str("user-", number));
          request.setShares(1 + ++asked_ % 100);
          return request.send();
        })
        .then([this](auto&&) { ++answered; },
              [this](kj::Exception&& exception) {
                ++failed;
                std::fprintf(stderr, "%s\n", fromException(exception).message.c_str());
              })
        .then([this, number, when, begin]() {
          const double took = milliseconds(Steady::now() - begin) / 1e3;
          if (took > kLong) std::printf("%.6f %.6f\n", when, took);
          std::fflush(stdout);
          return askAgain(number);
        });
  }

  uint64_t answered = 0, failed = 0;

 private:
  Client& client_;
  const Steady::time_point until_;
  uint32_t asked_ = 0;
};

int run(const std::vector<std::string>& agents, const std::string& token, int seconds, int atOnce) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  ClientOptions options;
  options.patience = 60 * kj::SECONDS;
  Client client(net, agents, token, options, [](const std::string&) {});
  Asking asking(client, Steady::now() + std::chrono::seconds(seconds));
  kj::Vector<kj::Promise<void>> all;
  for (int i = 0; i < atOnce; ++i) all.add(asking.askAgain(static_cast<uint32_t>(i)));
  kj::joinPromises(all.releaseAsArray()).wait(io.waitScope);
  std::printf("answered %lu\nfailed %lu\n", asking.answered, asking.failed);
  return 0;
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: pauses AGENTS TOKEN-FILE SECONDS AT-ONCE\n");
    return 2;
  }
  const auto agents = tarcil::parseAddresses(argv[1]);
  const auto token = tarcil::readTokenFile(argv[2]);
  if (!agents.ok() || !token.ok()) {
    std::fprintf(stderr, "pauses: %s\n", (agents.ok() ? token.error() : agents.error()).message.c_str());
    return 3;
  }
  return tarcil::bench::run(*agents, *token, std::atoi(argv[3]), std::atoi(argv[4]));
}
