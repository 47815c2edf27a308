// What was measured on real clusters, for the simulator: the first byte chooses the format, of which the last
// is that of co-runs: pairs, an empty line, triples.
#include <algorithm>
#include <cmath>

#include "sim/ground_truth/measured.h"
#include "sim/workload/traces.h"
#include "tests/fuzz/text_errors.h"
#include "tests/fuzz/text_mutation.h"

namespace tarcil::fuzz {
namespace {

using Reader = Result<sim::Trace> (*)(std::string_view text, const std::string& file);
constexpr Reader kReaders[] = {sim::readSwf, sim::readOpenb, sim::readSwim};
constexpr uint16_t kApplications = 7;
constexpr uint32_t kMostRus = 16;

void checkTrace(Reader read, std::string_view text) {
  const auto trace = read(text, "trace");
  if (!trace) return requireNamesPlace(trace.error(), "trace");
  require(!trace->jobs.empty(), "a trace without jobs is taken");
  size_t tasks = 0;
  for (const sim::TraceJob& job : trace->jobs) {
    require(
        job.tasks >= 1 && job.rus >= 1 && job.each > Duration::zero() && job.arrival >= sim::SimTime::zero(),
        "a job is none");
    tasks += job.tasks;
  }
  if (tasks > 1'000'000) return;
  const sim::Workload workload = sim::workloadOf(*trace, kApplications, kMostRus);
  require(workload.jobs.size() == trace->jobs.size(), "jobs were lost");
}

void checkCoRuns(std::string_view text) {
  // Of one file, so that the second half has programs that the first has.
  const size_t half = text.find("\n\n");
  const auto coRuns = sim::readCoRuns(text.substr(0, half), "pairs",
                                      half == std::string_view::npos ? "" : text.substr(half + 2), "triples");
  if (!coRuns)
    return requireNamesPlace(coRuns.error(), coRuns.error().message.starts_with("p") ? "pairs" : "triples");
  // Of triples that nobody measured two slowdowns of pairs are added.
  require(
      std::ranges::all_of(coRuns->pairs, [](double value) { return std::isfinite(value) && value > -1; }) &&
          std::ranges::all_of(coRuns->triples, [](double value) { return std::isfinite(value); }),
      "a program runs backwards or not at all");
}

void check(const Bytes& input) {
  if (input.empty()) return;
  const std::string text(input.begin() + 1, input.end());
  const size_t format = input.front() % (std::size(kReaders) + 1);
  if (format < std::size(kReaders)) return checkTrace(kReaders[format], text);
  checkCoRuns(text);
}

Bytes mutatedInput(const Bytes& input, Rng& rng) {
  if (input.empty()) return input;
  const Bytes text = mutatedText<mutatedLines>({input.begin() + 1, input.end()}, rng);
  Bytes changed{input.front()};
  changed.insert(changed.end(), text.begin(), text.end());
  return changed;
}

}  // namespace

const Target kTrace = {"trace", check, noSeeds, mutatedInput};

}  // namespace tarcil::fuzz
