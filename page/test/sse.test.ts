import assert from "node:assert/strict";
import { test } from "node:test";
import { EventParser } from "../src/model/sse";

const stream = ": alive\n\nid: 7\nevent: job\ndata: {\"a\":\ndata: 1}\n\ndata:plain\n\nevent: nothing\n\nid: 8\r\nevent: queue\r\ndata: x: y\r\n\r\n";
const events = [
  { id: "7", type: "job", data: "{\"a\":\n1}" },
  { id: "7", type: "message", data: "plain" },
  { id: "8", type: "queue", data: "x: y" },
];

test("events are the same however the text is cut", () => {
  for (let size = 1; size <= stream.length; ++size) {
    const parser = new EventParser();
    const read = [];
    for (let at = 0; at < stream.length; at += size) read.push(...parser.feed(stream.slice(at, at + size)));
    assert.deepEqual(read, events, `in pieces of ${size}`);
  }
});

test("an event that is not finished is not told", () => assert.deepEqual(new EventParser().feed("event: job\ndata: 1\n"), []));
