// Runs the tests of the page's pure functions: bundles each for node, then node's own test runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tarcil-page-tests-"));
try {
  const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts"));
  await build({ absWorkingDir: here, entryPoints: tests, outdir: folder, outExtension: { ".js": ".mjs" }, bundle: true, format: "esm", platform: "node", target: "node18", sourcemap: "inline" });
  const { status } = spawnSync(process.execPath, ["--test", ...tests.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")))], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
