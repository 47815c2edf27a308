#include "rpc/address.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/debug.h>
#include <stdlib.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace tarcil {
namespace {

// A caller that tries again from a continuation has nobody above it who would catch anything.
TEST(ConnectTo, FailsInItsPromiseWhereNobodyListens) {
  char folder[] = "/tmp/tarcil-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  auto io = kj::setupAsyncIo();
  const std::string address = "unix:" + std::string(folder) + "/none.sock";
  std::optional<kj::Exception::Type> problem;
  auto connected = connectTo(io.provider->getNetwork(), *io.lowLevelProvider, address);
  connected
      .then([](kj::Own<kj::AsyncIoStream>&&) {},
            [&problem](kj::Exception&& exception) { problem = exception.getType(); })
      .wait(io.waitScope);
  EXPECT_EQ(problem, kj::Exception::Type::DISCONNECTED);
  ::rmdir(folder);
}

}  // namespace
}  // namespace tarcil
