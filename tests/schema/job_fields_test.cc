// Every plain field of a job, each by itself, on the wire and back.
#include <capnp/message.h>
#include <gtest/gtest.h>

#include "schema/convert.h"
#include "tests/support/job_values.h"

namespace tarcil::job_fields_test {

template <typename Wire, typename Value>
Value sent(const Value& value) {
  capnp::MallocMessageBuilder message;
  write(value, message.initRoot<Wire>());
  return read(message.getRoot<Wire>().asReader());
}

TEST(JobFields, SurviveTheWire) {
  forEachJobField([](const auto& field) {
    JobSpec job;
    setUnusual(field, job);
    ASSERT_NE(job, JobSpec{}) << field.path;
    EXPECT_EQ(sent<wire::JobSpec>(job), job) << field.path;
  });
}

TEST(JobFields, OfTasksSurviveTheWayToAMonitor) {
  forEachJobField([](const auto& field) {
    JobSpec job;
    setUnusual(field, job);
    LaunchSpec launch;
    static_cast<TaskSpec&>(launch) = job;
    EXPECT_EQ(sent<wire::LaunchSpec>(launch), launch) << field.path;
  });
}

}  // namespace tarcil::job_fields_test
