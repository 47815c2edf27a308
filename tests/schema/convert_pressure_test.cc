#include "schema/convert_pressure.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

namespace tarcil::convert_pressure_test {

ServerPressure sent(const ServerPressure& value) {
  capnp::MallocMessageBuilder message;
  write(value, message.initRoot<wire::ServerPressure>());
  return read(message.getRoot<wire::ServerPressure>().asReader());
}

TEST(ConvertPressure, KeepsWhatAMonitorMeasured) {
  ServerPressure pressure{"s", {}, {{Resource::kLlc, "no resctrl"}}, {}};
  pressure.background.fill(7);
  TaskPressure task{5, {}, ResourceSet().set(0).set(9)};
  task.caused[0] = 40;
  task.caused[9] = kMaxPressure;
  pressure.tasks = {task, {6, {}, {}}};
  EXPECT_EQ(sent(pressure), pressure);
}

TEST(ConvertPressure, KeepsACharge) {
  TaskCharge charge{3, {}, ResourceSet().set(8)};
  charge.caused.fill(9);
  capnp::MallocMessageBuilder message;
  write(charge, message.initRoot<wire::TaskCharge>());
  EXPECT_EQ(read(message.getRoot<wire::TaskCharge>().asReader()), charge);
}

TEST(ConvertPressure, RefusesWhatNoMonitorMeasures) {
  capnp::MallocMessageBuilder message;
  auto task = message.initRoot<wire::TaskPressure>();
  task.setCaused(kj::heapArray<kj::byte>(kResources));
  task.initMeasured(1).set(0, kResources);
  EXPECT_ANY_THROW(read(task.asReader())) << "there is no such resource";
  task.initMeasured(1).set(0, 1);
  task.initCaused(kResources)[3] = kMaxPressure + 1;
  EXPECT_ANY_THROW(read(task.asReader())) << "no pressure is so high";
  task.initCaused(kResources - 1);
  EXPECT_ANY_THROW(read(task.asReader())) << "a resource is missing";
}

}  // namespace tarcil::convert_pressure_test
