// tarcil plan: what would become of a job if it were submitted now.
#include <algorithm>
#include <charconv>

#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/foreseen.h"
#include "cli/output/decision.h"
#include "cli/output/neighbours.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/submission.h"
#include "core/base/failure.h"
#include "core/base/text.h"

namespace tarcil {
namespace {

// Shown to people unless --verbose is given.
constexpr size_t kMaxTasksShown = 50;
constexpr size_t kMaxCandidatesShown = 10;
constexpr size_t kMaxNeighboursShown = 10;

struct PlanFlags {
  ContextFlags cluster;
  OutputFlags output;
  SubmissionFlags job;
  std::string seed;
};

uint64_t seedOf(const PlanFlags& flags) {
  if (flags.seed.empty()) return makeSeed();
  uint64_t seed = 0;
  const char* end = flags.seed.data() + flags.seed.size();
  if (const auto read = std::from_chars(flags.seed.data(), end, seed);
      read.ec == std::errc() && read.ptr == end)
    return seed;
  throw badInput("--seed: " + shown(flags.seed) + " does not fit; write a whole number from 0 to " +
                 std::to_string(UINT64_MAX) + ", such as `tarcil plan` and `tarcil job explain` show");
}

Foreseen foresee(const PlanFlags& flags) {
  JobFile job = readSubmission(flags.job);
  const uint64_t seed = seedOf(flags);
  Cluster cluster(flags.cluster);
  return foresee(cluster, flags.job.file, std::move(job), seed);
}

// How a table that was cut ends; empty where it was not.
std::string restText(size_t all, size_t shown, const std::string& what) {
  if (shown >= all) return "";
  return "and " + counted(all - shown, what) + "; --verbose shows all\n";
}

// What it waits for before any of its tasks is placed; empty where it is for nothing.
std::string firstText(const Foreseen& all, const Style& style) {
  std::string text;
  const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (all.spec.hold) add("`tarcil job release`");
  if (all.spec.startAfter != kNever) add("its time, " + style.start(all.spec.startAfter));
  if (!all.outlook.reason.empty() && !all.outlook.isCancelled) add("others (it " + all.outlook.reason + ")");
  return text;
}

std::string summaryText(const Foreseen& all, const Style& style) {
  const JobPlan& plan = all.plan;
  const std::string tasks = std::to_string(plan.claims.size()) + " of " + counted(all.spec.tasks, "task");
  Fields fields;
  if (all.outlook.isCancelled) fields.emplace_back("Would be cancelled", all.outlook.reason);
  const std::string first = firstText(all, style);
  if (!first.empty()) fields.emplace_back("Waits for", first + "; if that were so now:");
  fields.emplace_back("Would start", tasks);
  if (all.waiting() > 0) fields.emplace_back("Would wait", counted(all.waiting(), "task"));
  if (!plan.waitReason.empty()) fields.emplace_back("Because", plan.waitReason);
  const uint64_t taken = plan.claims.size() * uint64_t{all.spec.rusPerTask};
  fields.emplace_back("Free units",
                      std::to_string(plan.freeUnits) + " of " + std::to_string(plan.usableUnits) + " now, " +
                          std::to_string(plan.freeUnits - std::min(taken, plan.freeUnits)) + " afterwards");
  fields.emplace_back("Sensitive to", sensitivityText(all.spec.profile));
  return aligned(fields);
}

std::string tasksText(const Foreseen& all, size_t most) {
  if (all.plan.claims.empty()) return "";
  Table table({"Task", "Server", "RUs", "Q", "S", "E"});
  const size_t shown = std::min(most, all.plan.claims.size());
  for (size_t i = 0; i < shown; ++i) {
    const Claim& claim = all.plan.claims[i];
    const ServerName server = serverIn(all.servers, claim.server);
    const double expected = claim.s * platformFactor(all.spec.profile, server.platform);
    table.add({std::to_string(claim.task), server.name, ranges(claim.preferred), fixed(claim.q, 4),
               fixed(claim.s, 4), fixed(expected, 4)});
  }
  return "\n" + table.text() + restText(all.plan.claims.size(), shown, "more task");
}

std::string decisionText(const Foreseen& all, size_t most) {
  const Explanation& why = all.plan.explanation;
  const bool wasSampled = why.drawn > 0 || why.dropped != decltype(why.dropped){};
  if (!wasSampled) return "\nNo slot was looked at.\n";
  return "\n" + aligned(fieldsOf(why)) + candidatesText(why, all.spec.profile, all.servers, most) +
         restText(why.best.size(), most, "more candidate");
}

// Of the speed that the neighbour has now.
double lossOf(const Impact& impact) {
  return 1 - impact.satisfactionAfter / impact.satisfactionBefore;
}

// "6.0 %", "27 %".
std::string lossText(const Impact& impact) {
  const double lost = lossOf(impact);
  return fixed(100 * lost, lost > 0 && lost < 0.095 ? 1 : 0) + " %";
}

// "Would slow job 12 task 3 on server-3 by 6.0 %, and 2 more tasks; worth it: 14 jobs wait."
std::string verdictText(const Foreseen& all, const Style& style) {
  const auto loss = [](const AffectedTask& neighbour) { return lossOf(neighbour.impact); };
  const auto slowed = std::ranges::count_if(
      all.neighbours, [](double lost) { return lost > 0; }, loss);
  if (slowed == 0) return "\nSlows nobody down.\n";
  const AffectedTask& worst = *std::ranges::max_element(all.neighbours, {}, loss);
  std::string text = "\nWould slow " + style.task(worst.number, worst.job, worst.task) + " on " +
                     worst.server + " by " + lossText(worst.impact);
  if (slowed > 1) text += ", and " + counted(static_cast<uint64_t>(slowed - 1), "more task");
  const Explanation& why = all.plan.explanation;
  if (why.price < 1 && why.waitingJobs > 0)
    text += "; worth it: " + counted(why.waitingJobs, "job") + (why.waitingJobs == 1 ? " waits" : " wait");
  return text + ".\n";
}

std::string neighboursText(const Foreseen& all, const Style& style, size_t most) {
  if (all.plan.claims.empty()) return "";
  Table table({"Neighbour", "Server", "Loses", "Resource", "Slack now", "Slack then"});
  size_t hurt = 0;
  for (const AffectedTask& neighbour : all.neighbours) {
    const Impact& impact = neighbour.impact;
    const auto resource = worstLoss(impact);
    if (!resource || ++hurt > most) continue;
    table.add({style.task(neighbour.number, neighbour.job, neighbour.task), neighbour.server,
               lossText(impact), std::string(kResourceNames[*resource]),
               std::to_string(impact.before[*resource]), std::to_string(impact.after[*resource])});
  }
  if (hurt == 0) return "\nNobody's slack changes.\n";
  return verdictText(all, style) + table.text() + restText(hurt, most, "more neighbour");
}

std::string textOf(const Foreseen& all, const Style& style) {
  const auto most = [&style](size_t count) { return style.verbose ? SIZE_MAX : count; };
  return summaryText(all, style) + tasksText(all, most(kMaxTasksShown)) +
         decisionText(all, most(kMaxCandidatesShown)) + neighboursText(all, style, most(kMaxNeighboursShown));
}

int plan(const PlanFlags& flags) {
  const Foreseen all = foresee(flags);
  if (flags.output.json) {
    printJson(jsonOf(all));
  } else {
    print(textOf(all, styleFor(flags.output.verbose)));
  }
  return kExitDone;
}

const Help kPlanHelp = {
    "plan [OPTIONS] FILE", "Show what would become of a job, without submitting it.",
    "Checks the job file as `tarcil submit` does, has an agent decide for all of its tasks on the current "
    "state, and shows the outcome: where each task would go; why others would wait, and what is free; the "
    "best candidates as in `tarcil job explain`; and how the job would affect the tasks that run there. "
    "Nothing is claimed, queued or stored, so a moment later the answer may be another.\n\n"
    "Q says how tightly a slot fits and S how far it satisfies the job; E is S times the relative speed of "
    "the platform for it: the expected fraction of its best performance. A neighbour's slack on a resource "
    "is what it tolerates less the interference from all others: below 0 it is slowed beyond what its "
    "profile allows; what it loses of its speed by that is shown too. Where slots are ranked by worth "
    "(`tarcil tune`), one that costs neighbours something is taken if what the job gets is worth it: the "
    "more jobs wait, the less a slot has to be worth.\n\n"
    "Slots are drawn at random, so two plans may differ. The seed that a plan shows gives the same plan "
    "again while the cluster does not change; to see the effect of a change of the job file, plan both "
    "versions with the same seed.",
    "  tarcil plan train.yaml\n"
    "  tarcil plan --seed 7 train.yaml              # the same draws again\n"
    "  tarcil plan --profile loud.yaml train.yaml   # with another profile\n"
    "  tarcil plan --json train.yaml\n",
    "  0  planned, also if tasks would wait\n"
    "  1  would be refused\n"
    "  2  bad arguments or files; nothing was sent\n"
    "  3  no cluster in reach, or not allowed\n"};

}  // namespace

int showPlan(const ContextFlags& cluster, const OutputFlags& output, const SubmissionFlags& job) {
  return plan({.cluster = cluster, .output = output, .job = job, .seed = ""});
}

void addPlan(CLI::App& app) {
  addCommand(app, "plan", kPlanHelp, [](CLI::App& command) {
    auto flags = std::make_shared<PlanFlags>();
    addSubmissionFlags(command, flags->job);
    command.add_option("--seed", flags->seed, "Draw as the decision with this seed did. Default: random.")
        ->type_name("N");
    addOutputFlags(command, flags->output);
    addClusterFlags(command, flags->cluster);
    onRun(command, [flags]() { return plan(*flags); });
  });
}

}  // namespace tarcil
