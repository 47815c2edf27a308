// Pictures of the page for the documents, of the cluster that is made up: docs/figures/page-*.png.
//   node tests/page/screenshots.mjs [FOLDER]
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./browser.mjs";
import { HOSTILE_NAME } from "./cluster.mjs";
import { Mock } from "./mock_server.mjs";

const folder = process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), "../../docs/figures");
const PICTURES = [
  ["page-overview", {}, "/", "light", 820],
  ["page-dark", {}, "/", "dark", 820],
  ["page-interference", {}, "/interference?application=key-value&beside=model-train", "light", 700],
  ["page-why", {}, "/jobs/15/why", "light", 640],
  ["page-performance", {}, "/jobs/9/performance", "light", 620],
  ["page-queue", {}, "/queue", "light", 480],
  ["page-servers", { servers: 10_000, jobs: 100_000 }, "/servers", "light", 640],
];

const browser = await launch();
try {
  for (const [name, options, path, colorScheme, height] of PICTURES) {
    const mock = await new Mock(options).start();
    for (const job of mock.cluster.jobs) if (job.name === HOSTILE_NAME) job.name = "nightly-report";
    const page = await browser.newPage({ viewport: { width: 1160, height }, colorScheme });
    page.setDefaultTimeout(180_000);
    await page.goto(`${mock.url}${path}#word-of-the-day`);
    await page.waitForSelector("main h1");
    await page.waitForFunction(() => !/Loading …/.test(document.body.innerText) && document.querySelector(".problem") === null);
    if (options.servers !== undefined) await page.waitForSelector(".heading:has-text('10,000 servers')");
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await page.close();
    await mock.stop();
  }
} finally {
  await browser.close();
}
