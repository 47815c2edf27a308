// tarcil job explain: why a job's tasks are where they are, or why it waits.
#include "cli/cluster.h"
#include "cli/commands/commands.h"
#include "cli/late_job.h"
#include "cli/output/decision.h"
#include "cli/output/explanation.h"
#include "cli/output/job_status.h"
#include "cli/output/output.h"
#include "cli/output/render.h"
#include "cli/output/table.h"
#include "cli/output/violation.h"
#include "core/base/failure.h"
#include "schema/convert.h"

namespace tarcil {
namespace {

struct ExplainFlags {
  ContextFlags cluster;
  OutputFlags output;
  std::string job;
};

std::string textOf(const DecisionRecord& decision, const Explained& all) {
  const Explanation& why = decision.explanation;
  Fields fields = {{"Tasks placed", std::to_string(why.placed) + " of " + std::to_string(why.wanted) +
                                        (decision.tasks.empty() ? "" : ": " + ranges(decision.tasks))}};
  for (auto& field : fieldsOf(why)) fields.push_back(std::move(field));
  return "\nDecision " + std::to_string(decision.number) + "\n" + aligned(fields) +
         candidatesText(why, all.job.record.spec.profile, all.servers);
}

std::string textOf(const Explained& all, const Style& style) {
  const JobStatus& job = all.job;
  std::string text = textOf(job, style);
  text += "\n" + aligned({{"Sensitive to", sensitivityText(job.record.spec.profile)}});
  for (const DecisionRecord& decision : all.decisions) text += textOf(decision, all);
  if (all.decisions.empty()) text += "No decision has been made yet.\n";
  if (!job.violations.empty()) text += "\nPerforms badly\n" + textOf(job.violations, style);
  if (!job.steps.empty()) text += "\nWhat was done\n" + textOf(job.steps, style);
  return text;
}

int explain(const ExplainFlags& flags) {
  Cluster cluster(flags.cluster);
  const JobId id = cluster.job(flags.job).id;
  if (!tryFetchJob(cluster, id)) {
    LateJobStatus late = requireLateJob(cluster, id);
    addWhyItWaits(cluster, late);
    if (flags.output.json) {
      printJson(explanationOf(late));
    } else {
      print(textOf(late, styleFor(flags.output.verbose)) + "\n" + explanationTextOf(late));
    }
    return kExitDone;
  }
  const Explained all = fetchExplained(cluster, id);
  if (flags.output.json) {
    printJson(jsonOf(all));
  } else {
    print(textOf(all, styleFor(flags.output.verbose)));
  }
  return kExitDone;
}

}  // namespace

void addJobExplain(CLI::App& job) {
  addCommand(
      job, "explain",
      {"job explain [OPTIONS] JOB", "Say why a job's tasks are where they are.",
       "For each decision: how many free slots were drawn, which share of them was acceptable (p), the "
       "probability with which this many draws find what is needed (guarantee), why others were rejected, "
       "and the best candidates with the contention for the job there. Q says how tightly a slot fits, S "
       "how far it satisfies the job; both are in [0, 1]. The least slack is how much more pressure the "
       "tasks already there can tolerate.\n\n"
       "For a waiting job: the reason. For a task that was started again: how the previous attempt ended. "
       "For a degraded task: the likely causes, and what was done.",
       "  tarcil job explain 4711\n"
       "  tarcil job explain --json 4711\n",
       ""},
      [](CLI::App& command) {
        auto flags = std::make_shared<ExplainFlags>();
        addJobName(command, flags->job);
        addOutputFlags(command, flags->output);
        addClusterFlags(command, flags->cluster);
        onRun(command, [flags]() { return explain(*flags); });
      });
}

}  // namespace tarcil
