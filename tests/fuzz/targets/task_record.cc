// The small files of a task's directory that a monitor finds when it starts.
#include "monitor/container/task_records.h"
#include "monitor/container/task_results.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

void check(const Bytes& input) {
  const std::string text = textOf(input);
  parseStarted(text);
  if (const auto rus = parseUnitsRecord(text)) {
    require(parseUnitsRecord(unitsRecord(*rus)) == rus, "units do not come back as they were written");
  }
  if (const auto reason = parseReasonRecord(text)) {
    require(reasonRecord(*reason) == text, "a reason does not come back as it was written");
  }
  if (const auto end = parseExitRecord(text)) {
    const auto lost = parseExitRecord(lostRecord(end->started, end->problem));
    require(lost && lost->started == end->started && lost->problem == end->problem,
            "a lost task's record does not come back as it was written");
  }
  if (const auto kept = parseResultsRecord(text)) {
    const auto again = parseResultsRecord(resultsRecord(*kept));
    require(again && again->files == kept->files && again->left == kept->left,
            "a list of kept files does not come back as it was written");
    for (const ResultFile& file : kept->files) require(staysInside(file.path), "a path leads out");
  }
  decodeLaunch(text, 12);
}

}  // namespace

const Target kTaskRecord = {"task_record", check, noSeeds, mutatedText<mutatedLines>};

}  // namespace tarcil::fuzz
