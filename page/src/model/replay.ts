// What a day was, what its replay makes of it as the settings are, and with what is to be otherwise, figure by figure.
import type { Replay, ReplayOutcome } from "../api/types";
import { duration, percent, whole } from "./text";

// What can be otherwise, as the gateway calls it.
export const NUMBERS: { name: NumberName; title: string; step: string; least: number; most: number }[] = [
  { name: "target", title: "Target", step: "0.01", least: 0.01, most: 1 },
  { name: "rarity", title: "Rarity", step: "any", least: 0.0001, most: 1 },
  { name: "confidence", title: "Confidence", step: "any", least: 0.0001, most: 0.9999999 },
  { name: "margin", title: "Margin", step: "1", least: 0, most: 99 },
];

export const WORDS: { name: WordName; title: string; words: string[] }[] = [
  { name: "ranking", title: "Ranking", words: ["worth", "quality"] },
  { name: "contention", title: "Contention", words: ["sum", "mean", "slowdowns"] },
];

type NumberName = "target" | "rarity" | "confidence" | "margin";
type WordName = "ranking" | "contention";

export type ReplayedSettings = Record<NumberName, number> & Record<WordName, string>;

// Only what differs from what holds; null where nothing does, or a number is missing.
export function changesOf(now: ReplayedSettings, wanted: Record<keyof ReplayedSettings, string>): Partial<ReplayedSettings> | null {
  const changes: Partial<ReplayedSettings> = {};
  for (const { name } of NUMBERS) {
    const value = Number(wanted[name]);
    if (wanted[name].trim() === "" || !Number.isFinite(value)) return null;
    if (value !== now[name]) changes[name] = value;
  }
  for (const { name } of WORDS) if (wanted[name] !== now[name]) changes[name] = wanted[name];
  return Object.keys(changes).length === 0 ? null : changes;
}

const FIGURES: { title: string; of: (outcome: ReplayOutcome) => number; text: (value: number) => string; isBetter: "more" | "less" }[] = [
  { title: "Speed of tasks, of alone on their best platform: mean", of: (o) => o.quality.mean, text: percent, isBetter: "more" },
  { title: "… of the slowest 1 %, at most", of: (o) => o.quality.p1, text: percent, isBetter: "more" },
  { title: "Performance of jobs (ideal response / response): mean", of: (o) => o.performance.mean, text: percent, isBetter: "more" },
  { title: "… of the worst 1 %, at most", of: (o) => o.performance.p1, text: percent, isBetter: "more" },
  { title: "Jobs at 95 % or above", of: (o) => o.performance.at_least_95, text: percent, isBetter: "more" },
  { title: "Wait of tasks: mean", of: (o) => o.wait_ms.mean, text: waitText, isBetter: "less" },
  { title: "… of the longest 5 %, at least", of: (o) => o.wait_ms.p95, text: waitText, isBetter: "less" },
  { title: "Response of jobs: mean", of: (o) => o.response_ms.mean ?? 0, text: waitText, isBetter: "less" },
  { title: "Units in use", of: (o) => o.utilisation, text: percent, isBetter: "more" },
];

function waitText(ms: number): string {
  return ms < 10_000 ? `${whole(ms)} ms` : duration(ms);
}

export interface FigureRow {
  title: string;
  recorded: string;
  asItIs: string;
  changed: string;
  verdict: "better" | "worse" | "the same"; // of `changed` against `asItIs`, as they are shown
}

export function rowsOf(result: NonNullable<Replay["result"]>): FigureRow[] {
  return FIGURES.map(({ title, of, text, isBetter }) => {
    const [before, after] = [of(result.as_it_is), of(result.changed)];
    const isSame = text(before) === text(after);
    return {
      title, recorded: text(of(result.recorded)), asItIs: text(before), changed: text(after),
      verdict: isSame ? "the same" : (after > before) === (isBetter === "more") ? "better" : "worse",
    };
  });
}
