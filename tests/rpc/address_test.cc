#include "rpc/address.h"

#include <gtest/gtest.h>
#include <kj/async-io.h>
#include <kj/debug.h>
#include <stdlib.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace tarcil::address_test {

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

TEST(CheckAddress, TakesBothForms) {
  for (const char* good : {"unix:/run/tarcil/master.sock", "127.0.0.1:7001", "node-1.example.org:65535",
                           "[::1]:7001", "[fe80::1%eth0]:1"}) {
    EXPECT_TRUE(checkAddress(good, AddressUse::kConnect)) << good;
  }
  EXPECT_TRUE(checkAddress("*:0", AddressUse::kListen));
  EXPECT_TRUE(checkAddress("unix:/" + std::string(2'000, 'a') + "/agent.sock", AddressUse::kListen));
}

TEST(CheckAddress, SaysWhatIsWrongAndWhatToWrite) {
  const std::pair<std::string, std::string> wrong[] = {
      {"", "is empty"},
      {"unix:", "has no path"},
      {"unix:/run/", "has no path"},
      {"unix:/" + std::string(81, 'a'), "81 bytes"},
      {"unix:/" + std::string(5'000, 'a') + "/s", "longer than a path"},
      {"somewhere", "has no port"},
      {"[::1]", "has no port"},
      {"host:", "has no port from 1"},
      {"host:65536", "has no port from 1"},
      {"host:-1", "has no port from 1"},
      {"host:99999999999999999999", "has no port from 1"},
      {":7001", "has no host"},
      {"[]:7001", "has no usable host"},
      {"::1:7001", "in brackets"},
      {"a host:7001", "has no usable host"},
      {"tcp://host:7001", "has no usable host"},
      {"host:0", "port 0"},
  };
  for (const auto& [address, problem] : wrong) {
    const Status status = checkAddress(address, AddressUse::kConnect);
    ASSERT_FALSE(status) << address;
    EXPECT_NE(status.error().message.find(problem), std::string::npos) << status.error().message;
    EXPECT_NE(status.error().message.find("write host:port or unix:/path/to/socket"), std::string::npos);
  }
}

TEST(ParseAddresses, ChecksEachOfTheList) {
  EXPECT_EQ(parseAddresses("a:1,b:2")->size(), 2u);
  for (const char* wrong : {"", "a:1,", ",a:1", "a:1,,b:2", "a:1 b:2"})
    EXPECT_FALSE(parseAddresses(wrong)) << wrong;
}

}  // namespace tarcil::address_test
