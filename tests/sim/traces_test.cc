#include "sim/workload/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tarcil::sim::traces_test {

using std::chrono::seconds;
using testing::HasSubstr;

const std::string kOpenbHeader =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
    "scheduled_time\n";

template <typename T>
std::string problemOf(const Result<T>& result) {
  return result.ok() ? "" : result.error().message;
}

TEST(ReadSwf, TakesProcessorsAsTasksAndSkipsWhatDidNotRun) {
  const auto trace = readSwf(
      "; a comment\n"
      "    1        7     -1   1451  128     -1    -1   -1     -1    -1 -1   3   1   5 -1 -1 -1 -1\n"
      "\n"
      "    2        9     -1   10   -1     -1    -1   16     -1    -1 -1   3   1   6 -1 -1 -1 -1\r\n"
      "    3        9     -1   0   4     -1    -1   -1     -1    -1 -1   3   1   6 -1 -1 -1 -1\n"
      "    4        9     -1   5   -1     -1    -1   -1     -1    -1 -1   3   1   6 -1 -1 -1 -1\n",
      "t.swf");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 2u);
  const TraceJob first{.arrival = seconds(7), .tasks = 128, .each = seconds(1451), .application = "3/5"};
  EXPECT_EQ(trace->jobs[0], first);
  EXPECT_EQ(trace->jobs[1].tasks, 16u) << "as requested, where it is not known what was allocated";
  EXPECT_EQ(trace->skipped, 2u);
}

TEST(ReadSwf, NamesLineColumnAndField) {
  const std::string tail = "     -1    -1   -1     -1    -1 -1   1   1  -1 -1 -1 -1 -1\n";
  EXPECT_EQ(problemOf(readSwf("1 x -1 1451 128" + tail, "t.swf")),
            "t.swf:1:3: submit time: is 'x'; write a whole number from 0 to 315360000");
  EXPECT_EQ(problemOf(readSwf(";\n1 5 -1 1451 128\n", "t.swf")), "t.swf:2:1: line: has 5 fields; write 18");
  EXPECT_THAT(problemOf(readSwf("1 5 -1 1.5 128" + tail, "t.swf")),
              HasSubstr("t.swf:1:8: run time: is '1.5'"));
  EXPECT_THAT(problemOf(readSwf("1 5 -1 9 100001" + tail, "t.swf")), HasSubstr("allocated processors"));
  EXPECT_THAT(problemOf(readSwf("1 99999999999999999999 -1 9 1" + tail, "t.swf")), HasSubstr("submit time"));
  EXPECT_THAT(problemOf(readSwf("; nothing\n", "t.swf")), HasSubstr("t.swf:1:1: file: has no job that ran"));
  EXPECT_THAT(problemOf(readSwf("1 \x1b[2J -1 1451 128" + tail, "t.swf")), HasSubstr("is '?[2J'"));
}

TEST(ReadSwf, ShowsSeveralProblemsAndCountsTheRest) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "x\n";
  const std::string problem = problemOf(readSwf(text, "t.swf"));
  EXPECT_THAT(problem, HasSubstr("t.swf:10:1: line: has 1 fields; write 18\nt.swf: and 20 more problems"));
}

TEST(ReadOpenb, TakesPodsAsTasks) {
  const auto trace = readOpenb(kOpenbHeader +
                                   "p0,6001,12288,1,460,,LS,Running,100,400,150\n"
                                   "p1,1000,12288,1,460,,BE,Pending,100,400,\n",
                               "pods.csv");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  const TraceJob pod{.arrival = seconds(100), .rus = 7, .each = seconds(250), .application = "LS/6001"};
  EXPECT_EQ(trace->jobs, std::vector<TraceJob>{pod});
  EXPECT_EQ(trace->skipped, 1u);
}

TEST(ReadOpenb, NamesLineColumnAndField) {
  const auto problem = [](const std::string& line) {
    return problemOf(readOpenb(kOpenbHeader + line, "p.csv"));
  };
  EXPECT_EQ(problem("p0,0,1,1,1,,LS,Running,1,4,1\n"),
            "p.csv:2:4: cpu_milli: is '0'; write a whole number from 1 to 4096000");
  EXPECT_EQ(problem("p0,1000,1,1,1,,LS,Running,10,40,40\n"),
            "p.csv:2:30: deletion_time: is not later than scheduled_time; mend one of them");
  EXPECT_THAT(problem("p0,1000,1,1,1,,LS,Running,10,40,5\n"),
              HasSubstr("p.csv:2:33: scheduled_time: is '5'"));
  EXPECT_THAT(problem("p0,1000,1\n"), HasSubstr("has 3 fields; write 11"));
  EXPECT_THAT(problemOf(readOpenb("a,b,c,d,e,f,g,h,i,j,k\n", "p.csv")),
              HasSubstr("p.csv:1:1: header: is 'a'; write name"));
}

TEST(ReadSwim, MakesTasksOfInputBytes) {
  const std::string gib = std::to_string(1 << 30);
  const auto trace = readSwim("job0\t49\t49\t" + gib + "\t0\t0\njob1\t50\t1\t0\t42\t0\n", "f.tsv");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].tasks, 8u);
  EXPECT_EQ(trace->jobs[0].each, seconds(1) + Duration(2'684'354));
  EXPECT_EQ(trace->jobs[1].tasks, 1u);
}

TEST(ReadSwim, NamesLineColumnAndField) {
  EXPECT_EQ(problemOf(readSwim("job0\t49\t49\t-1\t0\t0\n", "f.tsv")),
            "f.tsv:1:12: input bytes: is '-1'; write a whole number from 0 to 1152921504606846976");
  EXPECT_THAT(problemOf(readSwim("job0 49 49 1 0 0\n", "f.tsv")), HasSubstr("has 1 fields; write 6"));
}

RC_GTEST_PROP(Traces, AreReadOrRefusedWhateverTheyHold, (const std::string& text)) {
  for (const auto read : {readSwf, readOpenb, readSwim}) {
    const auto trace = read(text, "any");
    const bool isRead = trace.ok() && !trace->jobs.empty();
    const bool isRefused = !trace.ok() && trace.error().message.starts_with("any:");
    RC_ASSERT(isRead != isRefused);
  }
}

TEST(WorkloadOf, OrdersJobsAndCutsThemToTheServers) {
  Trace trace;
  trace.jobs = {{.arrival = seconds(30), .tasks = 1, .rus = 9, .each = seconds(1), .application = "a"},
                {.arrival = seconds(10), .tasks = 2, .rus = 1, .each = seconds(2), .application = "b"},
                {.arrival = seconds(30), .tasks = 3, .rus = 1, .each = seconds(3), .application = "a"}};
  const Workload workload = workloadOf(trace, 60, 4);
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.jobs[0].arrival, SimTime{});
  EXPECT_EQ(workload.jobs[0].tasks, 2u);
  EXPECT_EQ(workload.jobs[1].arrival, seconds(20));
  EXPECT_EQ(workload.jobs[1].rus, 4u);
  EXPECT_EQ(workload.jobs[1].application, workload.jobs[2].application);
  EXPECT_EQ(workload.work[workload.jobs[2].firstTask], seconds(3));
}

}  // namespace tarcil::sim::traces_test
