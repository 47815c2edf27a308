#include "core/state/server_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace tarcil::server_check_test {

using testing::HasSubstr;

ServerFacts good() {
  ServerFacts facts;
  facts.name = "s";
  facts.platform = "p";
  facts.rus = 1;
  for (size_t i = 0; i < kMaxAttributes; ++i) facts.attributes["a" + std::to_string(i)] = "b c";
  facts.address = std::string(kMaxAddressBytes, 'x');
  facts.missing.assign(kMaxMissing, std::string(kMaxMissingBytes, 'x'));
  return facts;
}

TEST(FactsOfAServer, AreTakenUpToTheirBounds) {
  EXPECT_TRUE(checkFacts(good()));
}

TEST(FactsOfAServer, AreRefusedBeyondThemByField) {
  const auto problem = [](const std::function<void(ServerFacts&)>& change) {
    ServerFacts facts = good();
    change(facts);
    const Status checked = checkFacts(facts);
    EXPECT_FALSE(checked);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_THAT(problem([](ServerFacts& facts) { facts.name = "a/b"; }), HasSubstr("server"));
  EXPECT_THAT(problem([](ServerFacts& facts) { facts.rus = 0; }), HasSubstr("server \"s\": rus: 0"));
  EXPECT_THAT(problem([](ServerFacts& facts) { facts.attributes["more"] = "b"; }),
              HasSubstr("attributes: 33; at most 32"));
  EXPECT_THAT(problem([](ServerFacts& facts) { facts.attributes["a0"] = std::string(129, 'x'); }),
              HasSubstr("attributes: 'a0' = 'xxx"));
  EXPECT_THAT(problem([](ServerFacts& facts) { facts.attributes["a0"] = "a\nb"; }), HasSubstr("'a0'"));
  EXPECT_THAT(problem([](ServerFacts& facts) { facts.address += 'x'; }),
              HasSubstr("address: 257; at most 256"));
  EXPECT_THAT(problem([](ServerFacts& facts) { facts.missing.emplace_back("x"); }),
              HasSubstr("missing: 65; at most 64"));
  EXPECT_THAT(problem([](ServerFacts& facts) { facts.missing.back() += 'x'; }),
              HasSubstr("bytes of what is missing: 257; at most 256"));
}

}  // namespace tarcil::server_check_test
