import assert from "node:assert/strict";
import { test } from "node:test";
import { classOfLoss, matrixOf, quoted, remedyOf, sentenceOf, worstPairs } from "../src/model/interference";
import { pair } from "./made";

const application = (name: string) => ({ name, tasks: 1, violations: 0, source: "stored" as const });

test("what was observed comes before what is predicted, then the greatest loss; who loses nothing is left out", () => {
  const all = { applications: [], pairs: [pair("a", "b", 0.4), pair("a", "c", 0.9, 0.8), pair("d", "e", 1), pair("f", "g", 0.7)] };
  assert.deepEqual(worstPairs(all, 9).map((each) => each.beside), ["c", "b", "g"]);
  assert.equal(worstPairs(all, 1).length, 1);
});

test("the matrix finds pairs wherever the order puts them", () => {
  const all = { applications: ["x", "a", "m"].map(application), pairs: [pair("a", "x", 0.5), pair("m", "a", 0.2)] };
  for (const order of ["tasks", "suffers", "name"] as const) {
    const matrix = matrixOf(all, order);
    assert.equal(matrix.at(matrix.names.indexOf("a"), matrix.names.indexOf("x"))?.s, 0.5);
    assert.equal(matrix.at(matrix.names.indexOf("x"), matrix.names.indexOf("a")), null);
  }
  assert.deepEqual(matrixOf(all, "suffers").names, ["m", "a", "x"]);
  assert.deepEqual(matrixOf(all, "name").names, ["a", "m", "x"]);
  assert.deepEqual(matrixOf(all, "tasks").names, ["x", "a", "m"]);
});

test("classes of loss", () => assert.deepEqual([0, 0.01, 0.05, 0.2, 0.3, 0.5, 1].map(classOfLoss), [0, 1, 2, 3, 4, 5, 5]));

test("a pair in words says who loses how much through what, and what was seen", () => {
  assert.equal(sentenceOf(pair("logreg", "stream", 0.62, 0.71)),
    "One task of stream is predicted to cost logreg 38 % of its speed: its pressure on last-level cache is 38 beyond what logreg tolerates. " +
    "Observed: one violation, down to 71 % of what is expected.");
  assert.match(sentenceOf(pair("a", "b", 1)), /undisturbed.*Nothing was observed/);
});

test("what to do depends on whether profiles predict what was seen", () => {
  assert.match(remedyOf(pair("a", "b", 1, 0.6)), /Measure them again/);
  assert.match(remedyOf(pair("a", "b", 0.5)), /keeps them apart/);
  assert.match(remedyOf(pair("a", "b", 1)), /Nothing to do/);
});

test("names in commands cannot leave their quotes", () => {
  assert.equal(quoted("gzip-1.2"), "gzip-1.2");
  assert.equal(quoted("a'; rm -rf /; '"), `'a'\\''; rm -rf /; '\\'''`);
});
