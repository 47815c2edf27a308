// Jobs as they are listed, newest first: pages that were asked for, kept true by events.
import type { JobSummary } from "../api/types";

export interface JobFilter {
  state: string; // states with commas; empty: all
  user: string;
  name: string; // a part of it
}

export const NO_FILTER: JobFilter = { state: "", user: "", name: "" };

export function matches(job: JobSummary, filter: JobFilter): boolean {
  return (filter.state === "" || filter.state.split(",").includes(job.state)) &&
    (filter.user === "" || job.user === filter.user) &&
    (filter.name === "" || job.name.includes(filter.name));
}

// With the jobs of an older page behind those known.
export function appended(known: JobSummary[], page: JobSummary[]): JobSummary[] {
  const ids = new Set(known.map((job) => job.id));
  return [...known, ...page.filter((job) => !ids.has(job.id))];
}

// With what events said since: known jobs in their place, new ones before them. A job that no longer matches goes. One that is
// older than all that are known stays out: its page has not been asked for.
export function patched(known: JobSummary[], events: Iterable<JobSummary>, filter: JobFilter): JobSummary[] {
  const latest = new Map<string, JobSummary>();
  for (const job of events) latest.set(job.id, job);
  if (latest.size === 0) return known;
  const next: JobSummary[] = [];
  for (const job of known) {
    const news = latest.get(job.id);
    latest.delete(job.id);
    if (news === undefined) next.push(job);
    else if (matches(news, filter)) next.push(news);
  }
  const newest = known.length > 0 ? orderOf(known[0]) : -Infinity;
  const added = [...latest.values()].filter((job) => matches(job, filter) && orderOf(job) > newest);
  return added.length === 0 ? next : [...added.sort((a, b) => orderOf(b) - orderOf(a)), ...next];
}

function orderOf(job: JobSummary): number {
  return job.number ?? (job.submitted === null ? 0 : Date.parse(job.submitted));
}
