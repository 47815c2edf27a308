#include "formats/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/units.h"
#include "core/model/constraint.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::job_file_test {

using namespace std::chrono_literals;

constexpr auto kLlc = static_cast<size_t>(Resource::kLlc);

Result<JobFile> parse(std::string_view text, const JobFileOptions& options = {}) {
  return parseJob(text, "job.yaml", ".", options);
}

std::string problemOf(std::string_view text) {
  auto job = parse(text);
  if (job.ok()) return "";
  EXPECT_EQ(job.error().code, ErrorCode::kInvalid);
  return job.error().message;
}

// The only problem of a file that has this as its first line, a column and text after "job.yaml:1:".
void expectProblem(const std::string& line, const std::string& expected) {
  EXPECT_EQ(problemOf(line + "\ncommand: [x]\n"), "job.yaml:1:" + expected) << line;
}

TEST(ParseJob, NeedsOnlyACommand) {
  auto job = parse("command: [/usr/bin/sleep, 5]");
  ASSERT_TRUE(job.ok()) << job.error().message;
  JobSpec expected;
  expected.name = "sleep";
  expected.command = {"/usr/bin/sleep", "5"};
  EXPECT_EQ(job->spec, expected);
  EXPECT_FALSE(job->hasProfile);
  EXPECT_EQ(job->lookupApplication, "");
  EXPECT_TRUE(job->files.empty());
}

TEST(ParseJob, ReadsEveryField) {
  auto job = parse(R"(
name: train
profile: {caused: {llc: 60}}
command: [python3, train.py]
env: {KEY: value, N: 5, EMPTY: ""}
workdir: /srv/train
user: alice
tasks: 20
rus_per_task: 2
concurrency: 10
priority: 60
preemptible: false
grace: 20s
policy: quality
quality: {target: 0.9, confidence: 0.99, protect_neighbours: false, max_wait: 45s}
placement: {pack: none, spread: rack, at_most: 2, constraints: ["gpu = true"], prefer: [s1, s2]}
limits: {memory: 2GiB, pids: 1000, output: 1MiB}
restart: {attempts: 3, backoff: 2s, on_lost: false}
exclusive: true
at_most_once: false
timeout: 10m
)");
  ASSERT_TRUE(job.ok()) << job.error().message;
  JobSpec expected;
  expected.name = "train";
  expected.profile.caused[kLlc] = 60;
  expected.profile.tolerated[kLlc] = 39;
  expected.profile.origins = ProfileOrigins::all(Origin::kAssumed);
  expected.profile.origins.caused[kLlc] = {Origin::kStated};
  expected.command = {"python3", "train.py"};
  expected.env = {{"KEY", "value"}, {"N", "5"}, {"EMPTY", ""}};
  expected.workdir = "/srv/train";
  expected.user = "alice";
  expected.exclusive = true;
  expected.maxWait = 45s;
  expected.tasks = 20;
  expected.rusPerTask = 2;
  expected.concurrency = 10;
  expected.priority = 60;
  expected.grace = 20s;
  expected.target = 0.9;
  expected.confidence = 0.99;
  expected.protectNeighbours = false;
  expected.placement.spread = Domain::kRack;
  expected.placement.atMost = 2;
  expected.placement.constraints = {{"gpu", Constraint::Operator::kEqual, {"true"}}};
  expected.placement.prefer = {"s1", "s2"};
  expected.limits = {2ull << 30, 1000, 1ull << 20};
  expected.restart = {3, 2s, false};
  expected.timeout = 10min;
  EXPECT_EQ(job->spec, expected);
  EXPECT_TRUE(job->hasProfile);
}

TEST(ParseJob, ReadsWhenItMayStartByTheUsersClock) {
  JobFileOptions options;
  options.clock = {.now = kNever + 100h, .zone = TimeZone::named("Europe/Berlin")};
  const auto startOf = [&options](const std::string& written) {
    auto job = parse("command: [x]\nstart_after: " + written, options);
    return job ? job->spec.startAfter : kNever;
  };
  EXPECT_EQ(startOf("2026-05-01T12:34:56Z"), parseTime("2026-05-01T12:34:56Z").value());
  EXPECT_EQ(startOf("2026-05-01 12:34:56"), parseTime("2026-05-01T10:34:56Z").value());
  EXPECT_EQ(startOf("6:00"), options.clock.now + 1h);
  EXPECT_EQ(startOf("tomorrow 6:00"), options.clock.now + 25h);
  EXPECT_EQ(startOf("+2h30m"), options.clock.now + 150min);
  for (const char* wrong :
       {"someday", "2h", "+", "-2h", "1969-01-01T00:00:00Z", "[]", "6:00 Europe/Berlni"}) {
    auto job = parse("command: [x]\nstart_after: " + std::string(wrong), options);
    ASSERT_FALSE(job) << wrong;
    EXPECT_NE(job.error().message.find("job.yaml:2:14: start_after: "), std::string::npos)
        << job.error().message;
  }
}

TEST(ParseJob, ShipsFilesIntoThePrivateDirectoryOnly) {
  EXPECT_TRUE(problemOf("files: [a]\nworkdir: /srv\ncommand: [x]\n")
                  .starts_with("job.yaml:1:8: files: are shipped into each task's private working directory, "
                               "which workdir replaces;"))
      << problemOf("files: [a]\nworkdir: /srv\ncommand: [x]\n");
}

TEST(ParseJob, ReadsJson) {
  auto job = parse(R"({"command":["echo","null","a b"],"tasks":3,"schedule":"gang","env":{"A":"b"}})");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.command, (std::vector<std::string>{"echo", "null", "a b"}));
  EXPECT_EQ(job->spec.schedule, Schedule::kGang);
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfIdentity) {
  expectProblem("name: ''", "7: name: is '' in quotes; write 1 to 128 printable characters");
  expectProblem("name: \"a\\tb\"", "7: name: is 'a\\x09b' in quotes; write 1 to 128 printable characters");
  expectProblem("name: " + std::string(129, 'n'),
                "7: name: is '" + std::string(60, 'n') + "...'; write 1 to 128 printable characters");
  expectProblem("name: [a]", "7: name: is a list; write a text");
  expectProblem("name:", "1: name: is empty; write a text, in quotes if it is empty or reads null");
  expectProblem("application: \"\"", "14: application: is '' in quotes; write 1 to 128 printable characters");
  expectProblem("user: a b",
                "7: user: is 'a b'; write a user's name: at most 32 letters, digits, dots, dashes or "
                "underscores");
  expectProblem("user: -rf",
                "7: user: is '-rf'; write a user's name: at most 32 letters, digits, dots, dashes or "
                "underscores");
  expectProblem("workdir: srv/train", "10: workdir: is 'srv/train'; write a path that starts with /");
  expectProblem("workdir: \"/srv\\0x\"", "10: workdir: has a NUL character in it; remove it");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfCommand) {
  EXPECT_EQ(problemOf("name: x"),
            "job.yaml:1:1: command: is missing; write the program and its arguments, for example command: "
            "[sleep, 5]");
  EXPECT_EQ(problemOf("command: sleep  5"),
            "job.yaml:1:10: command: is 'sleep  5'; write a list: [sleep, 5]");
  EXPECT_EQ(problemOf("command: a | b"),
            "job.yaml:1:10: command: is 'a | b'; write a list, for example [sleep, 5], or [sh, -c, \"...\"] "
            "for a line "
            "of shell");
  EXPECT_EQ(problemOf("command: []"),
            "job.yaml:1:10: command: is an empty list; write the program and its arguments");
  EXPECT_EQ(problemOf("command: {a: b}"),
            "job.yaml:1:10: command: is a mapping; write a list, for example [a, b]");
  EXPECT_EQ(problemOf("command: ['', a]"),
            "job.yaml:1:11: command[0]: is '' in quotes; write the program to run");
  EXPECT_EQ(problemOf("command: [a, [b]]"), "job.yaml:1:14: command[1]: is a list; write a text");
  EXPECT_EQ(problemOf("command: [echo, null]"),
            "job.yaml:1:17: command[1]: is empty; write a text, in quotes if it is empty or reads null");
  EXPECT_EQ(problemOf("command: [a, \"\\0\"]"),
            "job.yaml:1:14: command[1]: has a NUL character in it; remove it");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfEnv) {
  expectProblem("env: [A=b]", "6: env: is a list; write a mapping, for example {key: value}");
  expectProblem("env: {A: {}}", "10: env.A: is a mapping; write a text");
  expectProblem("env: {A=b: c}",
                "12: env.A=b: a variable's name is not empty and has no '=' and no NUL in it; rename it");
  expectProblem("env: {'': c}",
                "11: env.'': a variable's name is not empty and has no '=' and no NUL in it; rename it");
  expectProblem(
      "env: {\"a\\0\": c}",
      "14: env.'a\\x00': a variable's name is not empty and has no '=' and no NUL in it; rename it");
  expectProblem("env: {TARCIL_TASK: 1}",
                "20: env.TARCIL_TASK: is set for every task by tarcil; choose another name");
  expectProblem("env: {A: 1, A: 2}", "13: env.A: is given twice, first in line 1; keep one");
  expectProblem("env: {[a]: 2}", "7: env: a key is a list; write a text");
}

TEST(ParseJob, BoundsCommandAndEnvTogether) {
  const std::string half(kMaxCommandAndEnvBytes / 2 - 4, 'x');
  EXPECT_EQ(problemOf("command: [ab, " + half + "x]\nenv: {K: " + half + "}"), "");
  EXPECT_EQ(problemOf("command: [abc, " + half + "x]\nenv: {K: " + half + "}"),
            "job.yaml:1:10: command: command and env hold 131073 bytes together, at most 128KiB are passed "
            "on; put data "
            "into files");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfNumbers) {
  const std::string tasks = "; write a whole number from 1 to 100000";
  expectProblem("tasks: 0", "8: tasks: is '0'" + tasks);
  expectProblem("tasks: 1000000000", "8: tasks: is '1000000000'" + tasks);
  expectProblem("tasks: 99999999999999999999", "8: tasks: is '99999999999999999999'" + tasks);
  expectProblem("tasks: 1.5", "8: tasks: is '1.5'" + tasks);
  expectProblem("tasks: many", "8: tasks: is 'many'" + tasks);
  expectProblem("tasks: '5'", "8: tasks: is '5' in quotes" + tasks);
  expectProblem("tasks: [5]", "8: tasks: is a list" + tasks);
  expectProblem("tasks:", "1: tasks: is empty" + tasks);
  expectProblem("rus_per_task: 0", "15: rus_per_task: is '0'; write a whole number from 1 to 4096");
  expectProblem("rus_per_task: 4097", "15: rus_per_task: is '4097'; write a whole number from 1 to 4096");
  expectProblem("concurrency: 0", "14: concurrency: is '0'; write a whole number from 1 to 100000");
  expectProblem("priority: 101", "11: priority: is '101'; write a whole number from 0 to 100");
  expectProblem("priority: -1", "11: priority: is '-1'; write a whole number from 0 to 100");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfResults) {
  EXPECT_EQ(problemOf("command: [x]\nresults: [out/*.csv, '[a-z]']"), "");
  expectProblem("results: out", "10: results: is 'out'; write a list, for example [a, b]");
  expectProblem(
      "results: [a, ../b]",
      "14: results[1]: '../b' is no pattern of files below the task's working directory; write, for "
      "example, out/*.csv, without '/' in front and without '.' and '..'");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfTimes) {
  expectProblem("grace: 10",
                "8: grace: '10' has no unit; write one of us, ms, s, m, h, d behind the number, for example "
                "10s");
  expectProblem("grace: 25h", "8: grace: is '25h'; write a duration from 0s to 1d");
  expectProblem("timeout: 0s", "10: timeout: is '0s'; write a duration from 1ms to 3650d");
  expectProblem("timeout: 4000d", "10: timeout: '4000d' is too long; write at most 3650d");
  expectProblem("timeout: [1s]", "10: timeout: is a list; write a duration, for example 10s");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfSchedule) {
  expectProblem("schedule: gangs",
                "11: schedule: is 'gangs'; did you mean gang? write one of incremental, gang");
  expectProblem("schedule: [gang]", "11: schedule: is a list; write one of incremental, gang");
  EXPECT_EQ(
      problemOf("command: [x]\nschedule: gang\ntasks: 4\nconcurrency: 2"),
      "job.yaml:4:14: concurrency: a gang starts all of its tasks at once; leave it out, or write schedule: "
      "incremental");
  EXPECT_EQ(problemOf("command: [x]\nschedule: gang\ntasks: 4\nconcurrency: 4"), "");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfQuality) {
  expectProblem("quality: 0.9", "10: quality: is '0.9'; write a mapping, for example {key: value}");
  expectProblem("quality: {target: 0}", "19: quality.target: is '0'; write a number above 0 and at most 1");
  expectProblem("quality: {target: 1.5}",
                "19: quality.target: is '1.5'; write a number above 0 and at most 1");
  expectProblem("quality: {confidence: 1}",
                "23: quality.confidence: is '1'; write a number above 0 and below 1");
  expectProblem("quality: {confidence: 0}",
                "23: quality.confidence: is '0'; write a number above 0 and below 1");
  expectProblem("quality: {protect_neighbours: no}",
                "31: quality.protect_neighbours: is 'no'; write true or false");
  expectProblem(
      "quality: {protect_neighbors: true}",
      "11: quality.protect_neighbors: unknown field; did you mean protect_neighbours? known here: target, "
      "confidence, protect_neighbours, protect, max_wait");
  expectProblem(
      "quality: {max_wait: soon}",
      "21: quality.max_wait: 'soon' is not a duration; write a number with a unit, for example 10s or "
      "500ms");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfPlacement) {
  expectProblem("placement: {spread: ''}",
                "21: placement.spread: is '' in quotes; write 1 to 128 printable characters");
  expectProblem("placement: {spread: rack, at_most: 0}",
                "36: placement.at_most: is '0'; write a whole number from 1 to 100000");
  expectProblem(
      "placement: {at_most: 2}",
      "22: placement.at_most: counts tasks for each server or rack; add spread: server or spread: rack, or "
      "leave it out");
  expectProblem("placement: {constraints: gpu = true}",
                "26: placement.constraints: is 'gpu = true'; write a list, for example [a, b]");
  expectProblem("placement: {constraints: [a = b, gpu ~ true]}",
                "34: placement.constraints[1]: in 'gpu ~ true', column 5: an operator is missing after "
                "'gpu'; write one "
                "of =, !=, <, >, in (a, b), not in (a, b), exists");
  expectProblem("placement: {prefer: ['']}",
                "22: placement.prefer[0]: is '' in quotes; write 1 to 128 printable characters");
  std::string many = "placement: {constraints: [a = b";
  for (int i = 0; i < 100; ++i) many += ", a = b";
  expectProblem(many + "]}", "26: placement.constraints: has 101 entries; write at most 100");
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfLimitsAndRestart) {
  expectProblem("limits: {memory: 0B}", "18: limits.memory: is '0B'; write at least 1B, or leave it out");
  expectProblem(
      "limits: {memory: 2G}",
      "18: limits.memory: '2G' has an unknown unit; write one of B, KiB, MiB, GiB, TiB or KB, MB, GB, TB");
  expectProblem("limits: {output: -1MiB}",
                "18: limits.output: '-1MiB' is not a size; write a number with a unit, for example 100MiB");
  expectProblem("limits: {memory: [1B]}", "18: limits.memory: is a list; write a size, for example 100MiB");
  expectProblem("limits: {pids: 0}", "16: limits.pids: is '0'; write a whole number from 1 to 4194304");
  expectProblem("limits: {cpu: 1}",
                "10: limits.cpu: unknown field; known here: memory, pids, output, disk, disk_bandwidth, "
                "network_bandwidth");
  expectProblem("restart: {attempts: 1001}",
                "21: restart.attempts: is '1001'; write a whole number from 0 to 1000");
  expectProblem("restart: {backoff: 25h}", "20: restart.backoff: is '25h'; write a duration from 0s to 1d");
  expectProblem("restart: {on_lost: 1}", "20: restart.on_lost: is '1'; write true or false");
}

TEST(ParseJob, ReadsContainers) {
  auto job = parse(
      "command: [x]\ncontainer: {rootfs: /images/debian, network: own}\n"
      "limits: {disk: 3GiB, disk_bandwidth: 50MiB, network_bandwidth: 10MB}");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.container, (Container{"/images/debian", "", Container::Network::kOwn}));
  EXPECT_EQ(job->spec.limits.diskBytes, 3ull << 30);
  EXPECT_EQ(job->spec.limits.diskBytesPerSecond, 50u << 20);
  EXPECT_EQ(job->spec.limits.networkBytesPerSecond, 10'000'000u);
  job = parse("command: [x]\ncontainer: {bundle: /images/b, network: none}");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.container, (Container{"", "/images/b", Container::Network::kNone}));
}

TEST(ParseJob, WithAnImageNeedsNoCommand) {
  const auto job = parse("container: {image: \"docker://debian:12\"}");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.container.image, "docker://debian:12");
  EXPECT_TRUE(job->spec.command.empty());
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfContainers) {
  expectProblem("container: /images/x",
                "12: container: is '/images/x'; write a mapping, for example {key: value}");
  expectProblem("container: {rootfs: images/x}",
                "21: container.rootfs: is 'images/x'; write a path on the servers that starts with /");
  expectProblem("container: {network: bridge}",
                "22: container.network: is 'bridge'; write one of host, none, own");
  expectProblem("container: {rootfs: /a, bundle: /b}",
                "33: container.bundle: names files of the task, and so does rootfs; leave one of them out");
  expectProblem(
      "container: {image: x}",
      "20: container.image: has none of the beginnings that say where it is; write oci:/PATH[:TAG], "
      "oci-archive:/PATH[:TAG] or docker://NAME[:TAG], each with @sha256:DIGEST at its end if only "
      "that image will do");
  expectProblem("container: {rootfs: /a, image: \"oci:/b\"}",
                "32: container.image: names files of the task, and so does rootfs; leave one of them out");
  expectProblem(
      "limits: {network_bandwidth: 1MB}",
      "29: limits.network_bandwidth: limits a network of the task's own; add container: {network: own}, "
      "or leave it out");
}

TEST(ParseJob, ReadsExtras) {
  auto job = parse("command: [x]\nextras: {gpus: 2, tape.v1: 4096}");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.extras, (Extras{{"gpus", 2}, {"tape.v1", 4096}}));
}

TEST(ParseJob, NamesPlaceFieldAndRemedyOfExtras) {
  const std::string count = "; write a whole number from 1 to 4096";
  expectProblem("extras: [gpus]", "9: extras: is a list; write a mapping, for example {key: value}");
  expectProblem("extras: {gpus: 0}", "16: extras.gpus: is '0'" + count);
  expectProblem("extras: {gpus: 4097}", "16: extras.gpus: is '4097'" + count);
  expectProblem("extras: {gpus: some}", "16: extras.gpus: is 'some'" + count);
  expectProblem("extras: {a b: 1}",
                "15: extras.a b: a kind's name has letters, digits, dots, dashes or underscores; rename it");
  expectProblem("extras: {t-1: 1, t_1: 1}",
                "23: extras.t_1: gives tasks the same variable TARCIL_EXTRA_T_1 as 't-1'; rename one");
  std::string many = "a0: 1";
  for (size_t i = 1; i <= kMaxExtraKinds; ++i) many += ", a" + std::to_string(i) + ": 1";
  EXPECT_THAT(problemOf("command: [x]\nextras: {" + many + "}"),
              testing::EndsWith("extras.a16: there are more than 16 kinds; leave some out"));
  expectProblem("env: {TARCIL_EXTRA_GPUS: 1}",
                "26: env.TARCIL_EXTRA_GPUS: is set for every task by tarcil; choose another name");
}

TEST(ParseJob, ReadsPolicies) {
  const auto policy = [](const std::string& name) {
    auto job = parse("command: [x]\npolicy: " + name);
    EXPECT_TRUE(job.ok()) << name;
    return job->spec.policy;
  };
  EXPECT_EQ(policy("quality"), Policy::kQuality);
  EXPECT_EQ(policy("greedy"), Policy::kGreedy);
  EXPECT_EQ(policy("random"), Policy::kRandom);
  EXPECT_EQ(policy("batch"), Policy::kBatch);
  EXPECT_EQ(policy("per-task"), Policy::kPerTask);
  expectProblem("policy: best",
                "9: policy: is 'best'; write one of quality, late-binding, greedy, random, batch, per-task");
}

TEST(ParseJob, ReadsLateBinding) {
  auto job = parse(
      "command: [x]\npolicy: late-binding\nat_most_once: true\nexecutor: [python3, run.py]\nprobe_ratio: "
      "1.5");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.policy, Policy::kLateBinding);
  EXPECT_TRUE(job->spec.atMostOnce);
  EXPECT_EQ(job->executor, (std::vector<std::string>{"python3", "run.py"}));
  EXPECT_EQ(job->probeRatio, 1.5);
  for (const char* field : {"at_most_once: true", "executor: [x]", "probe_ratio: 2"}) {
    EXPECT_THAT(problemOf("command: [x]\n" + std::string(field)),
                testing::EndsWith("is for policy: late-binding; write that too, or leave this out"));
  }
  EXPECT_THAT(problemOf("command: [x]\npolicy: late-binding\nexecutor: []"),
              testing::HasSubstr("empty list"));
  EXPECT_THAT(problemOf("command: [x]\npolicy: late-binding\nprobe_ratio: 0.5"),
              testing::HasSubstr("probe_ratio"));
  for (const char* field :
       {"rus_per_task: 2", "schedule: gang\ntasks: 2", "extras: {gpus: 1}", "exclusive: true",
        "tasks: 4\nconcurrency: 2", "restart: {attempts: 1}", "placement: {spread: server}"}) {
    EXPECT_THAT(problemOf("command: [x]\npolicy: late-binding\n" + std::string(field)),
                testing::HasSubstr("a late-bound job"))
        << field;
  }
}

TEST(ParseJob, ReadsPacking) {
  for (const char* policy : {"quality", "greedy"}) {
    auto job = parse("command: [x]\npolicy: " + std::string(policy) +
                     "\nplacement: {pack: server, spread: rack, at_most: 4}");
    ASSERT_TRUE(job.ok()) << job.error().message;
    EXPECT_EQ(job->spec.placement.pack, Domain::kServer);
    EXPECT_EQ(job->spec.placement.spread, Domain::kRack);
  }
  EXPECT_EQ(parse("command: [x]\nplacement: {pack: rack, spread: server}")->spec.placement.pack,
            Domain::kRack);
  expectProblem("placement: {pack: server, spread: server}",
                "19: placement.pack: contradicts spread: server; leave one of them out");
  expectProblem("placement: {pack: rack, spread: rack}",
                "19: placement.pack: contradicts spread: rack; leave one of them out");
  for (const char* policy : {"random", "batch", "per-task"}) {
    EXPECT_EQ(problemOf("command: [x]\nplacement: {pack: rack}\npolicy: " + std::string(policy)),
              "job.yaml:2:19: placement.pack: needs policy quality or greedy, the others do not look at it; "
              "leave one of them out");
    EXPECT_EQ(problemOf("command: [x]\nplacement: {pack: none}\npolicy: " + std::string(policy)), "");
  }
}

TEST(ParseJob, ReadsPreferencesOfEachTask) {
  auto job = parse("command: [x]\nplacement: {prefer: {0: [s1], 2: [s2, s3]}}\ntasks: 3");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_TRUE(job->spec.placement.prefer.empty());
  EXPECT_EQ(job->spec.placement.preferOfTask,
            (std::map<uint32_t, std::vector<std::string>>{{0, {"s1"}}, {2, {"s2", "s3"}}}));
  for (const std::string wrong : {"2", "-1", "x", "01", "1.0", "''", "4294967296"}) {
    EXPECT_THAT(problemOf("command: [x]\ntasks: 2\nplacement: {prefer: {" + wrong + ": [s1]}}"),
                testing::EndsWith(": is for no task of this job; write an index from 0 to 1"))
        << wrong;
  }
  expectProblem("placement: {prefer: {0: s1}}",
                "25: placement.prefer.0: is 's1'; write a list, for example [a, b]");
}

TEST(ParseJob, ReadsOtherAttributesToSpreadAndPackBy) {
  const auto job = parse("command: [x]\ntasks: 4\nplacement: {spread: switch, pack: room, at_most: 2}");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.placement.spread, "switch");
  EXPECT_EQ(job->spec.placement.pack, "room");
  EXPECT_EQ(describe(job->spec.placement.constraints), "switch exists; room exists")
      << "servers without them are in no domain";
  EXPECT_EQ(parse("command: [x]\nplacement: {spread: none, pack: none}")->spec.placement, Placement{});
  EXPECT_TRUE(parse("command: [x]\nplacement: {spread: rack}")->spec.placement.constraints.empty());
  expectProblem("placement: {pack: switch, spread: switch}",
                "19: placement.pack: contradicts spread: switch; leave one of them out");
}

TEST(ParseJob, ReadsWhatTheJobRequires) {
  const auto job =
      parse("command: [x]\nplacement: {require: [s1, rack = r1, s 2], constraints: [gpu exists]}");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.placement.constraints,
            (std::vector<Constraint>{{"gpu", Constraint::Operator::kExists, {}},
                                     {"rack", Constraint::Operator::kEqual, {"r1"}},
                                     {"server", Constraint::Operator::kIn, {"s1", "s 2"}}}));
  expectProblem("placement: {require: [rack == r1]}",
                "23: placement.require[0]: in 'rack == r1', column 6: '==' is no operator; write = or !=");
  expectProblem("placement: {require: s1}",
                "22: placement.require: is 's1'; write a list, for example [a, b]");
  std::string many = "placement: {require: [s";
  for (int i = 0; i < 256; ++i) many += ", s";
  expectProblem(many + "]}", "22: placement.require: has 257 entries; write at most 256");
}

TEST(ParseJob, ReadsWhatEachTaskRequires) {
  const auto job = parse("command: [x]\nplacement: {require: {0: [s1, s2], 2: [rack = r1]}}\ntasks: 3");
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_TRUE(job->spec.placement.constraints.empty());
  EXPECT_EQ(job->spec.placement.requireOfTask, (std::map<uint32_t, std::vector<Constraint>>{
                                                   {0, {{"server", Constraint::Operator::kIn, {"s1", "s2"}}}},
                                                   {2, {{"rack", Constraint::Operator::kEqual, {"r1"}}}}}));
  EXPECT_THAT(problemOf("command: [x]\ntasks: 2\nplacement: {require: {2: [s1]}}"),
              testing::EndsWith(": is for no task of this job; write an index from 0 to 1"));
  EXPECT_THAT(problemOf("command: [x]\nplacement: {require: {0: []}}"),
              testing::EndsWith(
                  "placement.require.0: requires nothing; name a server or a condition, or leave it out"));
}

TEST(ParseJob, ReadsHowTasksAreWatched) {
  const auto job =
      parse("command: [x]\nperformance: {metric: instructions, target: 1.2e9, deviation: 15%, window: 5s}");
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->spec.performance, (PerformanceGoal{Metric::kInstructions, 1.2e9, 0.15, 5s}));
  EXPECT_EQ(parse("command: [x]\nperformance: {metric: reported}")->spec.performance, PerformanceGoal{});
  EXPECT_EQ(parse("command: [x]\nperformance: {metric: cpu, deviation: 0.2}")->spec.performance->deviation,
            0.2);
  EXPECT_FALSE(parse("command: [x]")->spec.performance);
}

TEST(ParseJob, RefusesWhatCannotBeWatched) {
  expectProblem("performance: {target: 5}",
                "14: performance: metric is missing; write metric: instructions, reported or cpu");
  expectProblem("performance: {metric: speed}",
                "23: performance.metric: is 'speed'; write one of instructions, reported, cpu");
  expectProblem("performance: {metric: cpu, target: 0}",
                "36: performance.target: is '0'; write a number above 0 and at most 1e+18");
  for (const char* wrong : {"0%", "100%", "1", "-5%", "some"}) {
    expectProblem("performance: {metric: cpu, deviation: " + std::string(wrong) + "}",
                  "39: performance.deviation: is '" + std::string(wrong) +
                      "'; write a share above 0% and below 100%, for example 10%");
  }
  expectProblem("performance: {metric: cpu, for: 1s}",
                "28: performance.for: unknown field; known here: metric, target, deviation, window");
}

TEST(ParseJob, RefusesSwitchesThatAreNone) {
  expectProblem("preemptible: maybe", "14: preemptible: is 'maybe'; write true or false");
  expectProblem("exclusive: maybe", "12: exclusive: is 'maybe'; write true or false");
}

TEST(ParseJob, ShowsAllProblemsInTheOrderOfTheFile) {
  EXPECT_THAT(problemOf("tasks: 0\nprio: 3\npriority: 300\ntasks: 2\n"),
              testing::MatchesRegex("job.yaml:1:1: command: is missing; .*\n"
                                    "job.yaml:1:8: tasks: is '0'; .*\n"
                                    "job.yaml:2:1: prio: unknown field; known here: name, .*\n"
                                    "job.yaml:3:11: priority: is '300'; .*\n"
                                    "job.yaml:4:1: tasks: is given twice, first in line 1; keep one"));
  std::string many = "command: [x]\n";
  for (int i = 0; i < 60; ++i) many += "x" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(problemOf(many), testing::EndsWith("\njob.yaml: 10 more problems"));
  for (int i = 0; i < 3000; ++i) many += "y" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(problemOf(many), testing::EndsWith("\njob.yaml: 3010 more problems"));
}

TEST(ParseJob, RefusesWhatIsNoMapping) {
  EXPECT_EQ(problemOf("[command, x]"),
            "job.yaml:1:1: file: is a list; write a mapping, for example {key: value}");
  EXPECT_EQ(problemOf("~"), "job.yaml:1:1: file: is empty; write a mapping, for example {key: value}");
}

TEST(ParseJob, LooksAProfileUpOnlyWhereNoneIsGiven) {
  auto lookup = parse("command: [x]\napplication: logreg");
  ASSERT_TRUE(lookup.ok());
  EXPECT_EQ(lookup->lookupApplication, "logreg");
  EXPECT_FALSE(lookup->hasProfile);
  EXPECT_EQ(lookup->spec.profile, Profile{});

  auto given = parse("command: [x]\napplication: logreg\nprofile: {caused: {llc: 60}}");
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->lookupApplication, "");
  EXPECT_TRUE(given->hasProfile);
  EXPECT_EQ(given->spec.profile.application, "logreg");
  EXPECT_EQ(problemOf("command: [x]\napplication: a\nprofile: {application: b, caused: {llc: 60}}"),
            "job.yaml:2:14: application: is 'a'; its profile is of application 'b': write the same, or leave "
            "one out");
}

TEST(ParseJob, PrefersTheProfileOfTheCommandLine) {
  JobFileOptions options;
  options.profile = Profile{};
  options.profile->caused[kLlc] = 7;
  auto job = parse("command: [x]\nprofile: {caused: {llc: 60}}", options);
  ASSERT_TRUE(job.ok());
  EXPECT_TRUE(job->hasProfile);
  EXPECT_EQ(job->spec.profile.caused[kLlc], 7);
}

TEST(ParseJob, RefusesABadProfile) {
  expectProblem("profile: {caused: {llc: 100}}",
                "25: profile.caused.llc: is '100'; write a whole number from 0 to 99");
  expectProblem(
      "profile: {caused: {gpu: 1}}",
      "25: profile.caused.gpu: unknown resource; write one of core, l1i, l1d, l2, llc, memory_bandwidth, "
      "memory_capacity, tlb, disk_bandwidth, network_bandwidth");
  expectProblem("profile: [a]",
                "10: profile: is a list; write the path of a profile, or the profile itself as a mapping");
}

TEST(ReadJobFile, FindsTheProfileBesideIt) {
  ScratchFolder folder;
  folder.write("jobs/job.yaml", "command: [x]\nprofile: ../profiles/p.yaml\n");
  folder.write("profiles/p.yaml", "caused: {llc: 60}");
  auto job = readJobFile(folder.at("jobs/job.yaml"), {});
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.profile.caused[kLlc], 60);

  folder.write("profiles/p.yaml", "caused: {llc: 160}");
  EXPECT_EQ(readJobFile(folder.at("jobs/job.yaml"), {}).error().message,
            folder.at("jobs/job.yaml") +
                ":2:10: profile: the profile '../profiles/p.yaml' cannot be used; see its problems below\n" +
                folder.at("profiles/p.yaml") +
                ":1:15: caused.llc: is '160'; write a whole number from 0 to 99");
}

TEST(ReadJobFile, NamesAJobAfterItsFileWhereTheProgramHasNoName) {
  ScratchFolder folder;
  folder.write("nightly.yaml", "command: [/opt/run/]");
  auto job = readJobFile(folder.at("nightly.yaml"), {});
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.name, "nightly");
}

TEST(ReadJobFile, BoundsTheFile) {
  ScratchFolder folder;
  folder.write("big.yaml", std::string((1u << 20) + 1, '#'));
  EXPECT_EQ(readJobFile(folder.at("big.yaml"), {}).error(),
            invalid(folder.at("big.yaml") + ": is larger than 1MiB; make it smaller"));
}

TEST(ParseJob, ReadsWhatMayBeDoneForTasksThatPerformBadly) {
  const std::string watched = "\nperformance: {metric: cpu}";
  const auto job = parse("command: [x]\nadjust: {more_rus: 4, move: true}" + watched);
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(job->spec.adjust, (Adjusting{4, true}));
  expectProblem("adjust: {more_rus: -1}" + watched,
                "20: adjust.more_rus: is '-1'; write a whole number from 0 to 4096");
  expectProblem("adjust: {moves: true}" + watched,
                "10: adjust.moves: unknown field; did you mean move? known here: more_rus, move");
  expectProblem("adjust: {move: true}",
                "9: adjust: is for tasks that perform below what the job expects, and nothing says what it "
                "expects; write performance: {metric: reported} too (docs/job-file.md), or leave this out");
}

}  // namespace tarcil::job_file_test
