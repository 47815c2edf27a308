// Every job, newest first: a list that fetches what comes in sight, and follows events.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";
import { useAnswer } from "../api/cache";
import { ApiError, get, query } from "../api/client";
import { live } from "../api/live";
import type { JobSummary, Status } from "../api/types";
import { type JobFilter, appended, patched } from "../model/job_list";
import { paths } from "../model/paths";
import { duration, whole } from "../model/text";
import { Empty, Heading, JobLink, State, Time, useNow } from "../parts/basics";
import { LongTable } from "../parts/table";

const kPage = 500, kRowHeight = 32;

interface Listing {
  jobs: JobSummary[];
  isWhole: boolean; // nothing older is left to ask for
  error: ApiError | null;
  isLoaded: boolean;
}

function useJobs(filter: JobFilter): [Listing, () => void] {
  const [listing, setListing] = useState<Listing>({ jobs: [], isWhole: false, error: null, isLoaded: false });
  const current = useRef({ filter, isAsking: false, news: [] as JobSummary[], frame: 0, after: null as string | null, isWhole: false });
  const load = useCallback(async (fromStart: boolean) => {
    const state = current.current;
    if (state.isAsking && !fromStart) return;
    if (!fromStart && state.isWhole) return;
    const { filter: asked } = state;
    state.isAsking = true;
    try {
      const page = await get<JobSummary[]>(`/jobs${query({ ...asked, limit: kPage, after: fromStart ? null : state.after })}`);
      if (asked !== state.filter) return;
      if (page.length > 0) state.after = page[page.length - 1].id;
      state.isWhole = page.length < kPage;
      setListing((known) => ({ jobs: appended(fromStart ? [] : known.jobs, page), isWhole: state.isWhole, error: null, isLoaded: true }));
    } catch (cause) {
      if (cause instanceof ApiError && asked === state.filter) setListing((known) => ({ ...known, error: cause, isLoaded: true }));
    } finally {
      if (asked === state.filter) state.isAsking = false;
    }
  }, []);
  useEffect(() => {
    Object.assign(current.current, { filter, isAsking: false, after: null, isWhole: false, news: [] });
    setListing({ jobs: [], isWhole: false, error: null, isLoaded: false });
    void load(true);
  }, [filter, load]);
  useEffect(() => {
    const state = current.current;
    const show = () => {
      state.frame = 0;
      const news = state.news.splice(0);
      setListing((known) => ({ ...known, jobs: patched(known.jobs, news, state.filter) }));
    };
    return live.onEvent((topic, data) => {
      if (topic === "reset") return void load(true);
      if (topic !== "job") return;
      state.news.push(data as JobSummary);
      if (state.frame === 0) state.frame = requestAnimationFrame(show);
    });
  }, [load]);
  return [listing, useCallback(() => void load(false), [load])];
}

export function useFilter(): [JobFilter, (change: Partial<JobFilter>) => void] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const [filter, setFilter] = useState<JobFilter>(() => filterOf(search));
  useEffect(() => setFilter(filterOf(search)), [search]);
  return [filter, (change) => navigate(`${paths.jobs}${query({ ...filter, ...change })}`, { replace: true })];
}

function filterOf(search: string): JobFilter {
  const given = new URLSearchParams(search);
  return { state: given.get("state") ?? "", user: given.get("user") ?? "", name: given.get("name") ?? "" };
}

const STATE_CHOICES: [string, string][] = [
  ["", "all"], ["queued", "queued"], ["starting,running", "running"], ["done", "done"], ["failed,lost", "failed or lost"], ["cancelled", "cancelled"],
];

function took(job: JobSummary, now: number): string {
  if (job.submitted === null) return "";
  return duration((job.finished === null ? now : Date.parse(job.finished)) - Date.parse(job.submitted));
}

function progress(job: JobSummary): string {
  const parts = [[job.queued, "wait"], [job.active, "run"], [job.succeeded, "done"], [job.failed, "failed"]] as const;
  return parts.filter(([n]) => n > 0).map(([n, word]) => `${whole(n)} ${word}`).join(", ");
}

export function Jobs() {
  const [filter, change] = useFilter();
  const [listing, more] = useJobs(filter);
  const status = useAnswer<Status>("/status", { job: true, server: true, queue: true });
  const now = useNow();
  const isFiltered = filter.state !== "" || filter.user !== "" || filter.name !== "";
  return (
    <>
      <Heading title="Jobs">
        {whole(listing.jobs.length)}{listing.isWhole ? "" : "+"} {isFiltered ? "match" : "known"}
        {status.data !== null && ` · ${whole(status.data.jobs.running ?? 0)} running, ${whole(status.data.waiting)} waiting`}
      </Heading>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>State
          <select value={filter.state} onChange={(event) => change({ state: event.currentTarget.value })}>
            {STATE_CHOICES.map(([value, title]) => <option value={value}>{title}</option>)}
            {!STATE_CHOICES.some(([value]) => value === filter.state) && <option value={filter.state}>{filter.state}</option>}
          </select>
        </label>
        <label>User <input value={filter.user} size={10} onChange={(event) => change({ user: event.currentTarget.value.trim() })} /></label>
        <label>Name has <input value={filter.name} size={16} onChange={(event) => change({ name: event.currentTarget.value })} /></label>
        {isFiltered && <button type="button" class="plain" onClick={() => change({ state: "", user: "", name: "" })}>Show all</button>}
      </form>
      {listing.error !== null && <p class="problem" role="alert">{listing.error.message}</p>}
      {listing.jobs.length === 0
        ? <Empty>{!listing.isLoaded ? "Loading …" : isFiltered ? "No job is like that. Loosen the filters above." : "No job yet. Submit one here, or with tarcil submit."}</Empty>
        : <LongTable label="Jobs" rows={listing.jobs} rowHeight={kRowHeight} keyOf={(job) => job.id} onEnd={more} columns={[
            { title: "Job", class: "c-number", cell: (job) => <JobLink job={job} /> },
            { title: "State", class: "c-state", cell: (job) => <State state={job.state} /> },
            { title: "Name", class: "c-name", cell: (job) => <span title={job.name}>{job.name}</span> },
            { title: "User", class: "c-user", cell: (job) => job.user },
            { title: "Tasks", class: "c-tasks", cell: progress },
            { title: "Submitted", class: "c-time", cell: (job) => <Time at={job.submitted} now={now} /> },
            { title: "Took", class: "c-took", cell: (job) => took(job, now) },
            { title: "Why", class: "c-why", cell: (job) => <span title={job.reason ?? ""}>{job.reason}</span> },
          ]} />}
    </>
  );
}
