// No interface that a peer can get hold of is left out of the calls.
#include "tests/fuzz/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "schema/agent.capnp.h"
#include "schema/master.capnp.h"
#include "schema/monitor.capnp.h"

namespace tarcil::fuzz::roles_test {

// What methods of the interface take and give, and of those the same.
void collect(capnp::InterfaceSchema interface, std::set<std::string>& names) {
  if (!names.insert(interface.getUnqualifiedName().cStr()).second) return;
  for (const auto method : interface.getMethods()) {
    for (const auto& fields : {method.getParamType().getFields(), method.getResultType().getFields()}) {
      for (const auto field : fields) {
        if (field.getType().isInterface()) collect(field.getType().asInterface(), names);
      }
    }
  }
}

TEST(Roles, ServeEveryInterfaceThatPeersGetTo) {
  std::set<std::string> reached, served;
  collect(capnp::Schema::from<wire::MasterGate>(), reached);
  collect(capnp::Schema::from<wire::AgentGate>(), reached);
  collect(capnp::Schema::from<wire::MonitorGate>(), reached);
  collect(capnp::Schema::from<wire::JoinGate>(), reached);
  for (size_t number = 0; number < ports(); ++number) served.emplace(port(number).name);
  served.emplace("LateClient");  // a program of the user
  EXPECT_EQ(served, reached);
}

TEST(Roles, ServeOnWhereNothingIsCalled) {
  for (size_t number = 0; number < ports(); ++number) {
    const auto role = port(number).role();
    EXPECT_NO_THROW(role->checkServes()) << port(number).name;
    EXPECT_EQ(role->port().getSchema().getUnqualifiedName(), kj::StringPtr(port(number).name.data()));
  }
}

}  // namespace tarcil::fuzz::roles_test
