// A cluster that is made up, for tests of the page: the same for the same numbers. Its answers have the form of docs/http.md, its pressures and
// slacks follow the rules of docs/design.md, so that what the page shows of it can be told beforehand.

export const RESOURCES = ["core", "l1i", "l1d", "l2", "llc", "memory_bandwidth", "memory_capacity", "tlb", "disk_bandwidth", "network_bandwidth"];

const UNITS = 8, SLOTS = 4; // of a server; each slot has two units
const START = Date.UTC(2026, 0, 5, 9, 0, 0);

const filled = (values, otherwise) => Object.fromEntries(RESOURCES.map((resource) => [resource, values[resource] ?? otherwise]));
const application = (name, caused, tolerated) => ({ name, caused: filled(caused, 0), tolerated: filled(tolerated, 99) });

export const APPLICATIONS = [
  application("stream", { core: 8, l1d: 12, l2: 15, llc: 55, memory_bandwidth: 72, tlb: 25 }, { llc: 45, memory_bandwidth: 27, tlb: 70 }),
  application("key-value", { core: 12, l1i: 30, network_bandwidth: 24 }, { llc: 38, memory_bandwidth: 35, l1i: 60, network_bandwidth: 40 }),
  application("gzip-logs", { core: 34, l1d: 30, l2: 22, llc: 8 }, { core: 60, l1d: 55, l2: 60, llc: 75 }),
  application("word-count", { core: 18, disk_bandwidth: 35 }, { disk_bandwidth: 50, memory_bandwidth: 80 }),
  application("graph-search", { llc: 40, memory_bandwidth: 35, tlb: 48 }, { llc: 30, tlb: 45, memory_bandwidth: 45 }),
  application("video-encode", { core: 60, l2: 30, memory_bandwidth: 30 }, { core: 45, l2: 60, memory_bandwidth: 60 }),
  application("web-front", { l1i: 45, network_bandwidth: 30 }, { l1i: 50, llc: 55, network_bandwidth: 50 }),
  application("model-train", { core: 45, memory_bandwidth: 50, memory_capacity: 40 }, { memory_bandwidth: 50, memory_capacity: 60, core: 50 }),
];
export const HOSTILE_NAME = `<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>`;
const PLATFORMS = ["haswell-2.3", "nehalem-2.6", "skylake-3.0"];
const USERS = ["alice", "bob", "carol", "dave"];

// Small whole numbers by chance that is the same each time.
function chance(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const idOf = (number) => (number * 2654435761 % 2 ** 32).toString(16).padStart(8, "0").repeat(4);
const time = (ms) => (ms === null ? null : new Date(ms).toISOString().replace("Z", "000Z"));

export class Cluster {
  constructor({ servers = 6, jobs = 24, now = Date.now() } = {}) {
    this.now = now;
    const random = chance(7);
    this.servers = Array.from({ length: servers }, (_, i) => ({
      name: `s${String(i + 1).padStart(String(servers).length, "0")}`,
      platform: PLATFORMS[Math.floor(i / 4) % PLATFORMS.length],
      rack: `r${Math.floor(i / 40) + 1}`,
      state: i % 97 === 96 ? "down" : "up",
      absent: i % 5 === 3 ? ["l1i", "tlb"] : [],
      tasks: [],
    }));
    this.jobs = [];
    for (let number = 1; number <= jobs; ++number) this.jobs.push(this.made(number, jobs, random));
    this.place(random);
  }

  // Old jobs are over; of the newest some run, some wait, some went wrong.
  made(number, jobs, random) {
    const app = APPLICATIONS[number % APPLICATIONS.length];
    const fromEnd = jobs - number;
    const submitted = this.now - (fromEnd + 1) * Math.min(60_000, 86_400_000 / jobs);
    const running = Math.max(12, Math.floor(this.servers.length * 1.2));
    let state = "done";
    if (fromEnd < 4) state = "queued";
    else if (fromEnd < 4 + running) state = "running";
    else if (number % 11 === 5) state = "failed";
    else if (number % 29 === 7) state = "cancelled";
    const tasks = state === "running" ? 2 : 1 + random(4);
    const job = {
      id: idOf(number), number, application: app, name: `${app.name}-${number}`, user: USERS[number % USERS.length], state, priority: 50, held: false, reason: null,
      submitted, finished: state === "done" || state === "failed" || state === "cancelled" ? submitted + 30_000 : null, taskCount: tasks, places: [],
    };
    if (fromEnd === 0) job.name = HOSTILE_NAME;
    if (state === "queued") job.reason = [
      "no free unit: 32 of 32 are taken",
      "0 of 16 slots sampled suit it: on the rest it would disturb others through llc",
      "waiting for 10 slots at once (gang); 8 are free",
      "held by alice",
    ][fromEnd % 4];
    if (job.reason?.startsWith("held")) job.held = true;
    if (state === "failed") job.reason = `${tasks} of ${tasks} tasks failed; first: task 0 exited with code 3`;
    return job;
  }

  // Tasks of running jobs onto servers; on the first few servers those that hurt each other meet.
  place(random) {
    const up = this.servers.filter((server) => server.state === "up");
    let at = 0;
    for (const job of this.jobs.filter((each) => each.state === "running")) {
      for (let index = 0; index < job.taskCount; ++index) {
        for (let tried = 0; tried < up.length; ++tried, ++at) {
          const server = up[at % up.length];
          if (server.tasks.length >= SLOTS - 1) continue;
          const hurts = server.tasks.some((task) => this.slackBeside(task.job.application, job.application).slack < 0 || this.slackBeside(job.application, task.job.application).slack < 0);
          if (hurts && at % up.length > 2 + up.length / 50) continue;
          server.tasks.push({ job, index, unit: server.tasks.length * 2 });
          job.places.push({ index, server });
          ++at;
          break;
        }
      }
      if (random(3) === 0) ++at;
    }
  }

  slackBeside(a, b) {
    let least = { slack: 99, resource: "core" };
    for (const resource of RESOURCES) {
      const slack = a.tolerated[resource] - b.caused[resource];
      if (slack < least.slack) least = { slack, resource };
    }
    return least;
  }

  contentionOf(server, without = null) {
    const sum = filled({}, 0);
    for (const task of server.tasks) if (task !== without) for (const resource of RESOURCES) sum[resource] += task.job.application.caused[resource];
    for (const resource of RESOURCES) sum[resource] = Math.min(99, sum[resource]);
    return sum;
  }

  slackOf(server) {
    const slack = filled({}, null);
    for (const task of server.tasks) {
      const others = this.contentionOf(server, task);
      for (const resource of RESOURCES) {
        const tolerated = task.job.application.tolerated[resource];
        if (tolerated >= 99) continue;
        slack[resource] = Math.min(slack[resource] ?? 99, tolerated - others[resource]);
      }
    }
    return slack;
  }

  // --- Answers ---

  status() {
    const states = {}, jobs = {}, bad = {};
    for (const server of this.servers) states[server.state] = (states[server.state] ?? 0) + 1;
    for (const job of this.jobs) {
      const into = job.state === "failed" || job.state === "lost" ? bad : job.state === "queued" || job.state === "running" ? jobs : null;
      if (into) into[job.state] = (into[job.state] ?? 0) + 1;
    }
    const units = this.servers.length * UNITS;
    const used = this.servers.reduce((sum, server) => sum + server.tasks.length * 2, 0);
    return { servers: states, units, free_units: units - used, agents: { attached: 2 }, waiting: this.waiting().length, warning: null, jobs, ended_badly: bad };
  }

  waiting() {
    return this.jobs.filter((job) => job.state === "queued" && !job.held).sort((a, b) => b.priority - a.priority || a.number - b.number);
  }

  summary(job) {
    const n = job.taskCount;
    const queued = job.state === "queued" ? n : 0, active = job.state === "running" ? n : 0;
    const succeeded = job.state === "done" ? n : 0, failed = job.state === "failed" ? n : 0;
    return { id: job.id, number: job.number, name: job.name, user: job.user, late_binding: false, state: job.state, reason: job.reason, tasks: n, queued, active, succeeded, failed,
      submitted: time(job.submitted), finished: time(job.finished) };
  }

  list({ state = "", user = "", name = "", limit = 100, after = null }) {
    const found = [];
    const states = state === "" ? null : state.split(",");
    const last = after === null ? Infinity : this.job(after).number;
    for (let i = this.jobs.length - 1; i >= 0 && found.length < limit; --i) {
      const job = this.jobs[i];
      if (job.number >= last || (states && !states.includes(job.state)) || (user !== "" && job.user !== user) || (name !== "" && !job.name.includes(name))) continue;
      found.push(this.summary(job));
    }
    return found;
  }

  job(name) {
    return this.jobs[Number(name) - 1] ?? this.jobs.find((job) => job.id === name) ?? null; // numbers go from 1 without a gap
  }

  jobStatus(job) {
    const placed = new Map(job.places.map((place) => [place.index, place]));
    const started = job.submitted + 1000;
    const tasks = Array.from({ length: job.taskCount }, (_, index) => {
      const place = placed.get(index);
      const over = job.finished !== null;
      return {
        index, state: job.state, server: place?.server.name ?? null, rus: place ? [0, 1] : [], extras: {}, q: place ? 0.91 : null, s: place ? 1 : null,
        exit_code: job.state === "done" ? 0 : job.state === "failed" ? 3 : null, signal: null, oom_killed: false, problem: null, submitted: time(job.submitted),
        started: job.state === "queued" ? null : time(started), finished: time(job.finished), peak_memory_bytes: over ? 52_428_800 : null, cpu_seconds: over ? 20.5 : null,
        attempt: 0, previous: null, earlier: [], item: null, charged: place ? job.application.caused : null, measured: place && index % 2 === 0 ? ["llc"] : [],
      };
    });
    return { id: job.id, number: job.number, name: job.name, user: job.user, state: job.state, reason: job.reason, ahead: Math.max(0, this.waiting().indexOf(job)),
      expected_start: this.expectedStart(job), after: [], submitted: time(job.submitted), profile_replaced: null, finished: time(job.finished), cron: null, planned: null,
      tasks, task_count: tasks.length, next: null };
  }

  expectedStart(job) {
    return job.state === "queued" && !job.held && job.number % 2 === 0 ? time(this.now + 180_000) : null;
  }

  candidate(server, q, s, after) {
    return { server: server.name, rus: [0, 1], contention: this.contentionOf(server), u_h: 0.9, q, s, platform: server.platform, platform_factor: 1, slack: this.slackOf(server), after };
  }

  explain(job) {
    const isPlaced = job.places.length > 0;
    const near = this.servers.slice(job.number % Math.max(1, this.servers.length - 4)).slice(0, 4);
    const decision = Array.from({ length: job.taskCount }, (_, task) => {
      const place = job.places.find((each) => each.index === task);
      const servers = place ? [place.server, ...near.filter((server) => server !== place.server)].slice(0, 5) : near;
      return {
        task, decision: 0, p: isPlaced ? 0.25 : 0, ratio: 8, drawn: 16, limit: 135, guarantee: 0.999,
        dropped: isPlaced ? { quality: 6, "neighbour:llc": 5, taken: 1 } : { "neighbour:llc": 11, quality: 5 },
        best: servers.map((server, i) => this.candidate(server, 0.91 - 0.11 * i, isPlaced ? 1 - 0.08 * i : 0.7 - 0.1 * i, ["first", "q", "performance", "standing", "chance"][i])),
        seed: 42, charged: place ? job.application.caused : null, measured: place && task % 2 === 0 ? ["llc"] : [], previous: null,
        chosen: place ? { server: place.server.name, rus: [0, 1], q: 0.91, s: 1 } : null,
      };
    });
    const troubles = this.violations().filter((violation) => violation.number === job.number);
    const steps = troubles.flatMap((violation, i) => [
      { at: time(this.now - 60_000 + i), task: violation.task, step: `no new tasks on ${violation.server}: it performs at 71% of what is expected; likely cause: neighbour ${violation.causes[0].neighbour} on ${violation.causes[0].resource}` },
      { at: time(this.now - 20_000 + i), task: violation.task, step: `throttled ${violation.causes[0].neighbour} to 80% of its cores' time` },
    ]);
    return { id: job.id, number: job.number, state: job.state, reason: job.reason, profile_assumed: false, profile_replaced: null, declared: job.application.caused, decision, troubles, steps };
  }

  // As a gateway remembers it that listens since an hour.
  performance(job) {
    const tasks = this.violations().filter((violation) => violation.number === job.number).map((violation) => {
      const part = violation.measured / violation.expected;
      return { task: violation.task, measures: [[300, part + 0.05], [270, 1], [90, part - 0.2], [60, part - 0.1], [20, part]].map(([ago, value]) => ({ at: time(this.now - 1000 * ago), part: value })) };
    });
    return { id: job.id, since: time(this.now - 3_600_000), tasks };
  }

  files(job, first) {
    const keeps = job.number % 5 === 0;
    const kept = [{ path: "out/model.bin", bytes: 2_500_000, mode: "644" }, { path: "report <b>bold</b>.txt", bytes: 5, mode: "600" }];
    const tasks = Array.from({ length: keeps ? job.taskCount : 0 }, (_, task) => ({ task, state: job.state, attempt: job.number * 100 + task, files: job.finished === null ? null : kept, problem: null }));
    return { id: job.id, number: job.number, results: keeps ? ["out/*", "report*"] : [], tasks: tasks.slice(first), task_count: job.taskCount, next: null };
  }

  // The bytes of a file from an offset on, as many as an answer has.
  piece(path, offset) {
    const all = path === "out/model.bin" ? Buffer.alloc(2_500_000, "tarcil ") : Buffer.from("fine\n");
    return all.subarray(offset, offset + (1 << 20));
  }

  violations() {
    const all = [];
    for (const server of this.servers) {
      for (const task of server.tasks) {
        for (const other of server.tasks) {
          if (other === task) continue;
          const { slack, resource } = this.slackBeside(task.job.application, other.job.application);
          if (slack >= -9) continue;
          all.push({ job: task.job.id, number: task.job.number, task: task.index, server: server.name, metric: "instructions", expected: 1.2e9, measured: Math.round(1.2e9 * (1 + slack / 99)), since: time(this.now - 90_000),
            causes: [{ kind: "neighbour", resource, neighbour: `task ${other.index} of ${other.job.name} (job ${other.job.number})`, weight: 0.8, evidence: `it causes ${other.job.application.caused[resource]}, ${task.job.application.tolerated[resource]} are tolerated` },
              { kind: "hypervisor", resource: null, neighbour: null, weight: 0.1, evidence: "2% of its time was taken" }] });
          break;
        }
      }
    }
    return all;
  }

  queue(limit) {
    return this.waiting().slice(0, limit).map((job, ahead) => ({
      id: job.id, number: job.number, name: job.name, user: job.user, priority: job.priority, lifted_priority: job.priority + 1, ahead, tasks: job.taskCount, queued: job.taskCount, active: 0,
      rus_per_task: 2, schedule: job.reason?.includes("gang") ? "gang" : "incremental", reason: job.reason, submitted: time(job.submitted), expected_start: this.expectedStart(job),
    }));
  }

  server(name) {
    return this.servers.find((server) => server.name === name) ?? null;
  }

  serverEntry(server) {
    const absent = Object.fromEntries(server.absent.map((resource) => [resource, "no hardware counters (perf)"]));
    return { name: server.name, platform: server.platform, rack: server.rack, attributes: { crun: "true" }, state: server.state, reason: server.state === "down" ? "not heard of for 40 s" : null,
      cordoned: server.state === "cordoned", draining: server.state === "draining", drain_deadline: null, quarantined_until: null, refused_claims: 0, failed_launches: 0, rus: UNITS, free: UNITS - 2 * server.tasks.length,
      extras: {}, cores: UNITS, memory_bytes: 34359738368, memory_allocatable_bytes: 34359738368, memory_allocated_bytes: 8589934592 * server.tasks.length / 2, disk_allocatable_bytes: 107374182400, disk_allocated_bytes: 0,
      emulated: false, address: "unix:/run/server.sock", contention: this.contentionOf(server), background: filled({ core: 2 }, null), absent, late_binding: [], missing: server.absent.length > 0 ? ["perf", "resctrl"] : [] };
  }

  serverDetails(server) {
    return { ...this.serverEntry(server), tasks: server.tasks.map((task) => {
      const others = this.contentionOf(server, task), { caused, tolerated } = task.job.application;
      return { job: task.job.id, number: task.job.number, task: task.index, rus: [task.unit, task.unit + 1], extras: {}, caused, charged: caused, measured: task.index % 2 === 0 ? ["llc"] : [], tolerated,
        over: RESOURCES.filter((resource) => others[resource] > tolerated[resource]), throttled: null };
    }) };
  }

  // As if servers fell into buckets by how full they are.
  bucketOf(server) {
    return String(32 * PLATFORMS.indexOf(server.platform) + server.tasks.length);
  }

  contention({ by = "server", platform = "", rack = "", bucket = "", limit = 500, after = "" }) {
    const groups = new Map();
    for (const server of this.servers) {
      if ((platform !== "" && server.platform !== platform) || (rack !== "" && server.rack !== rack) || (bucket !== "" && this.bucketOf(server) !== bucket)) continue;
      const name = by === "server" ? server.name : by === "bucket" ? this.bucketOf(server) : server[by];
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(server);
    }
    const names = [...groups.keys()].sort().filter((name) => name > after);
    const rows = names.slice(0, limit).map((name) => this.row(name, groups.get(name), by));
    return { by, resources: RESOURCES, next: names.length > limit ? names[limit - 1] : null, rows };
  }

  row(name, servers, by) {
    const row = { name, platform: by === "rack" ? null : servers[0].platform, rack: by === "platform" || by === "bucket" ? null : servers[0].rack, bucket: by === "server" || by === "bucket" ? this.bucketOf(servers[0]) : null, servers: servers.length, states: {}, units: UNITS * servers.length, free_units: 0,
      slack: filled({}, null), at: filled({}, null), contention: filled({}, 0), not_measured: {} };
    for (const server of servers) {
      row.states[server.state] = (row.states[server.state] ?? 0) + 1;
      row.free_units += UNITS - 2 * server.tasks.length;
      const slack = this.slackOf(server), contention = this.contentionOf(server);
      for (const resource of RESOURCES) {
        if (slack[resource] !== null && (row.slack[resource] === null || slack[resource] < row.slack[resource])) {
          row.slack[resource] = Math.max(-99, slack[resource]);
          row.at[resource] = server.name;
        }
        row.contention[resource] = Math.max(row.contention[resource], contention[resource]);
      }
      for (const resource of server.absent) row.not_measured[resource] = (row.not_measured[resource] ?? 0) + 1;
    }
    return row;
  }

  interference() {
    const observed = new Map();
    for (const violation of this.violations()) {
      const other = this.job(/\(job (\d+)\)/.exec(violation.causes[0].neighbour)[1]);
      const key = `${this.job(violation.number).application.name}\n${other.application.name}`;
      const known = observed.get(key) ?? { violations: 0, performance: 1 };
      observed.set(key, { violations: known.violations + 1, performance: Math.min(known.performance, violation.measured / violation.expected) });
    }
    const tasks = new Map(APPLICATIONS.map((app) => [app, 0]));
    for (const server of this.servers) for (const task of server.tasks) tasks.set(task.job.application, tasks.get(task.job.application) + 1);
    const violations = this.violations();
    return {
      applications: APPLICATIONS.map((app) => ({ name: app.name, tasks: tasks.get(app), violations: violations.filter((violation) => this.job(violation.number).application === app).length, source: "stored" })),
      pairs: APPLICATIONS.flatMap((a) => APPLICATIONS.map((b) => {
        const { slack, resource } = this.slackBeside(a, b);
        return { application: a.name, beside: b.name, s: 1 - Math.max(0, -slack) / 99, slack, resource, observed: observed.get(`${a.name}\n${b.name}`) ?? null };
      })),
    };
  }

  sharing() {
    const busy = this.servers.filter((server) => server.tasks.length > 0);
    const degraded = new Set(this.violations().map((violation) => `${violation.job}.${violation.task}`)).size;
    const alone = new Set(busy.flatMap((server) => server.tasks.map((task) => `${server.name} ${task.job.id}`))).size;
    return { tasks: busy.reduce((sum, server) => sum + server.tasks.length, 0), degraded, units_used: busy.reduce((sum, server) => sum + 2 * server.tasks.length, 0), units_alone: alone * UNITS };
  }

  profile(name) {
    const app = APPLICATIONS.find((each) => each.name === name);
    if (!app) return null;
    const entries = ["tolerated", "caused"].flatMap((kind) => RESOURCES.map((resource, i) => ({ resource, kind, value: app[kind][resource], origin: i % 3 === 0 ? "measured" : i % 3 === 1 ? "inferred" : "stated", expected_error: i % 3 === 1 ? 4.5 : null })));
    return { application: name, caused: app.caused, tolerated: app.tolerated, entries, platforms: { "haswell-2.3": 1, "nehalem-2.6": 0.7 }, platform_entries: [], user: "alice", stored: time(START), revision: 2, note: "", history: [],
      observed: { user: "alice", runs: 12, last: time(START), caused: { llc: { runs: 12, mean: app.caused.llc + 2.5, spread: 1.5 } }, performances: [{ platform: "haswell-2.3", metric: "instructions", rus: 2, runs: 12, mean: 1.19e9, spread: 2.1e7, last: time(START) }] } };
  }

  usage() {
    return USERS.map((user, i) => {
      const mine = this.jobs.filter((job) => job.user === user);
      const ended = (state) => mine.filter((job) => job.state === state).length;
      return { user, shares: i + 1, ru_seconds: 3600.5 * (4 - i), attempts: mine.length, jobs: { done: ended("done"), failed: ended("failed"), cancelled: ended("cancelled"), lost: 0 } };
    });
  }

  plan(text) {
    const tasks = Number(/^tasks:\s*(\d+)/m.exec(text)?.[1] ?? 1);
    const like = this.explain(this.jobs.find((job) => job.state === "running") ?? this.jobs[0]).decision[0];
    const placed = Math.min(tasks, 4);
    const decision = Array.from({ length: tasks }, (_, task) => ({ ...like, decision: undefined, task, chosen: task < placed ? { server: like.best[0].server, rus: [6, 7], q: 0.9, s: 1 } : null }));
    const beside = this.server(like.best[0].server).tasks;
    return { decision, hold: false, start_after: null, after: 0, after_reason: null, cancelled: false, placed, profile_assumed: false,
      reason: placed < tasks ? "no free unit: 32 of 32 are taken" : null, units: { usable: this.servers.length * UNITS, free: this.status().free_units },
      neighbours: beside.map((task) => ({ job: task.job.id, number: task.job.number, task: task.index, server: like.best[0].server, slack_before: filled({ llc: 30 }, null), slack_after: filled({ llc: 4 }, null) })) };
  }
}
