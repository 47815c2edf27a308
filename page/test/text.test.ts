import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, numberOf, withField } from "../src/model/job_file";
import { groupsOf, turnedDown } from "../src/model/decisions";
import { pastedWord, paths, wordOf } from "../src/model/paths";
import { remedyFor } from "../src/model/reasons";
import { figuresOf } from "../src/model/sharing";
import { bytes, counted, duration, metricValue, percent, ranges, relative, signed, withoutEscapes } from "../src/model/text";
import { explanation, pressures } from "./made";

test("numbers as people read them", () => {
  assert.deepEqual([0, 0.005, 0.38, 0.9995, 1].map(percent), ["0 %", "0.5 %", "38 %", "99.95 %", "100 %"]);
  assert.deepEqual([0, 900, 61_000, 3_700_000, 172_800_000].map(duration), ["0 s", "1 s", "1 min", "1 h 1 min", "2 d"]);
  assert.deepEqual([0, 1536, 2 ** 30 * 150].map(bytes), ["0 B", "1.5 KiB", "150 GiB"]);
  assert.equal(ranges([5, 0, 1, 2]), "0-2, 5");
  assert.equal(counted(1, "job"), "1 job");
  assert.equal(counted(12_000, "job"), "12,000 jobs");
  assert.equal(signed(-5), "−5");
  assert.equal(metricValue(1.234e9), "1.23 G");
  assert.equal(relative("2026-01-01T00:00:10.000000Z", Date.parse("2026-01-01T00:00:00Z")), "in 10 s");
});

test("terminal text without what moves cursors", () => assert.equal(withoutEscapes("\u001b[31mred\u001b[0m \u001b]0;title\u0007x\r\ny\rz"), "red x\r\ny\nz"));

test("every reason has something to do about it", () => {
  assert.match(remedyFor("0 of 16 slots sampled suit it: on the rest it would disturb others through core"), /spreading/);
  assert.match(remedyFor("3 of 30 slots sampled suit it: the rest are needed for its other tasks"), /own tasks would disturb one another/);
  assert.match(remedyFor("account physics holds the 64 units that it may, 24 of them as headroom that strict tasks keep"), /quality.protect: balanced/);
  assert.match(remedyFor("waiting for 10 slots at once (gang); 8 are free"), /gang/);
  assert.match(remedyFor("held by root"), /Release/);
  assert.match(remedyFor("starts after 2026-11-28T00:00:22.537133Z"), /by itself/);
  assert.match(remedyFor("something that was never said before"), /Why here/);
  assert.notEqual(remedyFor(null), "");
});

test("words of sign-in, as opened and as pasted", () => {
  assert.equal(wordOf("#abcdefgh"), "abcdefgh");
  assert.equal(wordOf("#main"), null);
  assert.equal(wordOf(""), null);
  assert.equal(pastedWord("  http://127.0.0.1:80/#abcdefgh "), "abcdefgh");
  assert.equal(pastedWord("abcdefgh"), "abcdefgh");
  assert.equal(pastedWord("http://127.0.0.1/"), "http://127.0.0.1/");
});

test("names are escaped in addresses", () => {
  assert.equal(paths.server("a/b?c"), "/servers/a%2Fb%3Fc");
  assert.equal(paths.job(7, "why"), "/jobs/7/why");
  assert.equal(paths.job(7, "tasks"), "/jobs/7");
});

test("fields of a job file are set in place or added", () => {
  const text = "name: a\ntasks: 4 # four\n";
  assert.equal(withField(text, "tasks", "2"), "name: a\ntasks: 2\n");
  assert.equal(withField(text, "quality", "{target: 0.9}"), "name: a\ntasks: 4 # four\nquality: {target: 0.9}\n");
  assert.equal(withField(text, "name", "$& $1"), "name: $& $1\ntasks: 4 # four\n");
  assert.equal(numberOf(text, "tasks"), 4);
  assert.equal(numberOf(text, "rus_per_task"), null);
});

test("a draft of a job holds what decides where it goes, with its name quoted", () => {
  const status = { id: "x", number: 3, name: "a: {b}\n#", user: "u", state: "running" as const, reason: null, ahead: 0, expected_start: null, submitted: null, finished: null, tasks: [], task_count: 9 };
  const text = draftOf(status, explanation({ declared: pressures({ llc: 45 }, 0) }), null);
  assert.match(text, /^name: "a: \{b\}\\n#"$/m);
  assert.match(text, /^profile: \{caused: \{llc: 45\}\}$/m);
  assert.match(text, /^tasks: 9$/m);
});

test("tasks of one decision are one group; what was turned down is in words, the most first", () => {
  const decision = { p: 0.5, ratio: 2, drawn: 8, limit: 9, guarantee: 1, dropped: {}, best: [], seed: 1 };
  const groups = groupsOf([
    { ...decision, task: 0, decision: 0, chosen: { server: "a", rus: [0], q: 1, s: 1 } },
    { ...decision, task: 1, decision: 0, chosen: { server: "a", rus: [1], q: 1, s: 1 } },
    { ...decision, task: 2, decision: 1, chosen: null },
    { ...decision, task: 3, decision: null, drawn: null },
  ]);
  assert.deepEqual(groups.map((group) => [group.tasks, group.servers]), [[[0, 1], [{ server: "a", tasks: [0, 1] }]], [[2], []]]);
  assert.deepEqual(turnedDown({ quality: 1, "neighbour:llc": 7 }).map((each) => each.why),
    ["7 slots: a task already there could not bear it on last-level cache", "1 slot below its target"]);
});

test("the tile", () => {
  assert.deepEqual(figuresOf({ tasks: 40, degraded: 1, units_used: 40, units_alone: 64 }), { atTarget: 0.975, gained: 24 });
  assert.deepEqual(figuresOf({ tasks: 0, degraded: 0, units_used: 0, units_alone: 0 }), { atTarget: 1, gained: 0 });
});
