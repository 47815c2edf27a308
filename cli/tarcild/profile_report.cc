#include "cli/tarcild/profile_report.h"

#include <cmath>

#include "cli/output/profile_yaml.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "formats/calibration_file.h"

namespace tarcil {
namespace {

std::string nameOf(size_t resource) {
  return std::string(kResourceNames[resource]);
}

const ResourceFinding* findingOf(const ProfileReport& report, size_t resource) {
  for (const ResourceFinding& finding : report.findings.resources) {
    if (static_cast<size_t>(finding.resource) == resource) return &finding;
  }
  return nullptr;
}

// How far what was measured may be off by how it was measured: half of what lies between borne and not borne.
std::optional<double> bracketOf(const ProfileReport& report, size_t resource) {
  const ResourceFinding* finding = findingOf(report, resource);
  if (finding == nullptr || !finding->tolerance) return std::nullopt;
  return (finding->tolerance->tooMuch - finding->tolerance->borne) / 2.0;
}

std::string originText(const Confidence& confidence) {
  if (confidence.origin != Origin::kInferred) return std::string(nameOf(confidence.origin));
  return "inferred, +-" + std::to_string(std::lround(confidence.expectedError));
}

// A measured tolerance, for people.
std::string originOfTolerated(const ProfileReport& report, size_t resource) {
  const ResourceFinding* finding = findingOf(report, resource);
  const Confidence& confidence = report.completed.tolerated[resource];
  if (finding == nullptr || !finding->tolerance) return originText(confidence);
  const Tolerance& tolerance = *finding->tolerance;
  std::string text = originText(confidence) + ", " + fixed(tolerance.performance, 3) + " of its speed at " +
                     std::to_string(tolerance.strongest);
  if (tolerance.bearsAll() && tolerance.strongest < kMaxPressure)
    text += ", the most that the other cores do";
  return text;
}

// Plain where YAML takes it for text anyway; JSON's quotes are YAML's too.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string commandText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool isPlain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?#~") == std::string::npos;
    text += (text.empty() ? "" : " ") + (isPlain ? word : quoted(word));
  }
  return text;
}

Json entriesOf(const ProfileReport& report) {
  Json entries = Json::array();
  for (size_t i = 0; i < kResources; ++i) {
    const Confidence& confidence = report.completed.tolerated[i];
    Json entry = {{"resource", nameOf(i)},
                  {"kind", "tolerated"},
                  {"value", report.completed.profile.tolerated[i]},
                  {"origin", nameOf(confidence.origin)},
                  {"expected_error", Json()}};
    if (confidence.origin == Origin::kInferred) entry["expected_error"] = confidence.expectedError;
    if (const auto bracket = bracketOf(report, i)) entry["expected_error"] = *bracket;
    if (const ResourceFinding* finding = findingOf(report, i)) {
      entry["note"] = finding->skipped ? Json(*finding->skipped) : Json();
      entry["probes"] = finding->probes;
      if (finding->tolerance) {
        entry["strongest"] = finding->tolerance->strongest;
        entry["performance"] = finding->tolerance->performance;
      }
    }
    entries.push_back(std::move(entry));
  }
  for (size_t i = 0; i < kResources; ++i) {
    const Confidence& confidence = report.completed.caused[i];
    Json entry = {{"resource", nameOf(i)},
                  {"kind", "caused"},
                  {"value", report.completed.profile.caused[i]},
                  {"origin", nameOf(confidence.origin)},
                  {"expected_error", Json()}};
    if (confidence.origin == Origin::kInferred) entry["expected_error"] = confidence.expectedError;
    const ResourceFinding* finding = findingOf(report, i);
    if (finding != nullptr && finding->kernelLost) entry["kernel_lost"] = *finding->kernelLost;
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string percentOf(const std::optional<double>& share) {
  return share ? fixed(*share * 100, 0) : "-";
}

}  // namespace

std::string yamlOf(const ProfileReport& report) {
  std::string text = "# By `tarcil profile run` of: " + commandText(report.command) + "\n";
  if (!report.application.empty()) text += "application: " + quoted(report.application) + "\n";
  const auto add = [&text](const char* key, const Pressure& pressure, const auto& confidence,
                           const auto& origin) {
    std::string entries;
    for (size_t i = 0; i < kResources; ++i) {
      if (confidence[i].origin == Origin::kAssumed) continue;
      entries += "  " + nameOf(i) + ": " + std::to_string(pressure[i]) + "  # " + origin(i) + "\n";
    }
    text += std::string(key) + (entries.empty() ? ": {}\n" : ":\n" + entries);
  };
  const CompletedProfile& completed = report.completed;
  add("caused", completed.profile.caused, completed.caused,
      [&](size_t i) { return originText(completed.caused[i]); });
  add("tolerated", completed.profile.tolerated, completed.tolerated,
      [&](size_t i) { return originOfTolerated(report, i); });
  Profile profile = completed.profile;
  profile.origins.platforms.clear();  // of which this says nothing (profile_platforms.h)
  for (size_t i = 0; i < kResources; ++i) {
    if (const auto bracket = bracketOf(report, i))
      profile.origins.tolerated[i].error = static_cast<uint8_t>(std::lround(*bracket));
  }
  return text + originsYaml(profile);
}

std::string textOf(const ProfileReport& report) {
  const AloneRun& alone = report.findings.alone;
  std::string text = aligned({{"Application", report.application},
                              {"Command", commandText(report.command)},
                              {"One run", fixed(alone.wall.count(), 4) + " s, runs differ by " +
                                              fixed(alone.spread * 100, 1) + " %"},
                              {"Performance", fixed(alone.performance, 4) + " " + report.unit},
                              {"Took", fixed(report.findings.took.count(), 1) + " s"}});
  Table table({"Resource", "Caused", "Because", "Tolerated", "Because"});
  const auto shownOf = [](uint8_t value, const Confidence& confidence) {
    return confidence.origin == Origin::kAssumed ? std::string("-") : std::to_string(value);
  };
  const CompletedProfile& completed = report.completed;
  for (size_t i = 0; i < kResources; ++i) {
    table.add({nameOf(i), shownOf(completed.profile.caused[i], completed.caused[i]),
               originText(completed.caused[i]),
               shownOf(completed.profile.tolerated[i], completed.tolerated[i]),
               originOfTolerated(report, i)});
  }
  text += "\n" + table.text();
  for (const ResourceFinding& finding : report.findings.resources) {
    if (finding.skipped)
      text += nameOf(static_cast<size_t>(finding.resource)) + ": not measured: " + *finding.skipped + "\n";
  }
  return text;
}

Json jsonOf(const AloneRun& alone, const std::string& unit) {
  return {{"alone", alone.performance},
          {"unit", unit},
          {"run_seconds", alone.wall.count()},
          {"runs", alone.runs},
          {"spread", alone.spread}};
}

Json jsonOf(const ProfileReport& report) {
  const CompletedProfile& completed = report.completed;
  Json caused = Json::object(), tolerated = Json::object();
  for (size_t i = 0; i < kResources; ++i) {
    if (completed.caused[i].origin != Origin::kAssumed) caused[nameOf(i)] = completed.profile.caused[i];
    if (completed.tolerated[i].origin != Origin::kAssumed)
      tolerated[nameOf(i)] = completed.profile.tolerated[i];
  }
  return {{"application", report.application},
          {"command", report.command},
          {"performance", jsonOf(report.findings.alone, report.unit)},
          {"caused", std::move(caused)},
          {"tolerated", std::move(tolerated)},
          {"entries", entriesOf(report)},
          {"known_applications", completed.knownApplications},
          {"seconds", report.findings.took.count()},
          {"warnings", report.warnings}};
}

std::string textOf(const Calibration& calibration) {
  Table dials({"Resource", "Dial off by", "Within 5", "Reached at 99", "Taken from itself at most",
               "Not measurable here, because"});
  for (size_t i = 0; i < kResources; ++i) {
    const ResourceCalibration& resource = calibration.resources[i];
    const auto error = worstError(resource);
    double most = 0;
    for (const DialPoint& point : resource.lost) most = std::max(most, point.value);
    const bool isKnown = !resource.reached.empty() && resource.reached.back().intensity == kMaxPressure;
    dials.add({nameOf(i), error ? fixed(*error, 1) : "-",
               error ? (*error <= kMaxDialError ? "yes" : "no") : "-",
               isKnown ? fixed(resource.reached.back().value, 0) : "-",
               resource.lost.empty() ? "-" : fixed(most * 100, 0) + " %",
               resource.absent ? *resource.absent : resource.notContended.value_or("-")});
  }
  std::vector<std::string> header = {"Takes % from"};
  for (size_t i = 0; i < kResources; ++i) header.push_back(nameOf(i));
  Table crossTalk(std::move(header));
  for (size_t i = 0; i < kResources; ++i) {
    std::vector<std::string> row = {nameOf(i)};
    for (size_t j = 0; j < kResources; ++j) row.push_back(percentOf(calibration.crossTalk[i][j]));
    crossTalk.add(std::move(row));
  }
  return aligned({{"Platform", calibration.platform},
                  {"Processor", calibration.processor},
                  {"Cores",
                   std::to_string(calibration.cores) + (calibration.hasSiblings ? ", two threads each" : "")},
                  {"LLC", std::to_string(calibration.llcBytes >> 20) + " MiB of " +
                              std::to_string(calibration.llcBytesSaid >> 20) + " MiB"}}) +
         "\n" + dials.text() + "\n" + crossTalk.text();
}

}  // namespace tarcil
