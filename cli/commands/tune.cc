// tarcil tune: the cluster's sampling and judging, shown and set; --table computes offline.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/commands/commands.h"
#include "cli/output/output.h"
#include "cli/output/promise.h"
#include "cli/output/render.h"
#include "cli/output/sample_table.h"
#include "cli/output/table.h"
#include "cli/settings.h"
#include "core/base/failure.h"
#include "core/decide/options.h"
#include "core/decide/sample_plan.h"
#include "core/model/sample_size.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct TuneFlags {
  ContextFlags cluster;
  bool json = false;
  // What is to be set.
  std::optional<double> target, rarity, confidence, neighbourFloor;
  std::optional<int32_t> floor, margin, noiseFloor;
  std::string cap, ratio;                              // a number, "none", or empty
  std::string model, contention, ranking, throttling;  // names, or empty
  std::optional<bool> protectNeighbours, profileUnknown;
  // --table
  bool table = false;
  std::vector<double> shares;
  std::vector<uint32_t> tasks;
};

// --- The table, offline ---

int showTable(const TuneFlags& flags) {
  const double confidence = flags.confidence.value_or(QualitySettings{}.confidence);
  if (!isConfidence(confidence)) throw badInput("--confidence: " + std::string(kConfidenceRemedy));
  if (!areShares(flags.shares)) throw badInput("--p: " + std::string(kSharesRemedy));
  Json json = Json::array();
  Table table({"p", "Tasks", "R", "Samples", "Guarantee"});
  for (const SampleRow& row : sampleRows(flags.shares, flags.tasks, confidence)) {
    json.push_back(jsonOf(row));
    table.add({Json(row.p).dump(), std::to_string(row.tasks), row.ratio() ? fixed(*row.ratio(), 2) : "",
               row.samples ? std::to_string(*row.samples) : "", fixed(row.reached(), 6)});
  }
  if (flags.json) {
    printJson(json);
  } else {
    print(table.text());
  }
  return kExitDone;
}

// --- The settings ---

bool setsSomething(const TuneFlags& flags) {
  return flags.target || flags.rarity || flags.confidence || flags.floor || flags.margin ||
         flags.noiseFloor || flags.protectNeighbours || flags.neighbourFloor || flags.profileUnknown ||
         !(flags.cap + flags.ratio + flags.model + flags.contention + flags.ranking + flags.throttling)
              .empty();
}

// "none" or a number that was checked; empty where nothing is to be set.
void setNumberOrNone(std::optional<uint32_t>& setting, const std::string& text) {
  if (text.empty()) return;
  setting.reset();
  if (text != "none") setting = static_cast<uint32_t>(std::stoul(text));
}

void lay(const TuneFlags& flags, QualitySettings& settings) {
  setIfGiven(settings.target, flags.target);
  setIfGiven(settings.rarity, flags.rarity);
  setIfGiven(settings.confidence, flags.confidence);
  setIfGiven(settings.floor, flags.floor);
  setIfGiven(settings.margin, flags.margin);
  setIfGiven(settings.noiseFloor, flags.noiseFloor);
  setIfGiven(settings.protectNeighbours, flags.protectNeighbours);
  setIfGiven(settings.neighbourFloor, flags.neighbourFloor);
  setIfGiven(settings.profileUnknown, flags.profileUnknown);
  if (!flags.model.empty()) settings.model = valueNamed<QualityModel>(kQualityModelNames, flags.model);
  if (!flags.contention.empty()) {
    settings.contention = valueNamed<ContentionModel>(kContentionModelNames, flags.contention);
  }
  if (!flags.ranking.empty()) settings.ranking = valueNamed<RankBy>(kRankByNames, flags.ranking);
  setIfGiven(settings.throttling, valueIn(kThrottlingNames, flags.throttling));
  setNumberOrNone(settings.cap, flags.cap);
  setNumberOrNone(settings.ratio, flags.ratio);
}

// What the settings promise for one task, and what is left of that where cap or ratio allows fewer draws.
std::string promiseOf(const QualitySettings& settings) {
  const uint64_t draws = drawLimit(settings, settings.confidence, 1);
  const double left = guarantee(settings.rarity, draws, 1);
  std::string text = "for one task at most " + std::to_string(draws) + " draws: wherever " +
                     rarityText(settings.rarity) + " is acceptable, one is found ";
  if (left >= settings.confidence) return text + oftenText(settings.confidence);
  text += "with a probability of " + fixed(left, 3);
  return text + " and not " + Json(settings.confidence).dump() + ", because of the " +
         (settings.ratio ? "ratio" : "cap");
}

std::string textOf(const QualitySettings& settings) {
  return aligned({{"Target", Json(settings.target).dump()},
                  {"Rarity", Json(settings.rarity).dump()},
                  {"Confidence", Json(settings.confidence).dump()},
                  {"Draws", promiseOf(settings)},
                  {"Cap", settings.cap ? std::to_string(*settings.cap) : "none"},
                  {"Floor", std::to_string(settings.floor)},
                  {"Ratio", settings.ratio ? std::to_string(*settings.ratio) : "none: as many as it takes"},
                  {"Model", nameIn(kQualityModelNames, settings.model)},
                  {"Contention", nameIn(kContentionModelNames, settings.contention)},
                  {"Ranking", nameIn(kRankByNames, settings.ranking)},
                  {"Margin", std::to_string(settings.margin)},
                  {"Noise floor", std::to_string(settings.noiseFloor)},
                  {"Protect neighbours", settings.protectNeighbours ? "true" : "false"},
                  {"Neighbour floor", Json(settings.neighbourFloor).dump()},
                  {"Profile unknown", settings.profileUnknown ? "true" : "false"},
                  {"Throttling", std::string(nameIn(kThrottlingNames, settings.throttling))},
                  {"Version", std::to_string(settings.version)}});
}

// Laid over the defaults, everything that a flag can get wrong shows before anything is sent.
void requireGood(const TuneFlags& flags) {
  QualitySettings settings;
  lay(flags, settings);
  std::string text;
  for (const std::string& problem : problems(settings)) text += (text.empty() ? "" : "\n") + problem;
  if (!text.empty()) throw badInput(text);
}

int tune(const TuneFlags& flags) {
  if (flags.table) return showTable(flags);
  requireGood(flags);
  Cluster cluster(flags.cluster);
  QualitySettings settings = fetchSettings(cluster);
  if (setsSomething(flags)) {
    lay(flags, settings);
    cluster.ask([&settings](Session& session) {
      auto request = session.user.setSettingsRequest();
      write(settings, request.initSettings());
      return request.send();
    });
    settings = fetchSettings(cluster);
  }
  if (flags.json) {
    printJson(jsonOf(settings));
  } else {
    print(textOf(settings));
  }
  return kExitDone;
}

const Help kTuneHelp = {
    "tune [OPTIONS]", "Show and set how slots are sampled and judged, and what is done about interference.",
    "Without a flag that sets something: shows the settings. With one: sets it, also for running agents, "
    "with effect from the next decision on; needs a token with the role operate.\n\n"
    "--table needs no cluster: it shows how many slots must be drawn so that, with the given confidence, as "
    "many acceptable ones are among them as there are tasks, if the share p of the free slots is "
    "acceptable. R is draws per task; it falls with the number of tasks.",
    "  tarcil tune\n"
    "  tarcil tune --rarity 0.02              # find what one slot in 50 offers\n"
    "  tarcil tune --cap 32                   # but draw at most 32 for a task\n"
    "  tarcil tune --cap none                 # as many as it takes for that\n"
    "  tarcil tune --ratio 16                 # always 16 draws per task\n"
    "  tarcil tune --ratio none               # back to as many as it takes\n"
    "  tarcil tune --profile-unknown true     # new applications are measured\n"
    "  tarcil tune --throttling preview       # say who would be throttled\n"
    "  tarcil tune --table --p 0.05,0.2 --tasks 1,8,100 --confidence 0.999\n",
    ""};

// For what is converted later: with a message of our own.
CLI::Validator number() {
  CLI::Validator check("");
  check.operation([](std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return "";
    return "'" + text + "' does not fit; write a number, such as 0.95";
  });
  return check;
}

CLI::Validator numberOrNone(int64_t most) {
  CLI::Validator check("");
  check.operation([number = wholeNumber(1, most)](std::string& text) {
    return text == "none" ? std::string() : number(text).empty() ? std::string() : number(text) + ", or none";
  });
  return check;
}

void addSettingFlags(CLI::App& command, TuneFlags& flags) {
  command
      .add_option("--target", flags.target,
                  "Least performance, as a fraction of what the best platform gives, above 0 and at most 1."
                  " A new cluster has 0.95.")
      ->check(number())
      ->type_name("X");
  command
      .add_option("--rarity", flags.rarity,
                  "How rare acceptable slots may be for --confidence to hold, as a share of the free slots; "
                  "from 0.0001 to 1. A new cluster has 0.05: one slot in 20.")
      ->check(number())
      ->type_name("X");
  command
      .add_option("--confidence", flags.confidence,
                  "Probability that the draws find the slots that a job needs, where acceptable slots are no "
                  "rarer than --rarity; between 0 and 1. A new cluster has 0.999.")
      ->check(number())
      ->type_name("X");
  command
      .add_option(
          "--cap", flags.cap,
          "Most draws per task, whatever rarity and confidence ask for; none, as in a new cluster: as "
          "many as they ask for.")
      ->check(numberOrNone(kMaxCap))
      ->type_name("N|none");
  command.add_option("--floor", flags.floor, "Fewest draws per job. A new cluster has 8.")
      ->check(wholeNumber(1, kMaxFloor))
      ->type_name("N");
  command
      .add_option(
          "--ratio", flags.ratio,
          "Fixed number of draws per task, in place of rarity, confidence, cap and floor; none, as in a "
          "new cluster: as many as it takes.")
      ->check(numberOrNone(kMaxRatio))
      ->type_name("N|none");
  command
      .add_option("--model", flags.model,
                  "How satisfaction is measured: encoded or componentwise (in a new cluster).")
      ->check(oneOf({kQualityModelNames.begin(), kQualityModelNames.end()}))
      ->type_name("MODEL");
  command
      .add_option("--contention", flags.contention,
                  "How neighbours combine: sum of their pressures (in a new cluster), mean, or slowdowns, "
                  "which judges each neighbour by itself.")
      ->check(oneOf({kContentionModelNames.begin(), kContentionModelNames.end()}))
      ->type_name("MODEL");
  command
      .add_option("--ranking", flags.ranking,
                  "By what slots are ranked: worth, what the job "
                  "gets less what its neighbours lose (in a new cluster), or quality, the tightest fit.")
      ->check(oneOf({kRankByNames.begin(), kRankByNames.end()}))
      ->type_name("BY");
  command
      .add_option(
          "--margin", flags.margin,
          "Pressure added to every resource when a slot is judged, 0 to 99, at most as much as is there; "
          "not while many jobs wait; only jobs with max_wait wait for it. A new cluster has 10.")
      ->check(wholeNumber(0, kMaxPressure))
      ->type_name("N");
  command
      .add_option("--noise-floor", flags.noiseFloor,
                  "Pressure that breaks no neighbour, 0 to 99. A new cluster has 2.")
      ->check(wholeNumber(0, kMaxPressure))
      ->type_name("N");
  command
      .add_option("--protect-neighbours", flags.protectNeighbours,
                  "Whether a slot is turned down where the job would break a neighbour: true (in a new "
                  "cluster) or false.")
      ->check(oneOf({"true", "false"}))
      ->type_name("true|false");
  command
      .add_option("--neighbour-floor", flags.neighbourFloor,
                  "Least performance that a newcomer leaves to neighbours, 0.01 to 1, where it may cost them "
                  "some as it is worth more: with --ranking worth, and never of jobs that are protected "
                  "strictly. A new cluster has 0.1.")
      ->type_name("RATIO");
  command
      .add_option(
          "--profile-unknown", flags.profileUnknown,
          "Whether a job of an application without a profile is taken, with a careful guess, and the"
          " application measured: its command runs many times then. true or false (in a new cluster).")
      ->check(oneOf({"true", "false"}))
      ->type_name("true|false");
  command
      .add_option(
          "--throttling", flags.throttling,
          "Whether tasks that slow down a task whose performance is watched are throttled, if their job "
          "yields, or is preemptible and of lower priority: on (in a new cluster), off, or preview, which "
          "only says what it would do.")
      ->check(oneOf(namesIn(kThrottlingNames)))
      ->type_name("off|preview|on");
}

}  // namespace

void addTune(CLI::App& app) {
  addCommand(app, "tune", kTuneHelp, [](CLI::App& command) {
    auto flags = std::make_shared<TuneFlags>();
    flags->shares = {0.01, 0.05, 0.1, 0.2, 0.5};
    flags->tasks = {1, 8, 100};
    addSettingFlags(command, *flags);
    CLI::Option* table =
        command.add_flag("--table", flags->table, "Show how many draws are needed, offline.");
    command
        .add_option("--p", flags->shares,
                    "With --table: shares of acceptable slots, with commas between them.")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(number())
        ->needs(table)
        ->type_name("LIST");
    command.add_option("--tasks", flags->tasks, "With --table: numbers of tasks, with commas between them.")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(wholeNumber(1, kMaxTasks))
        ->needs(table)
        ->type_name("LIST");
    addJsonFlag(command, flags->json);
    addClusterFlags(command, flags->cluster);
    onRun(command, [flags]() { return tune(*flags); });
  });
}

}  // namespace tarcil
