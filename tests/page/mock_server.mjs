// A gateway over a cluster that is made up: serves the page as it is built and the answers of cluster.mjs, under the headers that docs/http.md
// promises. Tests make things go wrong through it.
//   node tests/page/mock_server.mjs [--servers N] [--jobs N] [--port N]
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { Cluster } from "./cluster.mjs";

const DIST = join(dirname(fileURLToPath(import.meta.url)), "../../page/dist");
const TYPES = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const SAFE = {
  "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};
const TABLE = (ps, tasks, confidence) => ps.flatMap((p) => tasks.map((n) => {
  const samples = Math.ceil((n * Math.log(1 - confidence)) / Math.log(1 - p));
  return { p, tasks: n, ratio: samples / n, samples, guarantee: confidence };
}));

export class Mock {
  constructor(options = {}) {
    this.cluster = new Cluster(options);
    this.words = new Set(["word-of-the-day"]);
    this.sessions = new Set();
    this.role = options.role ?? "operate";
    this.recording = { from: new Date(Date.now() - 86_400_000).toISOString(), until: new Date().toISOString(), bytes: 1_500_000 };
    this.replay = null;
    this.isDown = false;
    this.streams = new Set();
    this.events = [];
    this.posts = [];
    this.asked = [];
    this.sockets = new Set();
    this.lastEventIds = [];
    this.failing = new Map(); // path below /api/v1 -> [status, message]
    this.server = createServer((request, response) => void this.serve(request, response));
    this.server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.on("close", () => this.sockets.delete(socket));
      if (this.isDown) socket.destroy();
    });
  }

  async start(port = 0) {
    await new Promise((done) => this.server.listen(port, "127.0.0.1", done));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  async stop() {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((done) => this.server.close(done));
  }

  // Everybody is cut off and nobody is let in, until it is up again.
  down(is) {
    this.isDown = is;
    if (is) for (const socket of this.sockets) socket.destroy();
  }

  emit(event, data) {
    const id = this.events.length + 1;
    const text = `id: mock-${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    this.events.push(text);
    for (const stream of this.streams) stream.write(text);
  }

  changed(job) {
    this.emit("job", this.cluster.summary(job));
    this.emit("queue", { waiting: this.cluster.waiting().length });
  }

  async serve(request, response) {
    const url = new URL(request.url, this.url);
    if (!url.pathname.startsWith("/api/")) return this.page(url.pathname, response);
    const path = url.pathname.replace("/api/v1", "");
    this.asked.push(path);
    try {
      const body = await new Promise((done) => {
        const parts = [];
        request.on("data", (part) => parts.push(part)).on("end", () => done(Buffer.concat(parts).toString()));
      });
      if (this.failing.has(path)) throw this.failing.get(path);
      if (request.method === "POST") {
        if (request.headers["x-tarcil"] !== "1" || request.headers.origin !== this.url) throw [403, "denied", "a POST from another place"];
        this.posts.push({ path, body });
      }
      if (path === "/session" && request.method === "POST") return this.signIn(JSON.parse(body).word, response);
      const cookie = /tarcil_session=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1];
      if (!this.sessions.has(cookie)) throw [401, "unauthenticated", "no session"];
      if (path === "/session") return this.json(response, this.session());
      if (path === "/session/end") {
        this.sessions.delete(cookie);
        return this.json(response, {}, { "Set-Cookie": "tarcil_session=; Max-Age=0" });
      }
      if (path === "/events") return this.stream(request, response);
      if (path.endsWith("/file")) {
        const piece = this.cluster.piece(url.searchParams.get("path"), Number(url.searchParams.get("offset")));
        return response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Disposition": "attachment" }).end(piece);
      }
      if (path.endsWith("/logs")) return this.logs(response, url.searchParams);
      const answer = request.method === "POST" ? this.act(path, body, url.searchParams) : this.answer(path, Object.fromEntries(url.searchParams));
      if (answer === null) throw [404, "not-found", `there is no ${path.split("/")[1].replace(/s$/, "")} '${decodeURIComponent(path.split("/")[2] ?? "")}'`];
      this.json(response, answer);
    } catch (failure) {
      if (!Array.isArray(failure)) throw failure;
      const [status, code, message, problems] = failure;
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify({ error: { code, message, problems } }));
    }
  }

  session() {
    return { user: "alice", role: this.role, expires: new Date(Date.now() + 43_200_000).toISOString() };
  }

  signIn(word, response) {
    if (!this.words.delete(word)) throw [401, "unauthenticated", "the word is wrong, was used, or is older than five minutes"];
    const id = `session-${this.sessions.size + 1}`;
    this.sessions.add(id);
    this.json(response, this.session(), { "Set-Cookie": `tarcil_session=${id}; HttpOnly; SameSite=Strict; Path=/` });
  }

  json(response, value, headers = {}) {
    response.writeHead(200, { "Content-Type": "application/json", "Tarcil-Age": "0", ...headers }).end(JSON.stringify(value));
  }

  page(path, response) {
    const name = path.startsWith("/assets/") ? normalize(path).slice(1) : "index.html";
    try {
      const content = readFileSync(join(DIST, name));
      const etag = `"${createHash("sha256").update(content).digest("hex").slice(0, 16)}"`;
      response.writeHead(200, { "Content-Type": TYPES[name.split(".").pop()], ETag: etag, ...SAFE }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  }

  stream(request, response) {
    const last = /^mock-(\d+)$/.exec(request.headers["last-event-id"] ?? "");
    this.lastEventIds.push(request.headers["last-event-id"] ?? null);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(": alive\n\n");
    if (last) for (const event of this.events.slice(Number(last[1]))) response.write(event);
    this.streams.add(response);
    const beat = setInterval(() => response.write(": alive\n\n"), 10_000);
    response.on("close", () => {
      clearInterval(beat);
      this.streams.delete(response);
    });
  }

  logs(response, query) {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const text = query.get("stream") === "stderr" ? "" : "\u001b[32mstarting\u001b[0m\npass 1: 1.2 GB/s\n<b>not bold</b>\n";
    if (text !== "" && query.get("offset") === "0") response.write(`event: output\ndata: ${JSON.stringify({ offset: 0, text })}\n\n`);
    this.log = response;
  }

  answer(path, query) {
    const [, kind, name, more] = path.split("/").map(decodeURIComponent);
    const cluster = this.cluster;
    const job = kind === "jobs" && name !== undefined ? cluster.job(name) : null;
    switch (kind) {
      case "status": return cluster.status();
      case "jobs":
        if (name === undefined) return cluster.list({ ...query, limit: Number(query.limit ?? 100) });
        if (job === null) return null;
        if (more === "files") return cluster.files(job, Number(query.first ?? 0));
        return more === "explain" ? cluster.explain(job) : more === "performance" ? cluster.performance(job) : cluster.jobStatus(job);
      case "servers": return name === undefined ? cluster.servers.map((server) => cluster.serverEntry(server)) : cluster.server(name) && cluster.serverDetails(cluster.server(name));
      case "queue": return cluster.queue(Number(query.limit ?? 100));
      case "users": return cluster.usage();
      case "profiles": return name === undefined ? cluster.interference().applications.map((each) => ({ ...cluster.profile(each.name), state: "stored" })) : cluster.profile(name);
      case "settings": return name === "table" ? TABLE(query.p.split(",").map(Number), query.tasks.split(",").map(Number), Number(query.confidence ?? 0.999))
        : { target: 0.95, rarity: 0.05, confidence: 0.999, draws: 135, cap: null, floor: 8, ratio: null, model: "componentwise", contention: "sum", ranking: "quality", margin: 10, noise_floor: 2, protect_neighbours: true, neighbour_floor: 0.5, profile_unknown: false, throttling: "on", version: 1 };
      case "violations": return cluster.violations();
      case "contention": return cluster.contention({ ...query, limit: Number(query.limit ?? 500) });
      case "interference": return cluster.interference();
      case "sharing": return cluster.sharing();
      case "replay":
        if (this.role !== "operate") throw [403, "denied", "a replay has everybody's jobs; ask with a token of role operate"];
        return { recording: this.recording, replay: this.replay };
      default: return null;
    }
  }

  act(path, body, query) {
    const [, kind, name, verb] = path.split("/").map(decodeURIComponent);
    if (kind === "replay") return this.replays(name === "cancel", body);
    if (kind === "plan") return this.checked(body) && this.cluster.plan(body);
    if (kind === "servers") {
      if (this.role !== "operate") throw [403, "denied", "only an operator may do that"];
      const server = this.cluster.server(name);
      server.state = { cordon: "cordoned", uncordon: "up", drain: "draining" }[verb];
      this.emit("server", this.cluster.serverEntry(server));
      return [{ name, state: server.state }];
    }
    if (name === undefined) return this.checked(body) && this.submit(body, query.get("hold") === "true");
    const job = this.cluster.job(name);
    if (job === null) return null;
    if (verb === "cancel") Object.assign(job, { state: "cancelled", finished: Date.now(), reason: "cancelled by alice" });
    if (verb === "hold") Object.assign(job, { held: true, reason: "held by alice" });
    if (verb === "release") Object.assign(job, { held: false, reason: "no free unit: 32 of 32 are taken" });
    if (verb === "rerun") Object.assign(job, { state: "queued", finished: null, reason: "no free unit: 32 of 32 are taken" });
    if (verb === "priority") job.priority = JSON.parse(body).priority;
    this.changed(job);
    return [{ id: job.id, number: job.number, changed: true }];
  }

  // The test says how it goes on.
  replays(isCancel, body) {
    const at = new Date().toISOString();
    if (isCancel) this.replayed({ state: "cancelled", ended: at, problem: "cancelled" });
    else this.replayed({ state: "running", user: "alice", began: at, ended: null, settings: JSON.parse(body), progress: "as_it_is", problem: null, result: null });
    return { recording: this.recording, replay: this.replay };
  }

  replayed(change) {
    this.replay = { ...this.replay, ...change };
    this.emit("replay", this.replay);
  }

  // As a reader of job files would: lines, fields, what to write instead.
  checked(text) {
    const problems = text.split("\n").flatMap((line, i) => (/^tasks:\s*0\b/.test(line) ? [{ line: i + 1, column: 8, field: "tasks", message: "is 0; write a whole number from 1 to 1000000" }]
      : /^tsaks:/.test(line) ? [{ line: i + 1, column: 1, field: "tsaks", message: "is no field of a job file; did you mean tasks?" }] : []));
    if (problems.length > 0) throw [400, "invalid", `job:${problems[0].line}:${problems[0].column}: ${problems[0].field}: ${problems[0].message}`, problems];
    return true;
  }

  submit(text, isHeld) {
    const cluster = this.cluster;
    const number = cluster.jobs[cluster.jobs.length - 1].number + 1;
    const job = { ...cluster.made(number, number, () => 0), name: /^name:\s*([^#\n]*)/m.exec(text)?.[1].trim() ?? "job", submitted: Date.now(), held: isHeld, taskCount: 2,
      reason: isHeld ? "held by alice" : "no free unit: 32 of 32 are taken", state: "queued" };
    cluster.jobs.push(job);
    this.changed(job);
    return { job: job.id, number };
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, otherwise) => {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? otherwise : Number(process.argv[at + 1]);
  };
  const mock = await new Mock({ servers: option("servers", 6), jobs: option("jobs", 24) }).start(option("port", 0));
  console.log(`${mock.url}/#word-of-the-day`);
}
