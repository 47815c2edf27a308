// What to do about the reason for which a job waits or ended. Reasons are the cluster's own words (docs/guide.md).

const REMEDIES: [RegExp, string][] = [
  [/^held by/, "Release it to let its tasks start."],
  [/^starts after .*\d{4}-\d\d-\d\dT/, "It starts by itself at that time."],
  [/run that again/, "Run that job again, or release or cancel this one."],
  [/^starts after/, "It starts by itself once that job has ended well."],
  [/waiting for \d+ slots at once/,
    "A gang starts when all its tasks fit at once. Fewer tasks, fewer units per task, or schedule: incremental start sooner."],
  [/holds the \d+ units that it may/,
    "It starts as tasks of the account end. Strict ones count for the headroom that they keep, too: quality.protect: balanced keeps none."],
  [/would count for more than/,
    "Its tasks keep more of their servers than the account may hold: protect them less (quality.protect: balanced), or ask an operator for more units."],
  [/no free unit/, "Every unit is taken. It starts when tasks end; a higher priority brings it forward."],
  [/no server( that suits it)? takes tasks/, "Uncordon a server, or bring those that are down back. Its constraints may be too narrow."],
  [/would disturb others/,
    "Free slots are beside tasks that would suffer. It starts when they end; spreading it over more servers, or quality.protect_neighbours: false, starts it sooner."],
  [/needed for its other tasks/,
    "On the slots that are left its own tasks would disturb one another. The rest start as tasks end; a lower quality.target fits more of them at once."],
  [/leaves less to spare/, "It waits for a quieter slot for as long as quality.max_wait says; a shorter one starts it sooner."],
  [/on the rest/, "Free slots are too contended for its target. A lower quality.target starts it sooner and slower."],
  [/too slow for its target/, "Only slower platforms are free. A lower quality.target lets it take them."],
  [/less memory left/, "Lower limits.memory, or wait until tasks that claim memory end."],
  [/less disk left/, "Lower limits.disk, or wait until tasks that claim disk end."],
  [/pause|restart/, "It is started again after the pause that restart.backoff says."],
  [/lower priority/, "Tasks of lower priority are being ended for it; it starts then."],
  [/exited with code|signal|failed; first/, "Read what the task wrote: its logs are below. Run it again when it is mended."],
  [/out of memory|oom/i, "It was killed at its memory limit: raise limits.memory and run it again."],
  [/timeout|took longer/, "It ran into its timeout: raise timeout and run it again."],
  [/cancelled/, "Run it again if it is wanted after all."],
];

// Always says something: where the reason is not known, where to look.
export function remedyFor(reason: string | null): string {
  if (reason === null || reason === "") return "It has just been submitted; agents are looking for slots.";
  for (const [pattern, remedy] of REMEDIES) if (pattern.test(reason)) return remedy;
  return "“Why here” shows which slots were looked at and what was wrong with them.";
}
