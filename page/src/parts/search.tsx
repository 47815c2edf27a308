// One field that finds jobs, servers and applications by number or by part of a name.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { useLocation } from "wouter-preact";
import { get, query } from "../api/client";
import type { Contention, Interference, JobSummary } from "../api/types";
import { paths } from "../model/paths";

interface Found {
  title: string;
  kind: string;
  path: string;
}

const kPause = 150, kMost = 6;

async function find(text: string): Promise<Found[]> {
  const isNumber = /^\d+$/.test(text);
  const [jobs, applications, server] = await Promise.allSettled([
    get<JobSummary[]>(`/jobs${query({ name: text, limit: kMost })}`),
    get<Interference>("/interference?limit=200"),
    get<Contention>(`/contention${query({ limit: 2000 })}`),
  ]);
  const found: Found[] = [];
  if (isNumber) found.push({ title: `Job ${text}`, kind: "number", path: paths.job(text) });
  const has = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  if (server.status === "fulfilled") {
    found.push(...server.value.rows.filter((row) => has(row.name)).slice(0, kMost).map((row) => ({ title: row.name, kind: "server", path: paths.server(row.name) })));
  }
  if (applications.status === "fulfilled") {
    found.push(...applications.value.applications.filter((each) => has(each.name)).slice(0, kMost)
      .map((each) => ({ title: each.name, kind: "application", path: paths.application(each.name) })));
  }
  if (jobs.status === "fulfilled") {
    found.push(...jobs.value.map((job) => ({ title: `${job.number ?? job.id.slice(0, 8)} ${job.name}`, kind: job.state, path: paths.job(job.number ?? job.id) })));
    if (jobs.value.length === kMost) found.push({ title: `All jobs with “${text}”`, kind: "jobs", path: `${paths.jobs}${query({ name: text })}` });
  }
  return found;
}

export function Search() {
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found[] | null>(null);
  const [at, setAt] = useState(0);
  const [, navigate] = useLocation();
  const turn = useRef(0);
  const list = useId();
  useEffect(() => {
    const mine = ++turn.current;
    if (text.trim() === "") return setFound(null);
    const timer = window.setTimeout(() => void find(text.trim()).then((answer) => {
      if (turn.current !== mine) return;
      setFound(answer);
      setAt(0);
    }), kPause);
    return () => window.clearTimeout(timer);
  }, [text]);
  const go = (to: Found | undefined) => {
    if (to === undefined) return;
    setText("");
    setFound(null);
    navigate(to.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return setText("");
    if (found === null) return;
    if (event.key === "Enter") go(found[at]);
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    setAt((at + (event.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(1, found.length));
  };
  return (
    <div class="search" role="search">
      <input id="search" type="search" role="combobox" aria-label="Search jobs, servers, applications" placeholder="Search  /" autoComplete="off" value={text}
        aria-expanded={found !== null} aria-controls={list} aria-activedescendant={found !== null && found.length > 0 ? `${list}-${at}` : undefined}
        onInput={(event) => setText(event.currentTarget.value)} onKeyDown={onKeyDown} onBlur={() => window.setTimeout(() => setFound(null), 200)} />
      <ul id={list} role="listbox" aria-label="Found" hidden={found === null || found.length === 0}>
        {(found ?? []).map((each, i) => (
          <li id={`${list}-${i}`} role="option" aria-selected={i === at} onMouseDown={(event) => { event.preventDefault(); go(each); }}>
            <span>{each.title}</span><span class="kind">{each.kind}</span>
          </li>
        ))}
      </ul>
      {found !== null && found.length === 0 && <p class="nothing" role="status">Nothing is called so.</p>}
    </div>
  );
}
