#include "formats/recording_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/tarcild/recording_lines.h"
#include "core/base/rng.h"
#include "core/base/units.h"
#include "formats/growing_file.h"
#include "formats/recording_part.h"
#include "sim/replay/replay.h"
#include "tests/cli/running_tarcil.h"
#include "tests/support/scratch_folder.h"

namespace tarcil::recording_file_test {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr WallTime kBegan{seconds(1'800'000'000)};

// As the recorder writes it, `after` seconds into the recording.
std::string line(int after, const Json& what) {
  Json whole = {{"at", formatTime(kBegan + seconds(after))}};
  whole.update(what);
  return whole.dump() + "\n";
}

ServerFacts aServer() {
  ServerFacts facts;
  facts.name = "s1";
  facts.platform = "haswell";
  facts.rus = 4;
  return facts;
}

ServerStatus upWith(uint8_t llc) {
  ServerStatus status;
  status.up = true;
  status.background[static_cast<size_t>(Resource::kLlc)] = llc;
  return status;
}

JobStatus aFinishedJob() {
  JobStatus job = aJob(idOf(1), RunState::kDone);
  job.record.submitted = kBegan + seconds(2);
  job.record.spec.rusPerTask = 2;
  job.record.spec.target = 0.5;
  job.record.spec.maxWait = seconds(7);
  job.record.spec.profile.caused[0] = 30;
  job.record.spec.profile.tolerated[1] = 40;
  job.record.spec.profile.platforms = {{"haswell", 0.5}};
  TaskRecord& task = job.tasks.front();
  task.server = "s1";
  task.end.started = kBegan + seconds(3);
  task.end.ended = kBegan + seconds(8);
  return job;
}

std::string theRecording() {
  QualitySettings settings;
  settings.target = 0.9;
  settings.ratio = 12;
  Share share = fullShare();
  share[4] = 128;
  const JobStatus job = aFinishedJob();
  return line(0, recording::head("test")) + line(0, recording::lineOf(settings)) +
         line(0, recording::lineOf("haswell", share)) + line(0, recording::lineOf(aServer(), upWith(20))) +
         line(2, recording::lineOf(job.record)) + line(5, recording::lineOf(aServer(), upWith(40))) +
         line(8, recording::lineOf(job, 0, 10)) + line(10, recording::stopped("interrupted"));
}

sim::Recording parsed(const std::string& text) {
  auto recording = parseRecording(text, "r");
  EXPECT_TRUE(recording.ok()) << recording.error().message;
  return recording.ok() ? *recording : sim::Recording{};
}

std::string problemsOf(const std::string& text) {
  const auto recording = parseRecording(text, "r");
  EXPECT_FALSE(recording.ok());
  return recording.ok() ? "" : recording.error().message;
}

TEST(RecordingFile, IsReadAsItWasWritten) {
  const sim::Recording recording = parsed(theRecording());
  EXPECT_EQ(recording.length, seconds(10));
  EXPECT_EQ(recording.settings.target, 0.9);
  EXPECT_EQ(recording.settings.ratio, 12u);
  ASSERT_EQ(recording.platforms.size(), 1u);
  EXPECT_EQ(recording.platforms[0].share[4], 128);
  ASSERT_EQ(recording.servers.size(), 1u);
  EXPECT_EQ(recording.servers[0].rus, 4u);
  EXPECT_EQ(recording.servers[0].background[static_cast<size_t>(Resource::kLlc)], 30) << "its mean over time";
  ASSERT_EQ(recording.jobs.size(), 1u);
  const sim::RecordedJob& job = recording.jobs[0];
  EXPECT_EQ(job.arrival, seconds(2));
  EXPECT_EQ(job.rus, 2u);
  EXPECT_EQ(job.target, 0.5);
  EXPECT_EQ(job.maxWait, seconds(7));
  EXPECT_EQ(job.profile.caused[0], 30);
  EXPECT_EQ(job.profile.tolerated[1], 40);
  EXPECT_EQ(job.profile.platforms.at("haswell"), 0.5);
  EXPECT_EQ(job.tasks, (std::vector<sim::RecordedTask>{{0, seconds(3), seconds(8)}}));
  EXPECT_TRUE(job.isWhole);
}

TEST(RecordingFile, KnowsJobsThatWereNotSeenWhole) {
  JobStatus running = aFinishedJob();
  running.progress.state = running.tasks[0].state = RunState::kRunning;
  running.tasks[0].end.ended = kNever;
  JobStatus before = aFinishedJob();
  before.record.id = idOf(2);
  before.record.submitted = kBegan - seconds(100);
  JobStatus waiting = aFinishedJob();
  waiting.record.id = idOf(3);
  waiting.record.spec.schedule = Schedule::kGang;
  std::string text = line(0, recording::head("test")) + line(0, recording::lineOf(aServer(), upWith(0)));
  for (const JobStatus* job : {&running, &before, &waiting}) text += line(1, recording::lineOf(job->record));
  text += line(9, recording::lineOf(running, 0, 10)) + line(9, recording::lineOf(before, 0, 10));
  const sim::Recording recording = parsed(text);
  ASSERT_EQ(recording.jobs.size(), 2u);
  EXPECT_EQ(recording.jobs[0].tasks[0].ended, seconds(9)) << "when it was last seen";
  EXPECT_FALSE(recording.jobs[0].isWhole);
  EXPECT_EQ(recording.jobs[1].arrival, -seconds(100));
  EXPECT_FALSE(recording.jobs[1].isWhole);
  EXPECT_EQ(recording.neverRan, 1u);
  EXPECT_EQ(recording.simplified, 1u);
}

TEST(RecordingFile, IsOfUseWhereverItsEndWasCutOff) {
  const std::string whole = theRecording();
  const size_t head = whole.find('\n') + 1;
  for (size_t size = head; size < whole.size(); ++size) {
    EXPECT_TRUE(parseRecording(whole.substr(0, size), "r").ok()) << size;
  }
}

TEST(RecordingFile, GrowsPackedAndIsReadBeforeItIsClosed) {
  const ScratchFolder folder;
  for (const char* name : {"r.gz", "r.jsonl"}) {
    const std::string path = folder.at(name);
    auto file = GrowingFile::make(path);
    ASSERT_TRUE(file.ok());
    const std::string text = theRecording();
    file->add(std::string_view(text).substr(0, text.size() - 1));
    ASSERT_TRUE(file->flush().ok());
    const auto flushed = readRecording(path);
    ASSERT_TRUE(flushed.ok()) << flushed.error().message;
    EXPECT_EQ(flushed->jobs.size(), 1u);
    ASSERT_TRUE(file->close().ok());
    EXPECT_EQ(*readRecording(path), *flushed);
    EXPECT_THAT(GrowingFile::make(path).error().message, HasSubstr("is there already")) << "never replaced";
  }
  EXPECT_THAT(GrowingFile::make(folder.at("no/r")).error().message, HasSubstr("cannot be made"));
}

// As the parts of a recording that is a folder: the second begins while the job runs.
TEST(RecordingFile, InPartsIsReadAsOne) {
  const ScratchFolder folder;
  const JobStatus job = aFinishedJob();
  const std::string facts = line(0, recording::lineOf(QualitySettings{})) +
                            line(0, recording::lineOf("haswell", fullShare())) +
                            line(0, recording::lineOf(aServer(), upWith(20)));
  const std::string first = nameOfPart(kBegan), second = nameOfPart(kBegan + seconds(5)),
                    third = nameOfPart(kBegan + seconds(9));
  EXPECT_EQ(beginOfPart(second), kBegan + seconds(5));
  EXPECT_EQ(beginOfPart("other" + std::string(kRecordingEnding)), kNever);
  folder.write(second, line(5, recording::head("test")) + facts + line(5, recording::lineOf(job.record)) +
                           line(8, recording::lineOf(job, 0, 10)));
  folder.write(first, line(0, recording::head("test")) + facts + line(2, recording::lineOf(job.record)) +
                          line(5, recording::stopped("the next part goes on")));
  folder.write(third, "");  // has only just begun
  folder.write("notes.txt", "mine");
  const auto recording = readRecording(folder.at("."));
  ASSERT_TRUE(recording.ok()) << recording.error().message;
  ASSERT_EQ(recording->jobs.size(), 1u);
  EXPECT_TRUE(recording->jobs[0].isWhole) << "began in one part and ended in the next";
  EXPECT_EQ(recording->jobs[0].arrival, seconds(2)) << "counts from the first part's beginning";
  EXPECT_EQ(recording->length, seconds(8));
  folder.write(third, "nonsense\n");
  EXPECT_THAT(readRecording(folder.at(".")).error().message, HasSubstr(third + ":1:")) << "names the part";
}

TEST(RecordingFile, OfAFolderWithoutPartsSaysHowToWriteOne) {
  const ScratchFolder folder;
  EXPECT_THAT(readRecording(folder.at(".")).error().message, HasSubstr("tarcil record --last 24h"));
}

TEST(RecordingFile, SaysWhichLineIsWrongAndWhatToWrite) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = theRecording();
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, const char*> kWrong[] = {
      {"", "r:1:1: file: is empty"},
      {"1 0 -1 10\n", "r:1:3: line: is not JSON here"},
      {"[]\n", "r:1:1: line: is no object"},
      {"{}\n", "r:1:1: tarcil_recording: is missing; write a recording with `tarcil record`"},
      {with("\"tarcil_recording\":1", "\"tarcil_recording\":2"),
       "r:1:1: tarcil_recording: is 2; this tarcil reads 1"},
      {with("\"target\":0.9", "\"target\":9"), "r:2:1: target: is '9'; write a number from 0.001 to 1"},
      {with("\"componentwise\"", "\"best\""), "r:2:1: model: is 'best'; write one of encoded, componentwise"},
      {with("\"llc\":0.5", "\"cache\":0.5"), "r:3:1: share: has 'cache', which is no resource"},
      {with("\"rus\":4", "\"rus\":-4"), "r:4:1: rus: is '-4'; write a whole number from 1 to 4096"},
      {with("\"rus\":4", "\"rus\":18446744073709551615"), "r:4:1: rus: is"},
      {with("\"rus_per_task\":2", "\"rus_per_task\":5"),
       "r:7:1: server: 's1' has fewer units than the task holds"},
      {with("\"up\":true", "\"up\":1"), "r:4:1: up: is '1'; write true or false"},
      {with("\"llc\":20", "\"llc\":100"), "r:4:1: llc: is '100'; write a whole number from 0 to 99"},
      {with("\"id\":\"01", "\"id\":\"x1"), "r:5:1: id: is 'x1"},
      {with("\"tasks\":1", "\"tasks\":1000000"),
       "r:5:1: tasks: is '1000000'; write a whole number from 1 to 100000"},
      {with("\"haswell\":0.5", "\"haswell\":0"), "r:5:1: haswell: is '0'; write a number from 1e-06 to 1.0"},
      {with("\"progress\":{\"job\":\"01", "\"progress\":{\"job\":\"02"),
       "r:7:1: job: has no line of its own above"},
      {with("\"index\":0", "\"index\":1"), "r:7:1: index: is '1'; write a whole number from 0 to 0"},
      {with("\"state\":\"done\"", "\"state\":\"dead\""), "r:7:1: state: is 'dead'; write queued"},
      {with("\"server\":\"s1\"", "\"server\":\"s2\""), "r:7:1: server: 's2' has no line of its own"},
      {with("\"ended\":\"2027", "\"ended\":\"2020"), "r:7:1: ended: is before started"},
      {with("\"started\":\"", "\"started\":\"x"), "r:7:1: started: "},
      {with("\"stopped\"", "\"paused\""), "r:8:1: line: tells of nothing that is known"},
      {with("\"platform\":{", "\"platform\":[]}\n{\"x\":{"), "r:3:1: platform: is no object"},
  };
  for (const auto& [text, problem] : kWrong) EXPECT_THAT(problemsOf(text), HasSubstr(problem));
  const std::string job = line(3, recording::lineOf(aFinishedJob().record));
  EXPECT_THAT(problemsOf(line(0, recording::head("test")) + job + job), HasSubstr("r:3:1: id: names a job"));
}

RC_GTEST_PROP(RecordingFile, WhateverIsDoneToItIsReadOrRefused, ()) {
  std::string text = theRecording();
  Rng rng(*rc::gen::arbitrary<uint64_t>());
  for (uint64_t edits = 1 + rng.below(5); edits > 0; --edits) {
    static constexpr std::string_view kSyntax = "{}[]:,\"\\-0129eE. \n\xff";
    text[rng.below(text.size())] = kSyntax[rng.below(kSyntax.size())];
  }
  const auto recording = parseRecording(text, "r");
  if (recording.ok()) {
    sim::replayOf(*recording, sim::ReplayTruth::kProfiles);
  } else {
    RC_ASSERT(recording.error().message.starts_with("r:"));
  }
}

TEST(SimCommand, ReplaysARecordingUnderAnotherPolicy) {
  const ScratchFolder folder;
  folder.write("r", theRecording());
  const ProcessResult result =
      tarcil({"sim", "--replay", folder.at("r"), "--policy", "quality,random", "--target", "0.7", "--json"});
  ASSERT_EQ(result.exitCode, 0) << result.err;
  const Json runs = jsonOf(result);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0]["policy"], "recorded");
  EXPECT_EQ(runs[0]["response_ms"]["mean"], 6'000);
  EXPECT_EQ(runs[0]["wait_ms"]["mean"], 1'000);
  EXPECT_FALSE(runs[0].contains("conflicts"));
  EXPECT_EQ(runs[2]["policy"], "random");
  EXPECT_EQ(runs[2]["jobs"], 1);
  const ProcessResult table = tarcil({"sim", "--replay", folder.at("r"), "--seeds", "1..3"});
  EXPECT_THAT(table.out, HasSubstr("\nrecorded "));
  EXPECT_THAT(table.out, HasSubstr("\nquality "));
  EXPECT_THAT(table.out, HasSubstr("Standard deviation over the seeds"));
}

TEST(SimCommand, RefusesAReplayOfWhatIsNone) {
  const ScratchFolder folder;
  folder.write("r", "1 0 -1 10\n");
  const ProcessResult wrong = tarcil({"sim", "--replay", folder.at("r")});
  EXPECT_EQ(wrong.exitCode, 2);
  EXPECT_THAT(wrong.err, HasSubstr("r:1:3: line: is not JSON here"));
  folder.write("empty", line(0, recording::head("test")));
  EXPECT_THAT(tarcil({"sim", "--replay", folder.at("empty")}).err, HasSubstr("has no job that ran"));
  EXPECT_EQ(tarcil({"sim", "--replay", folder.at("r"), "--servers", "4"}).exitCode, 2) << "it brings its own";
}

}  // namespace tarcil::recording_file_test
