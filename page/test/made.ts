// What tests are made of: answers of a gateway with the parts that matter to a test.
import type { ContentionRow, Explanation, InterferencePair, JobSummary, Violation } from "../src/api/types";
import { RESOURCES, type Resource } from "../src/model/resources";

export function pressures<T>(values: Partial<Record<Resource, T>>, otherwise: T): Record<Resource, T> {
  return Object.fromEntries(RESOURCES.map((resource) => [resource, values[resource] ?? otherwise])) as Record<Resource, T>;
}

export function row(name: string, slack: Partial<Record<Resource, number>>, more: Partial<ContentionRow> = {}): ContentionRow {
  return { name, platform: "p", rack: "r", bucket: null, servers: 1, states: { up: 1 }, units: 8, free_units: 4, slack: pressures<number | null>(slack, null), at: {}, contention: pressures({}, 0), not_measured: {}, ...more };
}

export function pair(application: string, beside: string, s: number, performance: number | null = null): InterferencePair {
  return { application, beside, s, slack: Math.round(-99 * (1 - s)), resource: "llc", observed: performance === null ? null : { violations: 1, performance } };
}

export function job(number: number, more: Partial<JobSummary> = {}): JobSummary {
  return { id: `id${number}`, number, name: `job-${number}`, user: "alice", late_binding: false, state: "running", reason: null, tasks: 1, queued: 0, active: 1, succeeded: 0, failed: 0,
    submitted: "2026-01-01T00:00:00.000000Z", finished: null, ...more };
}

export function violation(task: number, measured: number, since: string): Violation {
  return { job: "id", number: 1, task, server: "s1", metric: "reported", expected: 100, measured, since, causes: [] };
}

export function explanation(more: Partial<Explanation> = {}): Explanation {
  return { id: "id", number: 1, state: "running", reason: null, profile_assumed: false, profile_replaced: null, declared: pressures({}, 0), decision: [], troubles: [], steps: [], ...more };
}
