#include "formats/scenario_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/model/job.h"
#include "core/state/claim.h"
#include "formats/packed_file.h"
#include "formats/yaml_reader.h"
#include "sim/scenario_check.h"

namespace tarcil {
namespace {

using sim::Scenario;

constexpr size_t kMaxTraceBytes = size_t{1} << 30;
constexpr size_t kMaxSeeds = 10'000;
constexpr size_t kMaxTitle = 128;
constexpr Duration kMinTime{1};

constexpr std::array<std::string_view, 3> kDurations = {"exp-jobs", "exp-tasks", "constant"};
constexpr std::array<std::string_view, 3> kTruths = {"none", "parametric", "measured"};
constexpr std::array<std::string_view, 2> kAboveOne = {"as-measured", "as-one"};

// The enumerator of this name. Requires: names has it.
template <typename Enum, size_t kCount>
Enum named(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

template <typename Enum, size_t kCount>
void assignNamed(Enum& to, const std::array<std::string_view, kCount>& names,
                 const std::optional<YamlValue>& value) {
  if (!value) return;
  if (const auto name = value->oneOf({names.begin(), names.end()})) to = named<Enum>(names, *name);
}

template <typename To>
void assignNumber(To& to, const std::optional<YamlValue>& value, double least, double most) {
  if (value) assign(to, value->number({.least = least, .most = most}));
}

template <typename To>
void assignInteger(To& to, const std::optional<YamlValue>& value, int64_t least, int64_t most) {
  if (value) assign(to, value->integer(least, most));
}

void assignDuration(Duration& to, const std::optional<YamlValue>& value, Duration least = kMinTime) {
  if (value) assign(to, value->duration(least, kMaxDuration));
}

class ScenarioReader {
 public:
  explicit ScenarioReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  ScenarioRequest read(YamlMapping root) {
    Scenario& scenario = request_.scenario;
    if (auto name = root.take("name")) assign(scenario.name, name->title(kMaxTitle));
    if (auto cluster = root.take("cluster")) readCluster(*cluster);
    if (auto workload = root.take("workload")) readWorkload(*workload);
    if (auto truth = root.take("truth")) readTruth(*truth);
    if (auto policies = root.take("policies")) readPolicies(*policies);
    if (auto seeds = root.take("seeds")) readSeeds(*seeds);
    if (auto quality = root.take("quality")) readQuality(*quality);
    assignInteger(scenario.agents, root.take("agents"), 1, 1'000);
    assignInteger(scenario.buckets, root.take("buckets"), 1, 256);
    assignDuration(scenario.decision, root.take("decision"), Duration::zero());
    assignDuration(scenario.dispatch, root.take("dispatch"), Duration::zero());
    assignInteger(scenario.moments, root.take("moments"), 0, 100'000);
    if (auto cancel = root.take("cancel")) assign(scenario.cancel, cancel->boolean());
    assignDuration(scenario.roundTrip, root.take("rtt"), Duration::zero());
    assignNumber(scenario.probeRatio, root.take("probe_ratio"), 1, 100);
    assignNumber(scenario.patience, root.take("patience"), 0, 1'000);
    assignDuration(scenario.waitBound, root.take("wait_bound"), Duration::zero());
    if (auto scan = root.take("scan_per_slot")) {
      assign(scenario.scanPerSlot, scan->duration(kMinTime, kMaxDuration));
    }
    assignDuration(scenario.scanBound, root.take("scan_bound"));
    root.refuseOthers();
    return std::move(request_);
  }

 private:
  void readCluster(const YamlValue& value) {
    auto cluster = value.mapping();
    if (!cluster) return;
    sim::PlatformSize alike = request_.scenario.platforms.front();
    auto servers = cluster->take("servers"), rus = cluster->take("rus"),
         platforms = cluster->take("platforms");
    if (auto residents = cluster->take("residents")) readResidents(*residents);
    cluster->refuseOthers();
    if (platforms && (servers || rus)) {
      return platforms->problem("stands beside servers or rus; write either platforms or those");
    }
    assignInteger(alike.servers, servers, 1, 100'000);
    assignInteger(alike.units, rus, 1, 4'096);
    request_.scenario.platforms = {alike};
    auto list = platforms ? platforms->list() : std::nullopt;
    if (!list) return;
    if (list->empty()) return platforms->problem("is an empty list; write at least one platform");
    request_.scenario.platforms.clear();
    for (const YamlValue& entry : *list) {
      auto mapping = entry.mapping();
      if (!mapping) continue;
      sim::PlatformSize size;
      assignInteger(size.servers, mapping->take("servers"), 1, 100'000);
      assignInteger(size.units, mapping->take("rus"), 1, 4'096);
      mapping->refuseOthers();
      request_.scenario.platforms.push_back(size);
    }
  }

  void readResidents(const YamlValue& value) {
    auto residents = value.mapping();
    if (!residents) return;
    assignNumber(request_.scenario.residents.part, residents->take("part"), 0, 0.9);
    assignInteger(request_.scenario.residents.rus, residents->take("rus"), 1, 4'096);
    residents->refuseOthers();
  }

  void readWorkload(const YamlValue& value) {
    auto workload = value.mapping();
    if (!workload) return;
    Scenario& scenario = request_.scenario;
    if (auto kind = workload->take("kind")) {
      auto text = kind->text();
      if (text) {
        if (const Status status = setWorkload(request_, *text); !status)
          kind->problem(status.error().message);
        if (!request_.traceFile.empty()) request_.traceFile = resolved(request_.traceFile);
      }
    }
    assignInteger(scenario.jobs, workload->take("jobs"), 1, 10'000'000);
    if (auto load = workload->take("load")) assign(scenario.load, load->number({.least = 0.001, .most = 10}));
    assignInteger(scenario.tasks, workload->take("tasks"), 1, kMaxTasks);
    assignDuration(scenario.mean, workload->take("mean"));
    assignNamed(scenario.durations, kDurations, workload->take("durations"));
    assignDuration(scenario.gap, workload->take("gap"));
    assignNumber(scenario.warmUp, workload->take("warm_up"), 0, 0.99);
    assignDuration(scenario.span, workload->take("span"));
    if (auto streams = workload->take("streams")) readStreams(*streams);
    workload->refuseOthers();
  }

  void readStreams(const YamlValue& value) {
    auto list = value.list();
    if (!list) return;
    for (const YamlValue& entry : *list) {
      auto mapping = entry.mapping();
      if (!mapping) continue;
      sim::Stream stream{.name = "stream-" + std::to_string(request_.scenario.streams.size() + 1)};
      if (auto name = mapping->take("name")) assign(stream.name, name->title(kMaxTitle));
      assignNumber(stream.load, mapping->take("load"), 0.0001, 10);
      assignInteger(stream.tasks, mapping->take("tasks"), 1, kMaxTasks);
      assignDuration(stream.mean, mapping->take("mean"));
      assignNamed(stream.durations, kDurations, mapping->take("durations"));
      assignInteger(stream.priority, mapping->take("priority"), 0, 100);
      assignInteger(stream.shares, mapping->take("shares"), 1, UINT16_MAX);
      assignDuration(stream.from, mapping->take("from"), Duration::zero());
      if (auto until = mapping->take("until")) {
        assign(stream.until, until->duration(kMinTime, kMaxDuration));
      }
      mapping->refuseOthers();
      request_.scenario.streams.push_back(std::move(stream));
    }
  }

  void readTruth(const YamlValue& value) {
    auto truth = value.mapping();
    if (!truth) return;
    Scenario& scenario = request_.scenario;
    auto kind = truth->take("kind"), coRuns = truth->take("corun");
    assignNamed(scenario.truth, kTruths, kind);
    if (coRuns) readCoRuns(*coRuns);
    assignNamed(request_.aboveOne, kAboveOne, truth->take("above_one"));
    assignInteger(scenario.applications, truth->take("applications"), 1, 10'000);
    assignNamed(scenario.combining, sim::kCombiningNames, truth->take("combine"));
    assignNumber(scenario.heterogeneity, truth->take("heterogeneity"), 0, 0.9);
    assignNumber(scenario.mostPressure, truth->take("pressure"), 0.001, 10);
    assignInteger(scenario.phases, truth->take("phases"), 1, 10);
    assignNumber(scenario.phaseChange, truth->take("phase_change"), 0, 1);
    assignNumber(scenario.noise, truth->take("noise"), 0, 0.9);
    assignNamed(scenario.profiles, sim::kProfileSourceNames, truth->take("profiles"));
    assignInteger(scenario.probes, truth->take("probes"), 1, 10);
    assignNumber(scenario.classificationError, truth->take("classification_error"), 0, 1);
    truth->refuseOthers();
  }

  void readCoRuns(const YamlValue& value) {
    auto files = value.list();
    if (!files) return;
    if (files->empty() || files->size() > 2) {
      return value.problem("has " + std::to_string(files->size()) +
                           " files; write that of pairs, and triples");
    }
    for (const YamlValue& file : *files) {
      if (auto path = file.text()) request_.coRunFiles.push_back(resolved(*path));
    }
  }

  void readPolicies(const YamlValue& value) {
    auto list = value.list();
    if (!list) return;
    if (list->empty()) return value.problem("is an empty list; write at least one policy");
    request_.scenario.policies.clear();
    for (const YamlValue& entry : *list) {
      const auto policy = entry.oneOf({std::begin(sim::kPolicyNames), std::end(sim::kPolicyNames)});
      if (policy) request_.scenario.policies.push_back(*sim::policyNamed(*policy));
    }
  }

  void readSeeds(const YamlValue& value) {
    auto text = value.text();
    if (!text) return;
    auto seeds = parseSeeds(*text);
    if (!seeds) return value.problem(seeds.error().message);
    request_.scenario.seeds = std::move(*seeds);
  }

  void readQuality(const YamlValue& value) {
    auto quality = value.mapping();
    if (!quality) return;
    QualitySettings& settings = request_.scenario.settings;
    assignNumber(settings.target, quality->take("target"), 0.001, 1);
    assignNumber(settings.confidence, quality->take("confidence"), 0.001, 0.999999999);
    assignNumber(settings.rarity, quality->take("rarity"), kMinRarity, 1);
    assignInteger(settings.cap, quality->take("cap"), 1, kMaxCap);
    assignInteger(settings.floor, quality->take("floor"), 1, kMaxFloor);
    assignInteger(settings.ratio, quality->take("ratio"), 1, kMaxRatio);
    assignInteger(settings.margin, quality->take("margin"), 0, kMaxPressure);
    assignInteger(settings.noiseFloor, quality->take("noise_floor"), 0, kMaxPressure);
    assignNumber(settings.neighbourFloor, quality->take("neighbour_floor"), kMinNeighbourFloor, 1);
    assignNamed(settings.model, kQualityModelNames, quality->take("model"));
    assignNamed(settings.contention, kContentionModelNames, quality->take("contention"));
    assignNamed(settings.ranking, kRankByNames, quality->take("ranking"));
    if (auto protect = quality->take("protect_neighbours")) {
      assign(settings.protectNeighbours, protect->boolean());
    }
    quality->refuseOthers();
  }

  std::string resolved(const std::string& path) const { return (folder_ / path).string(); }

  const std::filesystem::path folder_;
  ScenarioRequest request_;
};

Status readTrace(const ScenarioRequest& request, Scenario& scenario) {
  auto text = readPackedFile(request.traceFile, kMaxTraceBytes);
  if (!text) return text.error();
  const auto read = request.traceFormat == TraceFormat::kSwf     ? &sim::readSwf
                    : request.traceFormat == TraceFormat::kOpenb ? &sim::readOpenb
                                                                 : &sim::readSwim;
  auto trace = read(*text, request.traceFile);
  if (!trace) return trace.error();
  scenario.trace = std::make_shared<const sim::Trace>(std::move(*trace));
  return {};
}

Status readCoRuns(const ScenarioRequest& request, Scenario& scenario) {
  if (request.coRunFiles.empty()) {
    return invalid(
        "truth: measured co-runs come from files that are not part of tarcil; pass their paths with --corun"
        " (docs/simulator.md says which)");
  }
  std::string texts[2];
  for (size_t i = 0; i < request.coRunFiles.size(); ++i) {
    auto text = readPackedFile(request.coRunFiles[i], kMaxTraceBytes);
    if (!text) return text.error();
    texts[i] = std::move(*text);
  }
  auto coRuns = sim::readCoRuns(texts[0], request.coRunFiles[0], texts[1],
                                request.coRunFiles.size() > 1 ? request.coRunFiles[1] : "", request.aboveOne);
  if (!coRuns) return coRuns.error();
  scenario.coRuns = std::make_shared<const sim::CoRuns>(std::move(*coRuns));
  return {};
}

}  // namespace

Result<ScenarioRequest> parseScenario(std::string_view text, const std::string& path) {
  auto root = parseYaml(text, path);
  if (!root) return root.error();
  Problems problems(path);
  auto mapping = YamlValue(*root, "", problems).mapping();
  if (!mapping) return problems.error();
  ScenarioRequest request =
      ScenarioReader(std::filesystem::path(path).parent_path()).read(std::move(*mapping));
  if (!problems.none()) return problems.error();
  return request;
}

Result<ScenarioRequest> readScenario(const std::string& path) {
  auto text = readTextFile(path, kMaxYamlBytes);
  if (!text) return text.error();
  return parseScenario(*text, path);
}

Status setWorkload(ScenarioRequest& request, const std::string& text) {
  using Kind = sim::WorkloadKind;
  constexpr std::array<std::string_view, 3> kFormats = {"swf", "openb", "swim"};
  request.traceFile.clear();
  constexpr std::array<std::string_view, 4> kMade = {"alike", "mixed", "heavy-tailed", "streams"};
  constexpr std::array<Kind, 4> kKinds = {Kind::kAlike, Kind::kMixed, Kind::kHeavyTailed, Kind::kStreams};
  if (const auto made = std::find(kMade.begin(), kMade.end(), text); made != kMade.end()) {
    request.scenario.workload = kKinds[static_cast<size_t>(made - kMade.begin())];
    return {};
  }
  const size_t colon = text.find(':');
  const auto format = std::find(kFormats.begin(), kFormats.end(), std::string_view(text).substr(0, colon));
  if (colon == std::string::npos || colon + 1 == text.size() || format == kFormats.end()) {
    return invalid("is " + shown(text) +
                   "; write alike, mixed, heavy-tailed, streams, swf:FILE, openb:FILE or swim:FILE");
  }
  request.scenario.workload = Kind::kTrace;
  request.traceFormat = static_cast<TraceFormat>(format - kFormats.begin());
  request.traceFile = text.substr(colon + 1);
  return {};
}

Result<std::vector<uint64_t>> parseSeeds(const std::string& text) {
  const auto wrong = [&text]() {
    return invalid("is " + shown(text) + "; write seeds such as 1 or 1,5 or 1..8, at most " +
                   std::to_string(kMaxSeeds));
  };
  std::vector<uint64_t> seeds;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&at, end]() -> std::optional<uint64_t> {
    uint64_t value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return std::nullopt;
    at = after;
    return value;
  };
  for (;;) {
    const auto first = number();
    auto last = first;
    if (first && end - at > 2 && at[0] == '.' && at[1] == '.') {
      at += 2;
      last = number();
    }
    if (!first || !last || *last < *first || *last - *first >= kMaxSeeds - seeds.size()) return wrong();
    for (uint64_t seed = *first; seed - *first <= *last - *first; ++seed) {
      seeds.push_back(seed);
      if (seed == *last) break;
    }
    if (at == end) return seeds;
    if (*at++ != ',') return wrong();
  }
}

Status checkScenario(const Scenario& scenario) {
  std::string text;
  for (const std::string& problem : sim::problems(scenario)) text += (text.empty() ? "" : "\n") + problem;
  if (!text.empty()) return invalid(text);
  return {};
}

Result<Scenario> loadScenario(const ScenarioRequest& request) {
  Scenario scenario = request.scenario;
  if (!request.traceFile.empty()) {
    if (const Status status = readTrace(request, scenario); !status) return status.error();
  }
  if (scenario.truth == sim::TruthKind::kMeasured) {
    if (const Status status = readCoRuns(request, scenario); !status) return status.error();
  }
  if (const Status status = checkScenario(scenario); !status) return status.error();
  return scenario;
}

}  // namespace tarcil
