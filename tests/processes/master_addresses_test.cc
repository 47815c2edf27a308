// How roles are told where the masters are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/failure.h"
#include "deploy/roles/role_identity.h"

namespace tarcil::master_addresses_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::string problemOf(const std::vector<std::string>& given) {
  try {
    addressesIn("--master", given);
    return "";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), kExitBadInput);
    return failure.message();
  }
}

TEST(AddressesOfMasters, AreGivenTogetherOrOneByOne) {
  EXPECT_THAT(addressesIn("--master", {"a:1,b:2", "unix:/c"}), ElementsAre("a:1", "b:2", "unix:/c"));
  EXPECT_EQ(listOf({"a:1", "b:2"}), "a:1,b:2");
}

TEST(AddressesOfMasters, SayWhatIsWrongWithOne) {
  EXPECT_THAT(problemOf({"a:1,b"}), HasSubstr("--master: "));
  EXPECT_THAT(problemOf({"a:1,"}), HasSubstr("--master: "));
}

TEST(AddressesOfMasters, AreABoundedNumber) {
  std::vector<std::string> many(kMaxMasters, "a:1");
  EXPECT_EQ(problemOf(many), "");
  many.emplace_back("b:1");
  EXPECT_THAT(problemOf(many), HasSubstr("17 masters are too many; name 16 at most"));
}

}  // namespace tarcil::master_addresses_test
