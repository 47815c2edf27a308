#include "sim/summary.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tarcil::sim {
namespace {

double meanOf(const std::vector<float>& values) {
  double sum = 0;
  for (float value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The value below which this part lies; 0 where there is none. Requires: ascending.
double at(const std::vector<float>& values, double part) {
  if (values.empty()) return 0;
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

Low lowOf(const std::vector<float>& ascending) {
  return {.mean = meanOf(ascending), .p5 = at(ascending, 0.05), .p1 = at(ascending, 0.01)};
}

}  // namespace

Spread spreadOf(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return {.mean = meanOf(values),
          .p5 = at(values, 0.05),
          .p25 = at(values, 0.25),
          .p50 = at(values, 0.5),
          .p75 = at(values, 0.75),
          .p95 = at(values, 0.95),
          .p99 = at(values, 0.99)};
}

size_t firstCounted(const Scenario& scenario, const Workload& workload) {
  return static_cast<size_t>(scenario.warmUp * static_cast<double>(workload.jobs.size()));
}

void summarise(Fates fates, const Scenario& scenario, Summary& summary) {
  const Workload& workload = fates.workload;
  std::vector<float> responses, ideals, delays, waits;
  std::vector<std::vector<float>> ofStreams(scenario.streams.size());
  summary.streams.resize(scenario.streams.size());
  const double messagesMs = 1.5 * static_cast<double>(scenario.roundTrip.count()) * 1e-3;
  const size_t first = firstCounted(scenario, workload);
  for (size_t number = 0; number < workload.jobs.size(); ++number) {
    const JobOutcome& outcome = fates.outcomes[number];
    const SimJob& job = workload.jobs[number];
    const bool isCounted = number >= first && job.isCounted;
    if (outcome.unfinished > 0) {
      ++summary.unfinished;
      if (isCounted) summary.responses.push_back(0);
      continue;
    }
    summary.simulatedSeconds =
        std::max(summary.simulatedSeconds, static_cast<double>(outcome.ended.count()) * 1e-6);
    if (!isCounted) continue;
    const auto response = static_cast<double>((outcome.ended - job.arrival).count()) * 1e-3;
    summary.responses.push_back(static_cast<float>(response));
    const auto ideal = static_cast<double>(workload.longest(job).count()) * 1e-3;
    responses.push_back(static_cast<float>(response));
    ideals.push_back(static_cast<float>(ideal));
    delays.push_back(static_cast<float>(response - ideal));
    waits.push_back(static_cast<float>(static_cast<double>(outcome.waited.count()) * 1e-3));
    summary.performances.push_back(static_cast<float>(ideal / response));
    summary.atOnce += response - ideal <= messagesMs + 1e-6 ? 1 : 0;
    if (ofStreams.empty()) continue;
    ofStreams[job.stream].push_back(static_cast<float>(response));
    summary.streams[job.stream].performance += ideal / response;
  }
  if (!responses.empty()) summary.atOnce /= static_cast<double>(responses.size());
  for (size_t i = 0; i < ofStreams.size(); ++i) {
    StreamSummary& stream = summary.streams[i];
    stream.name = scenario.streams[i].name;
    stream.jobs = ofStreams[i].size();
    if (stream.jobs > 0) stream.performance /= static_cast<double>(stream.jobs);
    stream.responseMs = spreadOf(std::move(ofStreams[i]));
  }
  summary.jobs = responses.size();
  summary.responseMs = spreadOf(std::move(responses));
  summary.idealMs = spreadOf(std::move(ideals));
  summary.delayMs = spreadOf(std::move(delays));
  summary.waitMs = spreadOf(std::move(waits));
  std::vector<float>& performances = summary.performances;
  std::sort(performances.begin(), performances.end());
  summary.performance = lowOf(performances);
  const auto good = std::lower_bound(performances.begin(), performances.end(), 0.95F);
  if (!performances.empty()) {
    summary.atLeast95 =
        static_cast<double>(performances.end() - good) / static_cast<double>(performances.size());
  }
  const Low undisturbed{.mean = 1, .p5 = 1, .p1 = 1};
  summary.qualities = std::move(fates.qualities);
  std::sort(summary.qualities.begin(), summary.qualities.end());
  summary.quality = summary.qualities.empty() ? undisturbed : lowOf(summary.qualities);
  std::sort(fates.ofResidents.begin(), fates.ofResidents.end());
  summary.residentQuality = fates.ofResidents.empty() ? undisturbed : lowOf(fates.ofResidents);
}

Summary boundSummary(double performance) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  constexpr Spread kNone{kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  constexpr Low kNoLow{kUnknown, kUnknown, kUnknown};
  Summary summary;
  summary.policy = PolicyName::kBound;
  summary.performance = {.mean = performance, .p5 = kUnknown, .p1 = kUnknown};
  summary.responseMs = summary.idealMs = summary.delayMs = summary.waitMs = summary.decisionUs = kNone;
  summary.quality = summary.residentQuality = kNoLow;
  summary.atLeast95 = summary.atOnce = summary.utilisation = kUnknown;
  return summary;
}

double loadOf(const Workload& workload, uint64_t units) {
  const double span = static_cast<double>(workload.jobs.back().arrival.count()) * 1e-6;
  return span > 0 ? workload.ruSeconds() / span / static_cast<double>(units) : 0;
}

void compareWithIdealPolicy(std::vector<Summary>& runs) {
  for (Summary& run : runs) {
    const auto ideal = std::find_if(runs.begin(), runs.end(), [&run](const Summary& other) {
      return other.policy == PolicyName::kIdeal && other.seed == run.seed;
    });
    if (ideal == runs.end() || run.responses.empty()) continue;
    std::vector<float> parts;
    for (size_t i = 0; i < run.responses.size(); ++i) {
      const bool bothEnded = run.responses[i] > 0 && ideal->responses[i] > 0;
      if (bothEnded) parts.push_back(ideal->responses[i] / run.responses[i]);
    }
    std::sort(parts.begin(), parts.end());
    run.ofIdealPolicy = lowOf(parts);
  }
}

}  // namespace tarcil::sim
