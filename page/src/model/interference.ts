// Who hurts whom: pairs of applications, what profiles predict of them beside what was observed.
import type { Interference, InterferencePair } from "../api/types";
import { titleOf } from "./resources";
import { percent, signed } from "./text";

// The part of its speed that `application` loses beside `beside`: predicted, and the most that was observed.
export function predictedLoss(pair: InterferencePair): number {
  return Math.max(0, 1 - pair.s);
}

export function observedLoss(pair: InterferencePair): number {
  return pair.observed === null ? 0 : Math.max(0, 1 - pair.observed.performance);
}

export function worseLoss(pair: InterferencePair): number {
  return Math.max(predictedLoss(pair), observedLoss(pair));
}

// Pairs of which one loses something, what was observed before what is only predicted, then the greatest loss first.
export function worstPairs(all: Interference, most: number): InterferencePair[] {
  return all.pairs
    .filter((pair) => worseLoss(pair) > 0)
    .sort((a, b) => Number(b.observed !== null) - Number(a.observed !== null) || worseLoss(b) - worseLoss(a) ||
      a.application.localeCompare(b.application))
    .slice(0, most);
}

export interface InterferenceMatrix {
  names: string[];
  at: (application: number, beside: number) => InterferencePair | null;
}

// Applications in the order of `order`: as the cluster tells them (those with most tasks first), by what they suffer, or by name.
export function matrixOf(all: Interference, order: "tasks" | "suffers" | "name"): InterferenceMatrix {
  const suffers = new Map<string, number>();
  for (const pair of all.pairs) {
    suffers.set(pair.application, Math.max(suffers.get(pair.application) ?? 0, worseLoss(pair)));
  }
  const names = all.applications.map((each) => each.name);
  if (order === "name") names.sort((a, b) => a.localeCompare(b));
  if (order === "suffers") names.sort((a, b) => (suffers.get(b) ?? 0) - (suffers.get(a) ?? 0) || a.localeCompare(b));
  const byNames = new Map(all.pairs.map((pair) => [pair.application + "\n" + pair.beside, pair]));
  return { names, at: (application, beside) => byNames.get(names[application] + "\n" + names[beside]) ?? null };
}

export const LOSS_CLASSES = [0.001, 0.05, 0.15, 0.3, 0.5] as const;

// 0: nothing is lost; then by the bounds of LOSS_CLASSES.
export function classOfLoss(loss: number): number {
  return LOSS_CLASSES.filter((bound) => loss >= bound).length;
}

export function sentenceOf(pair: InterferencePair): string {
  const loss = predictedLoss(pair);
  const predicted = loss === 0
    ? `One task of ${pair.beside} leaves ${pair.application} undisturbed; slack ${signed(pair.slack)} on ${titleOf(pair.resource)}.`
    : `One task of ${pair.beside} is predicted to cost ${pair.application} ${percent(loss)} of its speed: its pressure on ` +
      `${titleOf(pair.resource)} is ${-pair.slack} beyond what ${pair.application} tolerates.`;
  if (pair.observed === null) return `${predicted} Nothing was observed.`;
  return `${predicted} Observed: ${pair.observed.violations === 1 ? "one violation" : `${pair.observed.violations} violations`}, ` +
    `down to ${percent(pair.observed.performance)} of what is expected.`;
}

// What somebody may do about a pair of which one loses something.
export function remedyOf(pair: InterferencePair): string {
  if (worseLoss(pair) === 0) return "Nothing to do: they run well together.";
  if (pair.observed !== null && predictedLoss(pair) < 0.05) {
    return `The profiles do not predict this. Measure them again: tarcil profile run --application ${quoted(pair.application)} … , and the ` +
      `same for ${quoted(pair.beside)}; until then keep them apart with placement.constraints in the job file.`;
  }
  return "tarcil keeps them apart where other slots are free. If they still meet: give the one that suffers quality.max_wait and " +
    "performance with adjust: {move: true} in its job file, or let it protect itself with quality.protect: strict.";
}

// A name as a shell takes it.
export function quoted(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replace(/'/g, "'\\''")}'`;
}
