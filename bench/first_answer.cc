// Waits until a master that is starting answers a question, and says how long that took: see restart.sh.
//
//   first_answer ADDRESS TOKEN-FILE
#include <kj/async-io.h>
#include <kj/debug.h>

#include <cstdio>

#include "bench/report.h"
#include "rpc/connection.h"
#include "rpc/errors.h"
#include "rpc/token.h"
#include "schema/convert_support.h"
#include "schema/master.capnp.h"

namespace tarcil::bench {
namespace {

constexpr auto kAttemptInterval = 2 * kj::MILLISECONDS;
constexpr auto kPatience = std::chrono::seconds(60);

// One attempt: fails where nobody listens.
kj::Promise<uint32_t> ask(const Net& net, const std::string& address, const std::string& token) {
  return connect(net, address).then([&token](kj::Own<Connection> connection) {
    auto login = connection->bootstrap().castAs<wire::MasterGate>().loginRequest();
    login.setToken(convert::text(token));
    auto request = login.send().getUser().jobsRequest();
    request.setLimit(1);
    return request.send().then([](auto&& page) { return page.getJobs().size(); }).attach(kj::mv(connection));
  });
}

int run(const std::string& address, const std::string& token) {
  auto io = kj::setupAsyncIo();
  const Net net{io.provider->getNetwork(), *io.lowLevelProvider, io.provider->getTimer()};
  const auto begin = Steady::now();
  while (true) {
    uint32_t jobs = 0;
    auto failure = kj::runCatchingExceptions([&] { jobs = ask(net, address, token).wait(io.waitScope); });
    KJ_IF_MAYBE (exception, failure) {
      if (exception->getType() != kj::Exception::Type::DISCONNECTED || Steady::now() - begin > kPatience) {
        std::fprintf(stderr, "first_answer: %s\n", fromException(*exception).message.c_str());
        return 1;
      }
      net.timer.afterDelay(kAttemptInterval).wait(io.waitScope);
      continue;
    }
    std::printf("%.2f s (a list of %u)\n", milliseconds(Steady::now() - begin) / 1e3, jobs);
    return 0;
  }
}

}  // namespace
}  // namespace tarcil::bench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: first_answer ADDRESS TOKEN-FILE\n");
    return 2;
  }
  const auto token = tarcil::readTokenFile(argv[2]);
  if (!token.ok()) {
    std::fprintf(stderr, "first_answer: %s\n", token.error().message.c_str());
    return 3;
  }
  return tarcil::bench::run(argv[1], *token);
}
