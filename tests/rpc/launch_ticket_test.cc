// By what a monitor knows a launch: the master's ticket holds for it as it is, and for no other.
#include "rpc/launch_ticket.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/state/launch_of.h"

namespace tarcil::launch_ticket_test {

JobRecord job() {
  JobRecord record;
  record.id.bytes.fill(7);
  record.user = "ann";
  record.runAs = "nobody";
  record.spec.name = "sort";
  record.spec.command = {"sort", "input"};
  record.spec.env = {{"A", "b"}};
  record.spec.tasks = 3;
  record.spec.limits.memoryBytes = 1000;
  return record;
}

LaunchSpec launch() {
  LaunchSpec launch = launchOf(job(), 1, {.allocation = 12, .attempt = 0, .rus = {1, 2}});
  launch.server = "s1";
  return launch;
}

const MacKey kKey = makeMacKey();

TEST(LaunchTicket, HoldsForItsLaunch) {
  EXPECT_TRUE(isTicketFor(launch(), kKey, ticketFor(launch(), kKey)));
}

TEST(LaunchTicket, HoldsForNoLaunchThatIsChanged) {
  const std::string ticket = ticketFor(launch(), kKey);
  const std::vector<std::function<void(LaunchSpec&)>> changes = {
      [](LaunchSpec& it) {
        it.command = {"rm", "input"};
      },
      [](LaunchSpec& it) { it.command = {"sort input"}; },
      [](LaunchSpec& it) { it.env["A"] = "c"; },
      [](LaunchSpec& it) { it.env["LD_PRELOAD"] = "/tmp/x"; },
      [](LaunchSpec& it) { it.workdir = "/etc"; },
      [](LaunchSpec& it) { it.user = "root"; },
      [](LaunchSpec& it) { it.submitter = "bob"; },
      [](LaunchSpec& it) { it.limits.memoryBytes = 0; },
      [](LaunchSpec& it) { it.limits.pids += 1; },
      [](LaunchSpec& it) { it.container.rootfs = "/"; },
      [](LaunchSpec& it) { it.container.image = "oci:/other"; },
      [](LaunchSpec& it) { it.secrets = {"db"}; },
      [](LaunchSpec& it) { it.exclusive = true; },
      [](LaunchSpec& it) { it.timeout += Duration(1); },
      [](LaunchSpec& it) { it.output = "/tmp/out"; },
      [](LaunchSpec& it) { it.results = {"*"}; },
      [](LaunchSpec& it) { it.hasFiles = true; },
      [](LaunchSpec& it) { it.allocation = 13; },
      [](LaunchSpec& it) { it.job.bytes.fill(8); },
      [](LaunchSpec& it) { it.task = 2; },
      [](LaunchSpec& it) { it.attempt = 1; },
      [](LaunchSpec& it) { it.server = "s2"; },
      [](LaunchSpec& it) {
        it.rus = {1, 2, 3};
      },
      [](LaunchSpec& it) { it.extras["gpus"] = {0}; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    LaunchSpec changed = launch();
    changes[i](changed);
    EXPECT_FALSE(isTicketFor(changed, kKey, ticket)) << "change " << i;
  }
}

// What the master does not know, or may have learnt since its agent last heard of the job.
TEST(LaunchTicket, LeavesToTheAgentWhatIsExpectedOfTheLaunchAndWhereItsGangIs) {
  LaunchSpec told = launch();
  told.earlier = 5;
  told.gang.emplace();
  told.caused.fill(3);
  told.tolerated.fill(90);
  EXPECT_TRUE(isTicketFor(told, kKey, ticketFor(launch(), kKey)));
}

TEST(LaunchTicket, IsOfOneSession) {
  EXPECT_FALSE(isTicketFor(launch(), makeMacKey(), ticketFor(launch(), kKey)));
  EXPECT_FALSE(isTicketFor(launch(), kKey, ""));
  EXPECT_FALSE(isTicketFor(launch(), kKey, ticketFor(launch(), kKey).substr(1)));
}

TEST(LaunchOf, AMemoryLimitGrowsWithUnitsBeyondThoseThatAreAskedFor) {
  ServerFacts facts;
  facts.rus = 4;
  facts.memoryBytes = 4000;
  LaunchSpec grown = launch();
  growMemory(grown, unitsMore(job().spec, 3), facts);
  EXPECT_EQ(grown.limits.memoryBytes, 3000u);
  growMemory(grown, unitsMore(job().spec, 0), facts);
  EXPECT_EQ(grown.limits.memoryBytes, 3000u) << "fewer take none away";
  LaunchSpec unlimited = launch();
  unlimited.limits.memoryBytes = 0;
  growMemory(unlimited, 2, facts);
  EXPECT_EQ(unlimited.limits.memoryBytes, 0u);
}

}  // namespace tarcil::launch_ticket_test
