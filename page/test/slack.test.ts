import assert from "node:assert/strict";
import { test } from "node:test";
import { RESOURCES } from "../src/model/resources";
import { classOfSlack, columnsOf, ordered, tightest } from "../src/model/slack";
import { row } from "./made";

const llc = RESOURCES.indexOf("llc");

test("slack below zero is of a class of its own, and the worst are told apart", () => {
  assert.deepEqual([-99, -10, -9, -1, 0, 9, 10, 29, 30, 59, 60, 99].map(classOfSlack), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
});

test("the least slack comes first, those whom nobody can hurt last, equals by name as people count", () => {
  const rows = [row("s10", { llc: 5 }), row("s2", { llc: 5 }), row("free", {}), row("bad", { llc: 40, tlb: -3 })];
  assert.deepEqual(ordered(rows, "slack").map((each) => each.name), ["bad", "s2", "s10", "free"]);
  assert.deepEqual(ordered(rows, "name").map((each) => each.name), ["bad", "free", "s2", "s10"]);
});

test("more servers than fit share columns: each is in one, and none hides its worst", () => {
  const rows = Array.from({ length: 10_000 }, (_, i) => row(`s${i}`, { llc: i === 7_777 ? -50 : 20 }));
  const columns = columnsOf(rows, 333);
  assert.equal(columns.length, 333);
  assert.equal(columns[0].first, 0);
  assert.equal(columns[332].last, 9_999);
  columns.slice(1).forEach((column, i) => assert.equal(column.first, columns[i].last + 1));
  assert.deepEqual(columns.filter((column) => column.slack[llc] === -50).map((column) => column.first <= 7_777 && column.last >= 7_777), [true]);
});

test("a column is hatched where one of its servers does not measure", () => {
  const [column] = columnsOf([row("a", { llc: 1 }), row("b", {}, { not_measured: { llc: 1 } })], 1);
  assert.equal(column.isHatched[llc], true);
  assert.equal(column.isHatched[0], false);
  assert.equal(column.slack[llc], 1);
  assert.equal(column.slack[0], null);
});

test("no servers, no columns", () => assert.deepEqual(columnsOf([], 100), []));

test("the tightest names the resource", () => {
  assert.deepEqual(tightest([row("a", { llc: 3, tlb: 9 }), row("b", { core: -4 }), row("c", {})], 2).map((each) => [each.row.name, each.resource, each.slack]), [["b", "core", -4], ["a", "llc", 3]]);
});
