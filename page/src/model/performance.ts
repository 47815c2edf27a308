// A task's performance against what is expected, over time, with the steps that were taken.
import type { Cause, Explanation, PerformanceHistory, Step } from "../api/types";
import { titleOf } from "./resources";

export interface Measure {
  at: number; // ms
  part: number; // of what is expected
}

export interface Timeline {
  began: number;
  now: number;
  measures: Measure[]; // in the order of time
  steps: { at: number; text: string }[];
  degradedSince: number | null;
  unheardUntil: number | null; // before that nothing was heard of it
}

export function partOf(violation: { expected: number; measured: number }): number {
  if (!(violation.expected > 0) || !(violation.measured > 0)) return 0;
  return Math.min(1, violation.measured / violation.expected);
}

// Who or what, and through what.
export function causeOf(cause: Cause): string {
  return `${cause.neighbour ?? cause.kind.replace(/_/g, " ")}${cause.resource === null ? "" : ` through ${titleOf(cause.resource)}`}`;
}

export function timelineOf(history: PerformanceHistory | null, explanation: Explanation, task: number, started: string | null, now: number): Timeline {
  const steps = stepsOf(explanation.steps, task);
  const told = history?.tasks.find((each) => each.task === task)?.measures ?? [];
  const measures = told.map((each) => ({ at: Date.parse(each.at), part: each.part }));
  const violation = explanation.troubles.find((each) => each.task === task);
  const degradedSince = violation === undefined ? null : violation.since === null ? now : Date.parse(violation.since);
  const last = measures[measures.length - 1];
  // The gateway may hear of it in a moment.
  if (violation !== undefined && degradedSince !== null && (last === undefined || last.at < degradedSince)) {
    measures.push({ at: degradedSince, part: partOf(violation) });
  }
  const times = [...measures.map((each) => each.at), ...steps.map((each) => each.at)];
  const began = Math.min(started !== null ? Date.parse(started) : now, ...times);
  const heardSince = history === null ? now : Date.parse(history.since);
  return { began, now, measures, steps, degradedSince, unheardUntil: heardSince > began ? Math.min(now, heardSince) : null };
}

function stepsOf(steps: Step[], task: number): { at: number; text: string }[] {
  return steps
    .filter((step) => step.task === task && step.at !== null)
    .map((step) => ({ at: Date.parse(step.at as string), text: step.step }))
    .sort((a, b) => a.at - b.at);
}
