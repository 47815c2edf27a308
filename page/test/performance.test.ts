import assert from "node:assert/strict";
import { test } from "node:test";
import { PerformanceMemory, partOf, timelineOf } from "../src/model/performance";
import { explanation, violation } from "./made";

const began = "2026-01-01T00:00:00.000000Z", since = "2026-01-01T00:01:00.000000Z";
const minute = (n: number) => Date.parse(began) + 60_000 * n;

test("a violation is drawn from when it began to when it is over, then as expected", () => {
  const memory = new PerformanceMemory();
  memory.see(explanation({ troubles: [violation(0, 70, since)] }), minute(2));
  memory.see(explanation({ troubles: [violation(0, 60, since)] }), minute(3));
  memory.see(explanation(), minute(4));
  memory.see(explanation(), minute(5));
  const timeline = timelineOf(memory, explanation(), 0, began, minute(6));
  assert.deepEqual(timeline.measures, [{ at: minute(1), part: 0.7 }, { at: minute(2), part: 0.7 }, { at: minute(3), part: 0.6 }, { at: minute(4), part: 1 }]);
  assert.equal(timeline.degradedSince, null);
  assert.equal(timeline.began, minute(0));
});

test("tasks are told apart, and steps are in order", () => {
  const memory = new PerformanceMemory();
  const why = explanation({ troubles: [violation(1, 50, since)], steps: [{ at: since, task: 1, step: "second" }, { at: began, task: 1, step: "first" }, { at: began, task: 0, step: "of another" }] });
  memory.see(why, minute(2));
  assert.deepEqual(memory.measures(0), []);
  const timeline = timelineOf(memory, why, 1, began, minute(2));
  assert.deepEqual(timeline.steps.map((step) => step.text), ["first", "second"]);
  assert.equal(timeline.degradedSince, minute(1));
});

test("numbers that make no sense are no performance", () => {
  assert.equal(partOf({ expected: 0, measured: 5 }), 0);
  assert.equal(partOf({ expected: 10, measured: -1 }), 0);
  assert.equal(partOf({ expected: 10, measured: 20 }), 1);
});

test("memory is bounded", () => {
  const memory = new PerformanceMemory();
  for (let i = 0; i < 5_000; ++i) memory.see(explanation({ troubles: [violation(0, 50, since)] }), minute(2) + i);
  assert.equal(memory.measures(0).length, 2_000);
});
