// How soon is the page there, and how soon does it show what happens? First paint, time to interactive (the overview answers a click), size, and the time
// from an event's leaving a gateway (made up: tests/page) to its being in the list of jobs while events flow.
//   node bench/page.mjs [--servers 6] [--jobs 24] [--rate 500] [--seconds 5]
import { loadavg } from "node:os";
import { launch } from "../tests/page/browser.mjs";
import { Mock } from "../tests/page/mock_server.mjs";

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const [servers, jobs, rate, seconds] = [option("servers", 6), option("jobs", 24), option("rate", 500), option("seconds", 5)];
const RUNS = 5, PROBES = 20;
const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))];

const mock = await new Mock({ servers, jobs }).start();
const browser = await launch();
const paints = [], ready = [], seen = [];
let bytes = 0;
for (let run = 0; run < RUNS; ++run) {
  mock.words.add("word-of-the-day");
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(180_000);
  const began = Date.now();
  await page.goto(`${mock.url}/#word-of-the-day`);
  await page.waitForSelector("main h1");
  await page.click("nav a:has-text('Queue')");
  await page.waitForSelector("h1:text('Queue')");
  ready.push(Date.now() - began);
  paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
  bytes = await page.evaluate(() => performance.getEntriesByType("resource").filter((each) => each.name.includes("/assets/")).reduce((sum, each) => sum + each.decodedBodySize, 0));
  await page.context().close();
}

mock.words.add("word-of-the-day");
const page = await (await browser.newContext()).newPage();
page.setDefaultTimeout(180_000);
await page.goto(`${mock.url}/jobs#word-of-the-day`);
await page.waitForSelector(".row:not(.head)");
const flow = setInterval(() => { for (let i = 0; i < rate / 50; ++i) mock.emit("job", mock.cluster.summary(mock.cluster.jobs[i % mock.cluster.jobs.length])); }, 20);
const last = mock.cluster.jobs[mock.cluster.jobs.length - 1];
for (let probe = 0; probe < PROBES; ++probe) {
  const reason = `probe ${probe}`;
  const shown = page.evaluate((text) => new Promise((done) => {
    const look = () => (document.querySelector(".body").textContent.includes(text) ? done(Date.now()) : requestAnimationFrame(look));
    look();
  }), reason);
  await new Promise((done) => setTimeout(done, (1000 * seconds) / PROBES));
  const sent = Date.now();
  last.reason = reason;
  mock.emit("job", mock.cluster.summary(last));
  seen.push((await shown) - sent);
}
clearInterval(flow);
console.log(JSON.stringify({
  conditions: { servers, jobs, events_per_second: rate, runs: RUNS, load: loadavg()[0].toFixed(1) },
  first_paint_ms: { p50: Math.round(quantile(paints, 0.5)), max: Math.round(Math.max(...paints)) },
  interactive_ms: { p50: quantile(ready, 0.5), max: Math.max(...ready) },
  event_to_page_ms: { p50: quantile(seen, 0.5), p95: quantile(seen, 0.95) },
  asset_bytes: bytes,
}, null, 1));
await browser.close();
await mock.stop();
