// What `tarcil sim` is to simulate: a scenario file (docs/simulator.md) and the files that it names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "sim/scenario.h"

namespace tarcil {

enum class TraceFormat : uint8_t { kSwf, kOpenb, kSwim };

// A scenario whose files are not read yet.
struct ScenarioRequest {
  sim::Scenario scenario;
  std::string traceFile;  // empty: none; may be packed by gzip
  TraceFormat traceFormat = TraceFormat::kSwf;
  std::vector<std::string> coRunFiles;                  // pairs and, where given, triples
  sim::AboveOne aboveOne = sim::AboveOne::kAsMeasured;  // of what is in them
};

// Error: kInvalid, with one line "path:line:column: field: problem; remedy" for every problem found. Paths in
// the file are relative to its folder.
Result<ScenarioRequest> readScenario(const std::string& path);
Result<ScenarioRequest> parseScenario(std::string_view text, const std::string& path);

// "alike", "mixed", or a format and a file: "swf:FILE", "openb:FILE", "swim:FILE". Error: kInvalid with what
// to write, without a place.
Status setWorkload(ScenarioRequest& request, const std::string& text);

// "1,2,5..8": at most 10,000 in all. Error: kInvalid with what to write, without a place.
Result<std::vector<uint64_t>> parseSeeds(const std::string& text);

// Error: kInvalid with one line for everything that is wrong with the whole.
Status checkScenario(const sim::Scenario& scenario);

// Reads the files and looks at the whole. Error: kInvalid with one line for every problem found.
Result<sim::Scenario> loadScenario(const ScenarioRequest& request);

}  // namespace tarcil
