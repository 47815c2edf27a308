// What role read may call.
#include "rpc/reader_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schema/agent.capnp.h"

namespace tarcil::reader_calls_test {

using testing::UnorderedElementsAre;

template <typename Port>
std::vector<std::string> refusedToReaders() {
  std::vector<std::string> refused;
  const auto interface = capnp::Schema::from<Port>();
  for (const auto method : interface.getMethods()) {
    if (!isForReaders<Port>(capnp::typeId<Port>(), method.getIndex()))
      refused.push_back(method.getProto().getName().cStr());
  }
  return refused;
}

TEST(CallsForReaders, AreNoneThatChangeSomething) {
  EXPECT_THAT(refusedToReaders<wire::UserPort>(),
              UnorderedElementsAre("cancel", "setSettings", "setPlatform", "steerServers", "backup",
                                   "setShares", "storeProfile", "deleteProfile", "steerJob", "promoteProfile",
                                   "addCron", "steerCron", "inviteMember", "revokeMember", "setUser",
                                   "removeUser", "setAccount", "removeAccount", "audit", "stepDown",
                                   "putSecret", "grantSecret", "deleteSecret", "rekeySecrets"));
  EXPECT_THAT(refusedToReaders<wire::ClientPort>(),
              UnorderedElementsAre("submit", "lateBinding", "cancelLateJob", "upload"));
}

TEST(CallsForReaders, AreNoneOfInterfacesThatAreNotMarked) {
  EXPECT_FALSE(isForReaders<wire::UserPort>(capnp::typeId<wire::ClientPort>(), 2));
  EXPECT_FALSE(isForReaders<wire::UserPort>(capnp::typeId<wire::UserPort>(), 10'000));
  EXPECT_FALSE(isForReaders<wire::Upload>(capnp::typeId<wire::Upload>(), 0));
}

}  // namespace tarcil::reader_calls_test
