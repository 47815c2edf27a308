// Recordings (`tarcil record`), read to be replayed.
#include "formats/recording_file.h"
#include "sim/replay/replay.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

void check(const Bytes& input) {
  const std::string text = textOf(input);
  const auto recording = parseRecording(text, "recording");
  if (!recording) return requireNamesPlace(recording.error(), "recording");
  require(parseRecording(text, "recording").value() == *recording, "it is read another way the second time");
  for (const sim::RecordedServer& server : recording->servers) {
    require(server.platform < recording->platforms.size() && server.rus >= 1, "a server is none");
  }
  for (const sim::RecordedJob& job : recording->jobs) {
    require(!job.tasks.empty(), "a job is read of which nothing ran");
    for (const sim::RecordedTask& task : job.tasks) {
      require(task.server < recording->servers.size() && recording->servers[task.server].rus >= job.rus,
              "a task ran where it cannot have");
      require(task.started <= task.ended, "a task ended before it started");
    }
  }
  const sim::Replay replay = sim::replayOf(*recording, sim::ReplayTruth::kProfiles);
  require(replay.utilisation >= 0, "the servers were used for less than nothing");
}

}  // namespace

const Target kRecording = {"recording", check, noSeeds, mutatedText<mutatedTreeLines>};

}  // namespace tarcil::fuzz
