#include "core/model/job_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <type_traits>

#include "core/model/job_fields.h"

namespace tarcil::job_check_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

JobSpec goodJob() {
  JobSpec job;
  job.command = {"true"};
  return job;
}

// What is said of a good job after this change to it; "" where it is still good.
std::string problemAfter(const std::function<void(JobSpec&)>& change) {
  JobSpec spec = goodJob();
  change(spec);
  Status status = checkJob(spec, false);
  return status.ok() ? "" : status.error().message;
}

std::string problemOf(const std::vector<InputFile>& files) {
  Status status = checkJob(goodJob(), files);
  return status.ok() ? "" : status.error().message;
}

TEST(JobCheck, GoodJobPasses) {
  EXPECT_EQ(problemAfter([](JobSpec&) {}), "");
}

TEST(JobCheck, NamesTheNumberOutOfItsRange) {
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.tasks = 0; }), StartsWith("tasks: is 0; "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.tasks = kMaxTasks + 1; }), StartsWith("tasks: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.rusPerTask = 0; }), StartsWith("rus_per_task: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.priority = 101; }), StartsWith("priority: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.grace = Duration(-1); }), StartsWith("grace: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.maxWait = Duration::max(); }),
              StartsWith("quality.max_wait: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.restart.backoff = Duration::max(); }),
              StartsWith("restart.backoff: "));
}

TEST(JobCheck, NamesWhatIsTooLargeAsAWhole) {
  const std::string name(120, 's');
  const auto prefer = [&name](JobSpec& job, uint32_t tasks) {
    job.tasks = tasks;
    for (uint32_t task = 0; task < tasks; ++task)
      job.placement.preferOfTask[task] = {name + std::to_string(task)};
  };
  EXPECT_EQ(problemAfter([&](JobSpec& job) { prefer(job, 6'000); }), "");
  EXPECT_THAT(problemAfter([&](JobSpec& job) { prefer(job, 20'000); }),
              AllOf(StartsWith("placement.prefer: takes "), HasSubstr("at most 1MiB")));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.workdir = "/" + std::string(3 << 20, 'x'); }),
              StartsWith("job: takes "));
}

TEST(JobCheck, NamesTheRatioOutOfItsRange) {
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.target = 1.5; }), StartsWith("quality.target: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.target = std::nan(""); }), StartsWith("quality.target: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.confidence = 1; }), StartsWith("quality.confidence: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.profile.platforms["p"] = 0; }),
              StartsWith("profile.platforms.p: "));
}

TEST(JobCheck, NamesTheResourceOfAPressureOutOfItsRange) {
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.profile.caused[4] = 100; }),
              StartsWith("profile.caused.llc: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.profile.tolerated[0] = 100; }),
              StartsWith("profile.tolerated.core: "));
}

TEST(JobCheck, WantsACommandThatCanBeExecuted) {
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.command.clear(); }), StartsWith("command: is missing"));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.command = {""}; }), StartsWith("command: is missing"));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.command[0] = std::string("a\0b", 3); }),
              StartsWith("command: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.command.emplace_back(kMaxCommandAndEnvBytes, 'x'); }),
              StartsWith("command: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.env["A=B"] = "1"; }), StartsWith("env.A=B: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.workdir = "here"; }), StartsWith("workdir: "));
}

TEST(JobCheck, WantsPlacementThatLeavesPlaces) {
  EXPECT_THAT(problemAfter([](JobSpec& job) {
                job.placement.spread = Domain::kServer;
                job.placement.atMost = 0;
              }),
              StartsWith("placement.at_most: "));
  EXPECT_THAT(
      problemAfter([](JobSpec& job) {
        job.placement.constraints = {{.attribute = "rack", .op = Constraint::Operator::kEqual, .values = {}}};
      }),
      StartsWith("placement.constraints: "));
}

TEST(JobCheck, BoundsWhatTasksRequire) {
  const auto require = [](JobSpec& job, uint32_t tasks, const std::string& attribute, size_t values) {
    job.tasks = tasks;
    for (uint32_t task = 0; task < tasks; ++task) {
      Constraint& list = job.placement.requireOfTask[task].emplace_back();
      list = {attribute, Constraint::Operator::kIn, {std::to_string(task)}};
      while (list.values.size() < values) list.values.push_back("v");
    }
  };
  EXPECT_EQ(problemAfter([&](JobSpec& job) { require(job, 2'000, "server", 1); }), "");
  EXPECT_EQ(problemAfter([&](JobSpec& job) { require(job, 2'000, "rack", 1); }), "");
  EXPECT_EQ(problemAfter([&](JobSpec& job) { require(job, 16, "disk", 1); }), "");
  EXPECT_THAT(
      problemAfter([&](JobSpec& job) { require(job, 17, "disk", 1); }),
      StartsWith("placement.require: has 17 different conditions for single tasks; write at most 16"));
  EXPECT_THAT(problemAfter([&](JobSpec& job) { require(job, 1, "server", 257); }),
              StartsWith("placement.require.0: lists 257 values of 'server'; write at most 256"));
  EXPECT_THAT(problemAfter([&](JobSpec& job) { job.placement.requireOfTask[0] = {}; }),
              StartsWith("placement.require.0: requires nothing"));
  EXPECT_THAT(problemAfter([&](JobSpec& job) {
                require(job, 3, "server", 1);
                job.tasks = 2;
              }),
              StartsWith("placement.require.2: is for no task of this job"));
  EXPECT_THAT(problemAfter([&](JobSpec& job) { require(job, 9'000, "server", 5); }),
              AllOf(StartsWith("placement.require: takes "), HasSubstr("at most 1MiB")));
}

TEST(JobCheck, FilesStayInsideTheWorkingDirectory) {
  EXPECT_EQ(problemOf({{.path = "data/a.txt", .content = "x"}}), "");
  for (const char* path : {"", "/etc/passwd", "../a", "a/../../b", "a//b", "./a", "a/"}) {
    EXPECT_THAT(problemOf({{.path = path, .content = "x"}}), StartsWith("files: ")) << path;
  }
}

TEST(JobCheck, FilesGoWithAPrivateDirectoryOnly) {
  JobSpec job = goodJob();
  job.workdir = "/srv";
  EXPECT_TRUE(checkJob(job, false).ok());
  const Status status = checkJob(job, std::vector<InputFile>{{.path = "a", .content = "x"}});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, StartsWith("files: "));
}

TEST(JobCheck, BoundsPatternsOfFilesThatAreKept) {
  const auto problem = [](std::vector<std::string> patterns) {
    return problemAfter([&](JobSpec& job) { job.results = std::move(patterns); });
  };
  EXPECT_EQ(problem({"out/*.csv", "a/b/[c-d]?", ".hidden", "..."}), "");
  for (const char* pattern : {"", "/etc/*", "../*", "a/../b", "a//b", "./a", "a/"}) {
    EXPECT_THAT(problem({pattern}), HasSubstr("is no pattern of files below the task's working directory"))
        << pattern;
  }
  EXPECT_THAT(problem({std::string("a\0b", 3)}), StartsWith("results: "));
  EXPECT_EQ(problem({std::string(256, 'a')}), "");
  EXPECT_THAT(problem({std::string(257, 'a')}), HasSubstr("has 257 characters; write at most 256"));
  EXPECT_THAT(problem({"1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17"}), HasSubstr("has 17 names"));
  EXPECT_EQ(problem(std::vector<std::string>(101, "a")), "results: has 101 entries; write at most 100");
  EXPECT_THAT(problemAfter([](JobSpec& job) {
                job.results = {"a"};
                job.workdir = "/srv";
              }),
              StartsWith("results: are kept of each task's private working directory"));
}

TEST(JobCheck, BoundsSecrets) {
  const auto problem = [](std::vector<std::string> secrets) {
    return problemAfter([&](JobSpec& job) { job.secrets = std::move(secrets); });
  };
  EXPECT_EQ(problem({"db", "ann/tls", "bob/_key.pem"}), "");
  for (const char* secret : {"", "a b", "../x", "ann/", "/db", "a/b/c"})
    EXPECT_THAT(problem({secret}), HasSubstr("names no secret; write NAME")) << secret;
  EXPECT_THAT(problem({"db", "ann/db"}), HasSubstr("'ann/db' is to be a file that another one is already"));
  std::vector<std::string> many;
  for (int i = 0; i < 33; ++i) many.push_back("s" + std::to_string(i));
  EXPECT_EQ(problem(many), "secrets: has 33 entries; write at most 32");
  many.pop_back();
  EXPECT_EQ(problem(many), "");
  EXPECT_THAT(problemAfter([](JobSpec& job) {
                job.secrets = {"db"};
                job.policy = Policy::kLateBinding;
              }),
              HasSubstr("secrets: a late-bound job gets none"));
}

TEST(JobCheck, TellsErrorsOfTasksFromOutputsOfOthers) {
  EXPECT_EQ(problemAfter([](JobSpec& spec) {
              spec.tasks = 20;
              spec.output = "/logs/{index}";
              spec.error = "/logs/1{index}";
            }).substr(0, 35),
            "error: could be the file that is an");
}

TEST(JobCheck, FilesAreBoundedAndPlain) {
  const std::string half(kMaxInputBytes / 2, 'x');
  EXPECT_THAT(problemOf({{.path = "a", .content = half}, {.path = "b", .content = half}}),
              StartsWith("files: "));
  EXPECT_THAT(problemOf({{.path = "a", .mode = 04755, .content = "x"}}), StartsWith("files: "));
}

// Everything that is said of a job in which only this field is not as usual.
std::string fieldsNamed(const JobSpec& job) {
  std::string fields;
  for (const JobProblem& problem : fieldProblems(job)) fields += problem.field + ";";
  return fields;
}

TEST(JobCheck, HoldsEachFieldOfTheTableAgainstItsBounds) {
  forEachJobField([](const auto& field) {
    JobSpec job = goodJob();
    using Kind = std::remove_cvref_t<decltype(field.kind)>;
    auto& value = field.of(job);
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Kind, Flag>) {
      value = !value;
      EXPECT_EQ(fieldsNamed(job), "") << field.path;
      return;
    } else if constexpr (std::is_enum_v<Value>) {
      value = static_cast<Value>(200);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value = std::string("\0/", 2);
    } else if constexpr (std::is_same_v<Kind, WholeNumber>) {
      value = static_cast<Value>(field.kind.most + 1);
    } else if constexpr (std::is_same_v<Kind, Size>) {
      value = kMaxSize + 1;
    } else if constexpr (std::is_same_v<Kind, RealNumber>) {
      value = std::nan("");
    } else if constexpr (std::is_same_v<Kind, Span>) {
      value = field.kind.most + Duration(1);
    } else {
      value = kNever - Duration(1);
    }
    EXPECT_EQ(fieldsNamed(job), std::string(field.path) + ";") << field.path;
  });
}

TEST(JobCheck, RefusesWhatLateBindingDoesNotDo) {
  const auto problem = [](const std::function<void(JobSpec&)>& change) {
    return problemAfter([&](JobSpec& job) {
      job.policy = Policy::kLateBinding;
      change(job);
    });
  };
  EXPECT_EQ(problem([](JobSpec&) {}), "");
  EXPECT_EQ(problem([](JobSpec& job) { job.rusPerTask = 2; }),
            "rus_per_task: a late-bound job has one unit for each task; leave it out");
  EXPECT_THAT(problem([](JobSpec& job) { job.startAfter = WallTime(Duration(1)); }),
              StartsWith("start_after: "));
  EXPECT_THAT(problem([](JobSpec& job) { job.extras["gpus"] = 1; }), StartsWith("extras: "));
  EXPECT_THAT(problem([](JobSpec& job) { job.results = {"a"}; }), StartsWith("results: "));
  EXPECT_THAT(problem([](JobSpec& job) {
                job.tasks = 4;
                job.concurrency = 2;
              }),
              StartsWith("concurrency: "));
  EXPECT_THAT(problemAfter([](JobSpec& job) { job.atMostOnce = true; }), HasSubstr("late-binding"));
}

TEST(JobCheck, NamesVariablesThatTasksCannotHave) {
  EXPECT_THAT(whyNotVariable("TARCIL_TASK"), HasSubstr("choose another name"));
  EXPECT_THAT(whyNotVariable("TARCIL_EXTRA_GPUS"), HasSubstr("choose another name"));
  EXPECT_THAT(whyNotVariable("A=B"), HasSubstr("rename"));
  EXPECT_EQ(whyNotVariable("PATH"), "");
}

}  // namespace tarcil::job_check_test
