// Builds the page into dist/: the script, one that is run before anything is painted, and the style sheet, each named by the digest of what it holds, and the HTML that names them.
// The same sources and lock file give the same bytes.   node build.mjs [FOLDER]
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "dist"));

const built = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.tsx", "src/scheme.ts", "src/style.css"],
  outdir: "out",
  bundle: true,
  write: false,
  minify: true,
  format: "esm",
  target: ["es2021", "chrome100", "firefox102", "safari15.4"],
  legalComments: "none",
});

rmSync(target, { recursive: true, force: true });
mkdirSync(join(target, "assets"), { recursive: true });
const names = {};
for (const file of built.outputFiles) {
  const [name, ending] = file.path.split("/").pop().split(".");
  const digest = createHash("sha256").update(file.contents).digest("hex").slice(0, 12);
  names[name] = `/assets/${name}-${digest}.${ending}`;
  writeFileSync(join(target, names[name]), file.contents);
}
const html = readFileSync(join(here, "src/index.html"), "utf8").replace("SCHEME", names.scheme).replace("STYLE", names.style).replace("SCRIPT", names.main);
writeFileSync(join(target, "index.html"), html);
writeFileSync(join(target, "assets/icon.svg"), readFileSync(join(here, "src/icon.svg")));
