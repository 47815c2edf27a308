// A task's performance against what is expected, over time. The cluster tells violations and steps; while a task runs without one it
// performs as expected, which is a band and not a line, since nothing more is known of it.
import type { Explanation, Step } from "../api/types";

export interface Measure {
  at: number; // ms
  part: number; // of what is expected
}

export interface Timeline {
  began: number;
  now: number;
  measures: Measure[]; // in the order of time; only while in violation
  steps: { at: number; text: string }[];
  degradedSince: number | null;
}

export function partOf(violation: { expected: number; measured: number }): number {
  if (!(violation.expected > 0) || !(violation.measured > 0)) return 0;
  return Math.min(1, violation.measured / violation.expected);
}

// What the page has seen of the tasks of one job while it was open. Remembers at most kMost measures a task.
const kMost = 2_000;

export class PerformanceMemory {
  private readonly byTask = new Map<number, Measure[]>();
  private readonly open = new Set<number>();

  see(explanation: Explanation, now: number): void {
    const degraded = new Set<number>();
    for (const violation of explanation.troubles) {
      degraded.add(violation.task);
      const measures = this.measures(violation.task);
      const since = violation.since === null ? now : Math.min(now, Date.parse(violation.since));
      if (!this.open.has(violation.task)) measures.push({ at: since, part: partOf(violation) });
      measures.push({ at: now, part: partOf(violation) });
      this.open.add(violation.task);
    }
    for (const task of this.open) {
      if (degraded.has(task)) continue;
      this.measures(task).push({ at: now, part: 1 });
      this.open.delete(task);
    }
    for (const measures of this.byTask.values()) measures.splice(0, Math.max(0, measures.length - kMost));
  }

  measures(task: number): Measure[] {
    let known = this.byTask.get(task);
    if (!known) this.byTask.set(task, (known = []));
    return known;
  }
}

export function timelineOf(memory: PerformanceMemory, explanation: Explanation, task: number, started: string | null, now: number): Timeline {
  const steps = stepsOf(explanation.steps, task);
  const measures = memory.measures(task);
  const times = [...measures.map((each) => each.at), ...steps.map((each) => each.at)];
  const began = started !== null ? Date.parse(started) : Math.min(now, ...times);
  const violation = explanation.troubles.find((each) => each.task === task);
  return {
    began: Math.min(began, ...times),
    now,
    measures,
    steps,
    degradedSince: violation === undefined ? null : violation.since === null ? now : Date.parse(violation.since),
  };
}

function stepsOf(steps: Step[], task: number): { at: number; text: string }[] {
  return steps
    .filter((step) => step.task === task && step.at !== null)
    .map((step) => ({ at: Date.parse(step.at as string), text: step.step }))
    .sort((a, b) => a.at - b.at);
}
