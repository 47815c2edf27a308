import assert from "node:assert/strict";
import { test } from "node:test";
import { partOf, timelineOf } from "../src/model/performance";
import { explanation, violation } from "./made";

const time = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const minute = (n: number) => Date.parse(time(n));
const history = (since: number, measures: [number, number][]) => ({ since: time(since), tasks: [{ task: 0, measures: measures.map(([at, part]) => ({ at: time(at), part })) }] });

test("what the gateway was told is drawn, and what holds now where it was not told yet", () => {
  const known = history(0, [[1, 0.7], [3, 1]]);
  assert.deepEqual(timelineOf(known, explanation(), 0, time(0), minute(6)).measures, [{ at: minute(1), part: 0.7 }, { at: minute(3), part: 1 }]);
  const again = timelineOf(known, explanation({ troubles: [violation(0, 60, time(5))] }), 0, time(0), minute(6));
  assert.deepEqual(again.measures[2], { at: minute(5), part: 0.6 });
  assert.equal(again.degradedSince, minute(5));
  const told = timelineOf(history(0, [[1, 0.7]]), explanation({ troubles: [violation(0, 70, time(1))] }), 0, time(0), minute(6));
  assert.deepEqual(told.measures, [{ at: minute(1), part: 0.7 }]);
});

test("a gateway that was started later has not heard all; one that was there has", () => {
  assert.equal(timelineOf(history(4, []), explanation(), 0, time(0), minute(6)).unheardUntil, minute(4));
  assert.equal(timelineOf(history(0, []), explanation(), 0, time(1), minute(6)).unheardUntil, null);
  assert.equal(timelineOf(null, explanation(), 0, time(0), minute(6)).unheardUntil, minute(6));
});

test("tasks are told apart, and steps are in order", () => {
  const why = explanation({ troubles: [violation(1, 50, time(1))], steps: [{ at: time(1), task: 1, step: "second" }, { at: time(0), task: 1, step: "first" }, { at: time(0), task: 0, step: "of another" }] });
  assert.deepEqual(timelineOf(null, why, 0, time(0), minute(2)).measures, []);
  const timeline = timelineOf(null, why, 1, time(0), minute(2));
  assert.deepEqual(timeline.steps.map((step) => step.text), ["first", "second"]);
  assert.equal(timeline.degradedSince, minute(1));
});

test("numbers that make no sense are no performance", () => {
  assert.equal(partOf({ expected: 0, measured: 5 }), 0);
  assert.equal(partOf({ expected: 10, measured: -1 }), 0);
  assert.equal(partOf({ expected: 10, measured: 20 }), 1);
});
