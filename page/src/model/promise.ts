// What the settings promise of a decision, in words.
import { percent } from "./text";

export function promiseOf(settings: { rarity: number; confidence: number }): string {
  return `Wherever one free slot in ${Math.round(1 / settings.rarity)} is acceptable to a job, one is found with a probability of ${percent(settings.confidence)}.`;
}
