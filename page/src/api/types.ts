// What the HTTP interface answers (docs/http.md): the JSON that the commands print. Only what the page reads is named.
import type { Resource } from "../model/resources";

export type RunState = "queued" | "starting" | "running" | "done" | "failed" | "cancelled" | "lost";

// 0 to 99 each; null where nothing is known or nothing bounds it.
export type Pressures = Record<Resource, number>;
export type MaybePressures = Record<Resource, number | null>;

export interface Session {
  user: string;
  role: "submit" | "operate";
  expires: string | null;
}

export interface Status {
  servers: Record<string, number>;
  units: number;
  free_units: number;
  agents: Record<string, number>;
  waiting: number;
  warning: string | null;
  jobs: Partial<Record<RunState, number>>;
  ended_badly: Partial<Record<RunState, number>>;
}

export interface JobSummary {
  id: string;
  number: number | null;
  name: string;
  user: string;
  late_binding: boolean;
  state: RunState;
  reason: string | null;
  tasks: number;
  queued: number;
  active: number;
  succeeded: number;
  failed: number;
  submitted: string | null;
  finished: string | null;
}

export interface Task {
  index: number;
  state: RunState;
  server: string | null;
  rus: number[];
  q: number | null;
  s: number | null;
  exit_code: number | null;
  signal: number | null;
  oom_killed: boolean;
  problem: string | null;
  submitted: string | null;
  started: string | null;
  finished: string | null;
  peak_memory_bytes: number | null;
  cpu_seconds: number | null;
  attempt: number;
  previous: string | null;
  item: string | null;
  charged: Pressures | null;
  measured: Resource[];
}

export interface JobStatus {
  id: string;
  number: number | null;
  name: string;
  user: string;
  state: RunState;
  reason: string | null;
  ahead: number;
  expected_start: string | null;
  submitted: string | null;
  finished: string | null;
  tasks: Task[];
  task_count?: number;
  next?: number | null;
}

export interface Candidate {
  server: string;
  rus: number[];
  contention: Pressures;
  u_h: number;
  q: number;
  s: number;
  platform: string;
  platform_factor: number;
  slack: MaybePressures;
  after: string;
}

export interface Chosen {
  server: string;
  rus: number[];
  q: number;
  s: number;
}

export interface Decision {
  task: number;
  decision?: number | null;
  p: number | null;
  ratio: number | null;
  drawn: number | null;
  limit: number | null;
  guarantee: number | null;
  dropped: Record<string, number>;
  best: Candidate[];
  seed: number | null;
  chosen?: Chosen | null;
  charged?: Pressures | null;
  measured?: Resource[];
}

export interface Cause {
  kind: string;
  resource: Resource | null;
  neighbour: string | null;
  weight: number;
  evidence: string;
}

export interface Violation {
  job: string;
  number: number | null;
  task: number;
  server: string;
  metric: string;
  expected: number;
  measured: number;
  since: string | null;
  causes: Cause[];
}

export interface Step {
  at: string | null;
  task: number;
  step: string;
}

export interface Explanation {
  id: string;
  number: number | null;
  state: RunState;
  reason: string | null;
  profile_assumed: boolean;
  profile_replaced: string | null;
  declared: Pressures;
  decision: Decision[];
  troubles: Violation[];
  steps: Step[];
}

// What the gateway was told of tasks that were below what is expected: `part` from `at` on; 1: no violation any more.
export interface PerformanceHistory {
  since: string; // when it began to listen
  tasks: { task: number; measures: { at: string; part: number }[] }[];
}

export interface KeptFile {
  path: string;
  bytes: number;
  mode: string;
}

export interface KeptFiles {
  results: string[]; // of the job file
  tasks: { task: number; state: RunState; attempt: number; files: KeptFile[] | null; problem: string | null }[];
  task_count: number;
  next: number | null;
}

export interface AffectedTask {
  job: string | null; // null: not told, it is another user's
  number: number | null;
  task: number;
  server: string;
  slack_before: MaybePressures;
  slack_after: MaybePressures;
}

export interface Plan {
  decision: Decision[];
  placed: number;
  profile_assumed: boolean;
  reason: string | null;
  units: { usable: number; free: number };
  neighbours: AffectedTask[];
}

export interface QueueEntry {
  id: string;
  number: number | null;
  name: string;
  user: string;
  priority: number;
  lifted_priority: number;
  ahead: number;
  tasks: number;
  queued: number;
  active: number;
  rus_per_task: number;
  schedule: string;
  reason: string | null;
  submitted: string | null;
  expected_start: string | null;
}

export interface ServerTask {
  job: string | null; // null: not told, it is another user's
  number: number | null;
  task: number;
  rus: number[];
  caused: Pressures;
  charged: Pressures;
  measured: Resource[];
  tolerated: Pressures;
  over: Resource[];
}

export interface ServerDetails {
  name: string;
  platform: string;
  rack: string;
  state: string;
  reason: string | null;
  cordoned: boolean;
  draining: boolean;
  rus: number;
  free: number;
  cores: number;
  memory_allocatable_bytes: number;
  memory_allocated_bytes: number;
  disk_allocatable_bytes: number;
  disk_allocated_bytes: number;
  attributes: Record<string, string>;
  extras: Record<string, unknown>;
  contention: Pressures;
  background: MaybePressures;
  absent: Partial<Record<Resource, string>>;
  missing: string[];
  tasks: ServerTask[];
}

export interface ContentionRow {
  name: string;
  platform: string | null; // null where a row's servers are of several
  rack: string | null;
  bucket: string | null; // of like servers; null also where they take no tasks
  servers: number;
  states: Record<string, number>;
  units: number;
  free_units: number;
  slack: MaybePressures;
  at: Partial<Record<Resource, string | null>>;
  contention: Pressures;
  not_measured: Partial<Record<Resource, number>>;
}

export interface Contention {
  by: "server" | "platform" | "rack" | "bucket";
  resources: Resource[];
  next: string | null;
  rows: ContentionRow[];
}

export interface InterferencePair {
  application: string;
  beside: string;
  s: number;
  slack: number;
  resource: Resource;
  observed: { violations: number; performance: number } | null;
}

export interface Interference {
  applications: { name: string; tasks: number; violations: number; source: "stored" | "running" }[];
  pairs: InterferencePair[];
}

export interface Sharing {
  tasks: number;
  degraded: number;
  units_used: number;
  units_alone: number;
}

export interface ProfileEntry {
  resource: Resource;
  kind: "caused" | "tolerated";
  value: number;
  origin: string;
  expected_error: number | null;
}

export interface Profile {
  application: string;
  caused: Pressures;
  tolerated: Pressures;
  entries: ProfileEntry[];
  platforms: Record<string, number>;
  state?: string; // in lists: "stored", "observed", or how a profiling goes
  reason?: string | null;
  user: string | null;
  stored: string | null;
  revision: number | null;
  note: string;
  history: unknown[];
  observed: ObservedProfile | null;
}

export interface ObservedProfile {
  user: string;
  runs: number;
  last: string | null;
  caused: Partial<Record<Resource, { runs: number; mean: number; spread: number }>>;
  performances: { platform: string; metric: string; rus: number; runs: number; mean: number; spread: number; last: string | null }[];
}

export interface Usage {
  user: string;
  shares: number;
  ru_seconds: number;
  attempts: number;
  jobs: { done: number; failed: number; cancelled: number; lost: number };
}

export interface Settings {
  target: number;
  rarity: number;
  confidence: number;
  draws: number;
  cap: number | null;
  floor: number;
  ratio: number | null;
  model: string;
  contention: string;
  ranking: string;
  margin: number;
  noise_floor: number;
  protect_neighbours: boolean;
  neighbour_floor: number;
  profile_unknown: boolean;
  throttling: string;
}

export interface SampleSize {
  p: number;
  tasks: number;
  ratio: number;
  samples: number;
  guarantee: number;
}

export interface ReplayOutcome {
  jobs: number;
  utilisation: number;
  response_ms: Record<string, number>;
  performance: { mean: number; p5: number; p1: number; at_least_95: number };
  quality: { mean: number; p5: number; p1: number };
  wait_ms: { mean: number; p95: number };
}

export interface Replay {
  state: "running" | "done" | "failed" | "cancelled";
  user: string;
  began: string | null;
  ended: string | null;
  settings: { rarity?: number; confidence?: number } & Record<string, number | string>;
  progress: string; // the run, and what it says of itself
  problem: string | null;
  result: { recorded: ReplayOutcome; as_it_is: ReplayOutcome; changed: ReplayOutcome } | null;
}

export interface Replays {
  recording: { from: string | null; until: string | null; bytes: number } | null;
  replay: Replay | null;
}

export interface Problem {
  line: number | null;
  column: number | null;
  field: string | null;
  message: string;
}
