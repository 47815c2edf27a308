// The page in a real browser, over a gateway that is made up: every page, every action, what goes wrong, names that mean harm, a lost connection,
// ten thousand servers, axe-core on each page in light and dark, a phone's width.
//   node --test tests/page/page_test.mjs     needs: npm ci in page/, Chromium
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { AXE, launch } from "./browser.mjs";
import { HOSTILE_NAME } from "./cluster.mjs";
import { Mock } from "./mock_server.mjs";

const PATIENCE = Number(process.env.PAGE_TEST_PATIENCE ?? 60_000); // ms for what should take none
const PAGES = ["/", "/queue", "/jobs", "/jobs/20", "/jobs/24", "/jobs/15/why", "/jobs/9/performance", "/jobs/15/pressure", "/jobs/15/logs", "/jobs/5/files", "/jobs/15/files", "/servers", "/servers/s1", "/servers?by=rack",
  "/interference?application=key-value&beside=stream", "/applications/stream", "/users", "/settings", "/submit", "/nowhere"];
const axe = readFileSync(AXE, "utf8");

let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

// A page that is signed in, and its mock. What the browser complains of is an error of the page: a broken policy, an exception.
async function opened(t, { options = {}, context = {}, path = "/" } = {}) {
  const mock = await new Mock(options).start();
  const window = await browser.newContext(context);
  t.after(async () => { await window.close(); await mock.stop(); });
  const page = await window.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error" && !/Failed to load resource/.test(message.text())) page.complaints.push(message.text()); });
  page.on("request", (request) => { if (!request.url().startsWith(mock.url)) page.complaints.push(`a request to ${request.url()}`); });
  await page.goto(`${mock.url}${path}#word-of-the-day`);
  await page.waitForSelector("main h1");
  return { mock, page };
}

async function settled(page) {
  await page.waitForFunction(() => !/Loading …/.test(document.body.innerText));
}

test("a word signs in once and leaves the address; the session survives a reload and is ended", async (t) => {
  const { mock, page } = await opened(t, { path: "/queue" });
  assert.equal(page.url(), `${mock.url}/queue`);
  await page.reload();
  await page.waitForSelector("h1:text('Queue')");
  await page.click("text=Sign out");
  await page.waitForSelector("text=tarcil page");
  await page.fill(".signin input", `${mock.url}/#word-of-the-day`);
  await page.click(".signin button");
  await page.waitForSelector("[role=alert]:has-text('was used')");
  mock.words.add("another-word");
  await page.fill(".signin input", `${mock.url}/#another-word`);
  await page.click(".signin button");
  await page.waitForSelector("h1:text('Queue')");
  assert.deepEqual(page.complaints, []);
});

test("a stranger is told how to get in", async (t) => {
  const mock = await new Mock().start();
  const window = await browser.newContext();
  t.after(async () => { await window.close(); await mock.stop(); });
  const page = await window.newPage();
  await page.goto(`${mock.url}/jobs`, { timeout: PATIENCE });
  await page.waitForSelector("code:text('tarcil page')", { timeout: PATIENCE });
});

test("a session that ends leads to the sign-in", async (t) => {
  const { mock, page } = await opened(t);
  await settled(page);
  mock.sessions.clear();
  for (const stream of mock.streams) stream.destroy();
  await page.waitForSelector("text=Your session has ended");
});

test("the colours that were chosen are there before anything is painted", async (t) => {
  const { mock, page } = await opened(t, { context: { colorScheme: "light" } });
  await page.selectOption(".scheme select", "dark");
  const dark = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.route("**/assets/main-*.js", (route) => route.abort());
  await page.goto(mock.url);
  assert.equal(await page.evaluate(() => document.querySelector("#page").childElementCount), 0, "the page itself is not there");
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), dark);
  assert.deepEqual(page.complaints, []);
});

for (const scheme of ["light", "dark"]) {
  test(`every page is without faults and passes axe-core, ${scheme}`, async (t) => {
    const { mock, page } = await opened(t, { context: { colorScheme: scheme } });
    const faults = [];
    for (const path of PAGES) {
      await page.goto(mock.url + path);
      await page.waitForSelector("main h1");
      await settled(page);
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
      faults.push(...violations.map((each) => `${path}: ${each.id}: ${each.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`));
    }
    assert.deepEqual(faults, []);
    assert.deepEqual(page.complaints, []);
  });
}

test("no page is wider than a phone", async (t) => {
  const { mock, page } = await opened(t, { context: { viewport: { width: 390, height: 800 } } });
  const wide = [];
  for (const path of PAGES) {
    await page.goto(mock.url + path);
    await page.waitForSelector("main h1");
    await settled(page);
    if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)) wide.push(path);
  }
  assert.deepEqual(wide, []);
});

test("the overview says who hurts whom, why jobs wait and what to do", async (t) => {
  const { page } = await opened(t);
  await page.waitForSelector("a:has-text('model-train hurts key-value')");
  const text = await page.innerText("main");
  assert.match(text, /measured: key-value reaches 85 % of what is expected/);
  assert.match(text, /What to do: tarcil keeps them apart where other slots are free\. If they still meet: give the one that suffers quality\.max_wait/);
  assert.match(text, /waiting for 10 slots at once/);
  assert.match(text, /A gang starts when all its tasks fit at once/);
  assert.match(text, /Tasks at or above target/);
});

test("names are text wherever they are shown", async (t) => {
  const { mock, page } = await opened(t);
  for (const path of ["/", "/queue", "/jobs", "/jobs/24"]) {
    await page.goto(mock.url + path);
    await page.waitForFunction((name) => document.body.innerText.includes(name), HOSTILE_NAME);
  }
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("main img").count(), 0);
});

test("events change what is shown, without a reload", async (t) => {
  const { mock, page } = await opened(t, { path: "/jobs" });
  await settled(page);
  const job = mock.cluster.job("20");
  Object.assign(job, { state: "failed", reason: "1 of 1 tasks failed; first: task 0 exited with code 9", finished: Date.now() });
  mock.changed(job);
  await page.waitForSelector(".row:has-text('exited with code 9')");
  mock.submit("name: brand-new\n", false);
  await page.waitForSelector(".row:has-text('brand-new')");
});

test("jobs are cancelled only after a question; held, released, run again, given a priority", async (t) => {
  const { mock, page } = await opened(t, { path: "/jobs/15" });
  await page.click("button:text('Hold')");
  await page.waitForSelector("button:text('Release')");
  await page.click("button:text('Release')");
  await page.waitForSelector("button:text('Hold')");
  await page.fill("input[type=number]", "80");
  await page.click("button:text('Set')");
  await page.waitForSelector(".notice:has-text('Priority of job 15 is 80')");
  await page.click("main .heading button:text('Cancel job')");
  await page.click("dialog[open] button:text('Leave it')");
  assert.deepEqual(mock.posts.filter((post) => post.path.endsWith("cancel")), []);
  await page.click("main .heading button:text('Cancel job')");
  await page.click("dialog[open] button.grave");
  await page.waitForSelector(".heading .state:has-text('cancelled')");
  await page.click("button:text('Run again')");
  await page.waitForSelector(".heading .state:has-text('queued')");
  assert.deepEqual(mock.posts.map((post) => post.path.split("/").pop()), ["session", "hold", "release", "priority", "cancel", "rerun"]);
  assert.deepEqual(JSON.parse(mock.posts[3].body), { priority: 80 });
});

test("operators cordon, uncordon and drain; others see no such buttons", async (t) => {
  const { page } = await opened(t, { path: "/servers/s1" });
  await page.click("button:text('Cordon')");
  await page.click("button:text('Uncordon')");
  await page.click("main .heading button:text('Drain')");
  await page.click("dialog[open] button.grave");
  await page.waitForSelector(".heading .state:has-text('draining')");
  const other = await opened(t, { path: "/servers/s1", options: { role: "submit" } });
  await settled(other.page);
  assert.equal(await other.page.locator("button:text('Drain')").count(), 0);
});

test("what goes wrong is said, in the gateway's words", async (t) => {
  const { mock, page } = await opened(t, { path: "/jobs/15" });
  mock.failing.set(`/jobs/${mock.cluster.job("15").id}/hold`, [409, "conflict", "job 15 is over"]);
  await page.click("button:text('Hold')");
  await page.waitForSelector(".notice.bad:has-text('job 15 is over')");
  await page.goto(`${mock.url}/jobs/4711`);
  await page.waitForSelector("[role=alert]:has-text(\"there is no job '4711'\")");
  mock.failing.set("/users", [503, "unavailable", "the cluster does not answer"]);
  await page.goto(`${mock.url}/users`);
  await page.waitForSelector("[role=alert]:has-text('the cluster does not answer')");
  mock.failing.clear();
  await page.waitForSelector("td:has-text('carol')");
});

test("errors of a job file stand at their lines; a right one is planned and submitted", async (t) => {
  const { mock, page } = await opened(t, { path: "/submit" });
  await page.fill("textarea", "name: mine\ncommand: [date]\ntasks: 0\ntsaks: 1\n");
  await page.click("button:text('Plan it')");
  await page.waitForSelector(".problems li:has-text('write a whole number from 1')");
  assert.deepEqual((await page.locator(".gutter .wrong").allInnerTexts()).map((text) => text.replace(/\D/g, "")), ["3", "4"]);
  await page.click("button:text('line 4')");
  assert.equal(await page.evaluate(() => { const area = document.querySelector("textarea"); return area.value.slice(area.selectionStart, area.selectionEnd); }), "tsaks: 1");
  await page.fill("textarea", "name: mine\ncommand: [date]\ntasks: 6\n");
  await page.click("button:text('Plan it')");
  await page.waitForSelector("text=4 of 6 tasks would start at once");
  await page.waitForSelector("text=LLC 30 → 4");
  await page.click("button:text('Submit held')");
  await page.waitForSelector("h1:has-text('mine')");
  assert.ok(mock.cluster.jobs[mock.cluster.jobs.length - 1].held);
});

test("settings say what another setting would draw", async (t) => {
  const { page } = await opened(t, { path: "/settings" });
  await page.selectOption("label:has-text('Confidence') select", "0.95");
  await page.selectOption("label:has-text('Rarity') select", "0.1");
  await page.waitForSelector("[role=status]:has-text('would draw at most 29 slots, not 135')");
  await page.waitForSelector("code:has-text('tarcil tune --rarity 0.1 --confidence 0.95')");
});

const outcome = (quality, wait) => ({ jobs: 420, utilisation: 0.61, response_ms: { mean: 9_000 }, performance: { mean: 0.8, p5: 0.5, p1: 0.4, at_least_95: 0.7 },
  quality: { mean: quality, p5: 0.7, p1: 0.6 }, wait_ms: { mean: wait, p95: 4 * wait } });

test("an operator replays the last day under another setting, sees how far it is, cancels it, and what would change", async (t) => {
  const { mock, page } = await opened(t, { path: "/settings" });
  await page.waitForSelector("button:text('Replay the last day'):disabled");
  await page.fill("label:has-text('Target') input", "0.8");
  await page.click("button:text('Replay the last day')");
  await page.waitForSelector("[role=status]:has-text('Replaying with target 0.8, begun by alice')");
  assert.deepEqual(JSON.parse(mock.posts.at(-1).body), { target: 0.8 });
  mock.replayed({ progress: "changed: tarcil: 0 of 1 run done; one that goes on has 34 % of its jobs, 1000 events" });
  await page.waitForSelector("[role=status]:has-text('Second of two runs, with what is to be otherwise: 0 of 1 run done; one that goes on has 34 %')");
  await page.click("button:text('Cancel the replay')");
  await page.waitForSelector("[role=status]:has-text('was cancelled')");
  await page.click("button:text('Replay the last day')");
  mock.replayed({ state: "done", ended: new Date().toISOString(), result: { recorded: outcome(0.9, 2_000), as_it_is: outcome(0.91, 1_000), changed: outcome(0.84, 500) } });
  const speed = await page.innerText("tr:has-text('Speed of tasks')");
  assert.match(speed.replace(/\s+/g, " "), /90 % 91 % 84 % worse/);
  assert.match((await page.innerText("tr:has-text('Wait of tasks: mean')")).replace(/\s+/g, " "), /2,000 ms 1,000 ms 500 ms better/);
  await page.waitForSelector("code:has-text('tarcil tune --target 0.8')");
  await page.selectOption("label:has-text('Ranking') select", "worth");
  await page.selectOption("label:has-text('Contention') select", "slowdowns");
  await page.click("button:text('Replay the last day')");
  await page.waitForSelector("[role=status]:has-text('Replaying with target 0.8, ranking worth, contention slowdowns')");
  assert.deepEqual(JSON.parse(mock.posts.at(-1).body), { target: 0.8, ranking: "worth", contention: "slowdowns" });
  mock.replayed({ state: "failed", result: null, problem: "took longer than 10m" });
  await page.waitForSelector("[role=status]:has-text('failed: took longer than 10m')");
  assert.deepEqual(page.complaints, []);
});

test("where nothing is recorded the page says how, and those who are no operators are not shown it", async (t) => {
  const { mock, page } = await opened(t, { path: "/" });
  mock.recording = null;
  await page.click("nav a:text('Settings')");
  await page.waitForSelector("code:has-text('--recordings FOLDER')");
  const other = await opened(t, { path: "/settings", options: { role: "submit" } });
  await other.page.waitForSelector("h2:text('What would change')");
  assert.equal(await other.page.locator("h2:has-text('last day')").count(), 0);
});

test("why here: candidates, what was turned down, and a plan with a change", async (t) => {
  const { mock, page } = await opened(t, { path: "/jobs/15/why" });
  await page.waitForSelector("text=a task already there could not bear it on last-level cache");
  await page.click("button:text('Change and plan')");
  await page.click("button:text('half the tasks')");
  await page.click("button:text('Plan it')");
  await page.waitForSelector("text=would start at once");
  assert.match(mock.posts.find((post) => post.path === "/plan").body, /^tasks: 1$/m);
});

test("performance over time shows what was measured before the page was opened, and each step", async (t) => {
  const { page } = await opened(t, { path: "/jobs/9/performance" });
  await page.waitForSelector(".uplot canvas");
  const text = await page.innerText("main");
  assert.match(text, /it reaches 85 % of what is expected/);
  assert.match(text, /throttled task 0 of model-train-15/);
});

test("files that are kept are listed and saved, whatever they are called", async (t) => {
  const { page } = await opened(t, { path: "/jobs/5/files" });
  await page.waitForSelector("td:has-text('report <b>bold</b>.txt')");
  const saved = async (file) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`tr:has-text('${file}') button`)]);
    return [download.suggestedFilename(), readFileSync(await download.path())];
  };
  const [name, model] = await saved("out/model.bin");
  assert.equal(name, "model.bin");
  assert.ok(model.equals(Buffer.alloc(2_500_000, "tarcil ")), "all of its pieces, in order");
  assert.equal((await saved("report"))[1].toString(), "fine\n");
  await page.goto(page.url().replace("/5/", "/6/"));
  await page.waitForSelector("text=The job keeps no files");
});

test("a log is followed, and its escapes and tags are text without effect", async (t) => {
  const { mock, page } = await opened(t, { path: "/jobs/15/logs" });
  await page.waitForSelector("pre:has-text('<b>not bold</b>')");
  assert.ok(!(await page.innerText("pre")).includes("\u001b"));
  mock.log.write(`event: output\ndata: ${JSON.stringify({ offset: 50, text: "pass 2\n" })}\n\n`);
  await page.waitForSelector("pre:has-text('pass 2')");
  mock.log.write("event: ended\ndata: {}\n\n");
  await page.waitForSelector("text=This is all.");
});

test("a lost connection is said; on its return what came between is shown, behind the last event", async (t) => {
  const { mock, page } = await opened(t, { path: "/jobs" });
  await settled(page);
  mock.submit("name: before\n", false);
  await page.waitForSelector(".row:has-text('before')");
  mock.down(true);
  await page.waitForSelector(".connection:has-text('The connection is lost')");
  assert.ok(await page.isVisible(".row:has-text('before')"));
  mock.submit("name: meanwhile\n", false);
  mock.down(false);
  await page.click("button:text('Try now')");
  await page.waitForSelector(".row:has-text('meanwhile')");
  await page.waitForSelector(".connection.lost", { state: "detached" });
  assert.match(mock.lastEventIds.pop(), /^mock-\d+$/);
});

test("pictures are read by keyboard", async (t) => {
  const { page } = await opened(t, { path: "/servers" });
  await settled(page);
  await page.focus("canvas");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  for (let i = 0; i < 5; ++i) await page.keyboard.press("ArrowDown");
  await page.waitForSelector(".readout:has-text('memory bandwidth −50: some task has 50 more than it tolerates')");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/servers\/s\d$/);
});

test("keys lead to pages and to the search, unless they are off", async (t) => {
  const { page } = await opened(t);
  await page.keyboard.press("g");
  await page.keyboard.press("q");
  await page.waitForSelector("h1:text('Queue')");
  await page.keyboard.press("/");
  await page.keyboard.type("graph");
  await page.waitForSelector("[role=option]:has-text('graph-search')");
  await page.keyboard.press("Enter");
  await page.waitForSelector("h1:has-text('graph-search')");
  await page.keyboard.press("?");
  await page.uncheck("dialog[open] input[type=checkbox]");
  await page.click("dialog[open] button:text('Close')");
  await page.keyboard.press("g");
  await page.keyboard.press("q");
  assert.match(page.url(), /graph-search/);
});

test("filters are in the address and survive a reload", async (t) => {
  const { page } = await opened(t, { path: "/jobs" });
  await page.selectOption("main select", "queued");
  await page.waitForURL(/state=queued/);
  await page.reload();
  await settled(page);
  const states = await page.locator(".row:not(.head) .state").allInnerTexts();
  assert.ok(states.length > 0 && states.every((state) => state.includes("queued")), states.join());
});

test("servers are filtered by bucket, and shown by it", async (t) => {
  const { mock, page } = await opened(t, { options: { servers: 40, jobs: 60 }, path: "/servers" });
  await page.waitForSelector(".heading:has-text('40 servers')");
  const bucket = mock.cluster.bucketOf(mock.cluster.servers[0]);
  const alike = mock.cluster.servers.filter((server) => mock.cluster.bucketOf(server) === bucket).length;
  await page.selectOption("label:has-text('Bucket') select", bucket);
  await page.waitForURL(new RegExp(`bucket=${bucket}`));
  await page.waitForSelector(`.heading .beside:text-is("${alike} ${alike === 1 ? "server" : "servers"}")`);
  await page.click("button:text('Show all')");
  await page.selectOption("label:has-text('Show by') select", "bucket");
  await page.waitForSelector(`.row a:text-is("${bucket}")`);
  assert.deepEqual(page.complaints, []);
});

test("ten thousand servers and a hundred thousand jobs are read with few elements", async (t) => {
  const { page, mock } = await opened(t, { options: { servers: 10_000, jobs: 100_000 }, path: "/servers" });
  await page.waitForSelector("canvas");
  await page.waitForSelector(".heading:has-text('10,000 servers')");
  assert.ok((await page.locator("main *").count()) < 3_000);
  await page.focus("canvas");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector(".readout:has-text('servers, the least on')");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /^\d\d? servers$/m.test(document.querySelector(".heading").innerText));
  await page.goto(`${mock.url}/jobs`);
  await page.waitForSelector(".row:not(.head)");
  for (let i = 0; i < 4; ++i) {
    const rows = Number(await page.getAttribute(".grid", "aria-rowcount"));
    await page.evaluate(() => { const list = document.querySelector(".long"); list.scrollTop = list.scrollHeight; });
    await page.waitForFunction((n) => Number(document.querySelector(".grid").getAttribute("aria-rowcount")) > n, rows);
  }
  assert.ok((await page.locator(".row").count()) < 100);
});
