import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReplayOutcome } from "../src/api/types";
import { changesOf, rowsOf } from "../src/model/replay";

const now = { target: 0.95, rarity: 0.05, confidence: 0.999, margin: 10, ranking: "worth", contention: "sum" };
const asText = (changes: object) => Object.fromEntries(Object.entries({ ...now, ...changes }).map(([name, value]) => [name, String(value)])) as Record<keyof typeof now, string>;

test("only what differs is asked for, and nothing where a number is missing", () => {
  assert.deepEqual(changesOf(now, asText({ target: 0.9, margin: 0 })), { target: 0.9, margin: 0 });
  assert.deepEqual(changesOf(now, asText({ ranking: "quality", contention: "mean" })), { ranking: "quality", contention: "mean" });
  assert.equal(changesOf(now, asText({})), null);
  assert.equal(changesOf(now, { ...asText({ target: 0.9 }), margin: "" }), null);
});

const outcome = (quality: number, wait: number): ReplayOutcome => ({
  jobs: 10, utilisation: 0.5, response_ms: { mean: 1000 }, performance: { mean: 0.9, p5: 0.7, p1: 0.6, at_least_95: 0.5 },
  quality: { mean: quality, p5: 0.5, p1: 0.4 }, wait_ms: { mean: wait, p95: 20_000 },
});

test("each figure is judged by what is better of it, as it is shown", () => {
  const rows = rowsOf({ recorded: outcome(0.9, 10), as_it_is: outcome(0.9, 100), changed: outcome(0.85, 50) });
  const row = (start: string) => rows.find((each) => each.title.startsWith(start));
  assert.deepEqual(row("Speed of tasks"), { title: "Speed of tasks, of alone on their best platform: mean", recorded: "90 %", asItIs: "90 %", changed: "85 %", verdict: "worse" });
  assert.deepEqual(row("Wait of tasks")?.verdict, "better");
  assert.equal(row("Wait of tasks")?.changed, "50 ms");
  assert.equal(row("Units in use")?.verdict, "the same");
});
