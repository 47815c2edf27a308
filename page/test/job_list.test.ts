import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_FILTER, appended, matches, patched } from "../src/model/job_list";
import { job } from "./made";

const numbers = (jobs: { number: number | null }[]) => jobs.map((each) => each.number);

test("events change jobs in their place, and bring new ones first", () => {
  const known = [job(5), job(4), job(3)];
  const next = patched(known, [job(4, { state: "done" }), job(6), job(7), job(6, { state: "failed" })], NO_FILTER);
  assert.deepEqual(numbers(next), [7, 6, 5, 4, 3]);
  assert.equal(next[1].state, "failed");
  assert.equal(next[3].state, "done");
});

test("a job that no longer matches goes; one older than those known waits for its page", () => {
  const filter = { ...NO_FILTER, state: "starting,running" };
  assert.deepEqual(numbers(patched([job(5), job(4)], [job(5, { state: "done" }), job(1), job(9, { state: "queued" })], filter)), [4]);
});

test("no news leave the list as it is", () => {
  const known = [job(1)];
  assert.equal(patched(known, [], NO_FILTER), known);
});

test("the first jobs of an empty list come in order", () => assert.deepEqual(numbers(patched([], [job(1), job(3), job(2)], NO_FILTER)), [3, 2, 1]));

test("pages that overlap are joined once", () => assert.deepEqual(numbers(appended([job(5), job(4)], [job(4), job(3)])), [5, 4, 3]));

test("filters", () => {
  assert.ok(matches(job(1), { state: "queued,running", user: "alice", name: "ob-1" }));
  assert.ok(!matches(job(1), { ...NO_FILTER, user: "bob" }));
  assert.ok(!matches(job(1), { ...NO_FILTER, name: "x" }));
});

test("100,000 jobs and a burst of events are merged", () => {
  const known = Array.from({ length: 100_000 }, (_, i) => job(100_000 - i));
  const next = patched(known, Array.from({ length: 500 }, (_, i) => job(100_001 + i)), NO_FILTER);
  assert.equal(next.length, 100_500);
  assert.equal(next[0].number, 100_500);
});
