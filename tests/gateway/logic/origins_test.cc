// Under which names a gateway is served, and whose pages are its own.
#include "gateway/logic/origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarcil::gateway::origins_test {

Origins make(const std::string& listens, const std::vector<std::string>& told = {}) {
  auto origins = Origins::make(listens, told);
  if (!origins) throw std::runtime_error(origins.error().message);
  return *origins;
}

TEST(Origins, OnLoopbackAreItsNamesWithThePort) {
  const Origins origins = make("127.0.0.1:8080");
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"})
    EXPECT_TRUE(origins.servesHost(host)) << host;
  for (const char* host :
       {"", "127.0.0.1", "localhost", "localhost:8081", "evil.example:8080", "127.0.0.1:8080.evil.example"})
    EXPECT_FALSE(origins.servesHost(host)) << host;
}

TEST(Origins, ElsewhereAreTheAddressAndWhatWasTold) {
  const Origins origins = make("10.0.0.1:8080", {"tarcil.example.org", "other.example:9"});
  for (const char* host :
       {"10.0.0.1:8080", "tarcil.example.org", "Tarcil.Example.org:8080", "other.example:9"})
    EXPECT_TRUE(origins.servesHost(host)) << host;
  for (const char* host : {"localhost:8080", "other.example", "other.example:8080"})
    EXPECT_FALSE(origins.servesHost(host)) << host;
}

TEST(Origins, OfPagesAreTheSameHostsByHttpOrHttps) {
  const Origins origins = make("127.0.0.1:8080");
  EXPECT_TRUE(origins.isOwn("http://localhost:8080"));
  EXPECT_TRUE(origins.isOwn("https://localhost:8080"));
  for (const char* origin : {"null", "http://evil.example", "http://localhost:8081", "ftp://localhost:8080",
                             "localhost:8080", "http://"})
    EXPECT_FALSE(origins.isOwn(origin)) << origin;
}

TEST(Origins, NeedNoPortWhereItIsTheUsualOne) {
  EXPECT_TRUE(make("127.0.0.1:80").servesHost("localhost"));
}

TEST(Origins, AreRefusedWhereOneIsNoHost) {
  for (const char* name : {"", "a b", "http://a", "a/b", "ä.example"}) {
    const auto origins = Origins::make("127.0.0.1:1", {name});
    ASSERT_FALSE(origins) << name;
    EXPECT_THAT(origins.error().message, testing::HasSubstr("write HOST or HOST:PORT"));
  }
}

}  // namespace tarcil::gateway::origins_test
