// How soon is the page there, and how soon does it show what happens? First paint, time to interactive (the overview answers a click), size, and the time
// from a job's being submitted to its being in the list of jobs while others flow: of a gateway that is made up (tests/page), or, with --tarcil, of a
// cluster of emulated servers that is started for it. From when it was sent, and from when the answer was there.
//   node bench/page.mjs [--tarcil build/release/tarcil] [--servers 6] [--jobs 24] [--rate 500] [--seconds 10]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { loadavg } from "node:os";
import { join } from "node:path";
import { launch } from "../tests/page/browser.mjs";
import { Mock } from "../tests/page/mock_server.mjs";

const text = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? null : process.argv[at + 1];
};
const option = (name, otherwise) => Number(text(name) ?? otherwise);
const [tarcil, servers, jobs, rate, seconds] = [text("tarcil"), option("servers", 6), option("jobs", 24), option("rate", 500), option("seconds", 10)];
const RUNS = 5, PROBES = 40, TICK = 20, UNDER_WAY = 64; // submissions at once; what does not keep up is not made up for
const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))];
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Both give: the address, words, `flow` (so many jobs at once; how many have flowed), and `probe` (submits a job of that name).
class MadeUp {
  async start() {
    this.mock = await new Mock({ servers, jobs }).start();
    this.url = this.mock.url;
    this.flowed = 0;
  }
  async word() {
    this.mock.words.add("word-of-the-day");
    return "word-of-the-day";
  }
  flow(count) {
    for (let i = 0; i < count; ++i, ++this.flowed) this.mock.emit("job", this.mock.cluster.summary(this.mock.cluster.jobs[this.flowed % this.mock.cluster.jobs.length]));
  }
  async probe(name) {
    this.mock.submit(`name: ${name}\n`, false);
  }
  stop() { return this.mock.stop(); }
}

class Emulated {
  async start() {
    this.folder = mkdtempSync("/var/tmp/tarcil-page.");
    writeFileSync(join(this.folder, "servers.yaml"), `servers: [{name: "s{n}", count: ${servers}, rus: 8}]\n`);
    const up = execFileSync(tarcil, ["up", "--detach", "--json", "--data", join(this.folder, "data"), "--emulate", join(this.folder, "servers.yaml")]);
    this.url = new URL(JSON.parse(up).page).origin;
    this.token = readFileSync(join(this.folder, "data/tokens/operate.token"), "utf8").trim();
    this.agent = new Agent({ keepAlive: true, maxSockets: 16 });
    this.ownAgent = new Agent({ keepAlive: true }); // a probe waits behind none of the others
    this.flowed = this.underWay = 0;
  }
  post(path, body, agent = this.ownAgent) {
    return new Promise((done, fail) => {
      const asked = request(`${this.url}/api/v1${path}`, { method: "POST", agent, headers: { Authorization: `Bearer ${this.token}`, "X-Tarcil": "1" } }, (answer) => {
        let all = "";
        answer.on("data", (part) => (all += part)).on("end", () => (answer.statusCode === 200 ? done(JSON.parse(all)) : fail(new Error(`${path}: ${answer.statusCode} ${all}`))));
      });
      asked.on("error", fail).end(body);
    });
  }
  async word() { return (await this.post("/word")).word; }
  flow(count) {
    for (let i = 0; i < count && this.underWay < UNDER_WAY; ++i, ++this.underWay) {
      void this.post("/jobs", "name: bench\ncommand: [sleep, 20ms]\n", this.agent).then(() => { ++this.flowed; --this.underWay; });
    }
  }
  async probe(name) {
    await this.post("/jobs", `name: ${name}\ncommand: [sleep, 20ms]\n`);
  }
  stop() {
    this.agent.destroy();
    this.ownAgent.destroy();
    execFileSync(tarcil, ["down", "--data", join(this.folder, "data")]);
    rmSync(this.folder, { recursive: true });
  }
}

const gateway = tarcil === null ? new MadeUp() : new Emulated();
await gateway.start();
const browser = await launch();
const opened = async (path) => {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(180_000);
  await page.goto(`${gateway.url}${path}#${await gateway.word()}`);
  return page;
};
try {
  const paints = [], ready = [], sinceSent = [], sinceAnswered = [];
  let bytes = 0;
  for (let run = 0; run < RUNS; ++run) {
    const began = Date.now();
    const page = await opened("/");
    await page.waitForSelector("main h1");
    await page.click("nav a:has-text('Queue')");
    await page.waitForSelector("h1:text('Queue')");
    ready.push(Date.now() - began);
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    bytes = await page.evaluate(() => performance.getEntriesByType("resource").filter((each) => each.name.includes("/assets/")).reduce((sum, each) => sum + each.decodedBodySize, 0));
    await page.context().close();
  }

  // The list has what is asked for alone, or hundreds of jobs a second would push the probe out of sight; the page is told of all.
  const page = await opened("/jobs?name=probe");
  await page.waitForSelector("h1:text('Jobs')");
  const began = Date.now();
  let due = 0;
  const flow = setInterval(() => {
    const now = Math.floor((rate * (Date.now() - began)) / 1000);
    gateway.flow(now - due);
    due = now;
  }, TICK);
  await pause(1000);
  for (let probe = 0; probe < PROBES; ++probe) {
    const name = `probe-${probe}.`;
    const shown = page.evaluate((wanted) => new Promise((done) => {
      const look = () => (document.querySelector("main").textContent.includes(wanted) ? done(Date.now()) : requestAnimationFrame(look));
      look();
    }), name);
    await pause((1000 * seconds) / PROBES);
    const sent = Date.now();
    const [seen, answered] = await Promise.all([shown, gateway.probe(name).then(() => Date.now())]);
    sinceSent.push(seen - sent);
    sinceAnswered.push(Math.max(0, seen - answered));
  }
  clearInterval(flow);
  const took = (Date.now() - began) / 1000;
  console.log(JSON.stringify({
    conditions: { gateway: tarcil === null ? "made up" : "emulated cluster", servers, runs: RUNS, probes: PROBES, jobs_per_second: Math.round(gateway.flowed / took), load: loadavg()[0].toFixed(1) },
    first_paint_ms: { p50: Math.round(quantile(paints, 0.5)), max: Math.round(Math.max(...paints)) },
    interactive_ms: { p50: quantile(ready, 0.5), max: Math.max(...ready) },
    sent_to_page_ms: { p50: quantile(sinceSent, 0.5), p95: quantile(sinceSent, 0.95) },
    answer_to_page_ms: { p50: quantile(sinceAnswered, 0.5), p95: quantile(sinceAnswered, 0.95) },
    asset_bytes: bytes,
  }, null, 1));
} finally {
  await browser.close();
  await gateway.stop();
}
