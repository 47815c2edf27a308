// Write a job file, plan it, submit it. Errors stand at their lines.
import { useRef, useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { planJob, submitJob } from "../api/actions";
import { ApiError } from "../api/client";
import type { AffectedTask, Plan, Problem } from "../api/types";
import { groupsOf } from "../model/decisions";
import { EXAMPLE, numberOf, withField } from "../model/job_file";
import { paths } from "../model/paths";
import { remedyFor } from "../model/reasons";
import { RESOURCES, shortTitleOf } from "../model/resources";
import { counted, signed } from "../model/text";
import { Empty, Heading, Panel, TaskLink } from "../parts/basics";
import { say } from "../parts/doing";
import { Table } from "../parts/table";
import { CandidatesPicture } from "../pictures/candidates_picture";

const kLargest = 1 << 20;

const CHANGES: { title: string; apply: (text: string) => string }[] = [
  { title: "target 0.85", apply: (text) => withField(text, "quality", "{target: 0.85}") },
  { title: "half the tasks", apply: (text) => withField(text, "tasks", String(Math.max(1, Math.floor((numberOf(text, "tasks") ?? 1) / 2)))) },
  { title: "one unit a task", apply: (text) => withField(text, "rus_per_task", "1") },
  { title: "spread over servers", apply: (text) => withField(text, "placement", "{spread: server, at_most: 1}") },
  { title: "neighbours unprotected", apply: (text) => withField(text, "quality", "{protect_neighbours: false}") },
];

export function Submit() {
  return (
    <>
      <Heading title="Submit a job" />
      <Panel><JobEditor initial={sessionStorage.getItem("job-file") ?? EXAMPLE} /></Panel>
      <p class="hint">Files of this machine cannot be shipped from here: for <code>files</code> use <code>tarcil submit FILE</code>.</p>
    </>
  );
}

export function JobEditor({ initial, isPlanOnly }: { initial: string; isPlanOnly?: boolean }) {
  const [text, setText] = useState(initial);
  const [problems, setProblems] = useState<Problem[]>([]);
  const [message, setMessage] = useState<string | null>(null);
  const [plan, setPlan] = useState<Plan | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [, navigate] = useLocation();
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const lines = text.split("\n");
  const wrong = new Set(problems.map((problem) => problem.line));

  const change = (next: string) => {
    setText(next);
    setProblems([]);
    setMessage(null);
    if (!isPlanOnly) sessionStorage.setItem("job-file", next);
  };
  const carry = async (doing: () => Promise<void>) => {
    setBusy(true);
    setProblems([]);
    setMessage(null);
    try {
      await doing();
    } catch (cause) {
      setPlan(null);
      const error = cause instanceof ApiError ? cause : new ApiError(0, "unknown", String(cause));
      setProblems(error.problems);
      if (error.problems.length === 0) setMessage(error.message);
    }
    setBusy(false);
  };
  const doPlan = () => carry(async () => setPlan(await planJob(text)));
  const doSubmit = (isHeld: boolean) => carry(async () => {
    const { job, number } = await submitJob(text, isHeld);
    say(`Job ${number ?? job} is submitted${isHeld ? ", and held" : ""}.`);
    navigate(paths.job(number ?? job));
  });
  const goTo = (line: number) => {
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  };
  const load = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > kLargest) return setMessage(`${file.name} has more than 1 MiB: a job file is smaller`);
    change(await file.text());
  };

  return (
    <div class="editor">
      {isPlanOnly && <div class="chips" role="group" aria-label="Changes">{CHANGES.map((each) => <button class="chip" onClick={() => change(each.apply(text))}>{each.title}</button>)}</div>}
      <div class="sheet" onDragOver={(event) => event.preventDefault()} onDrop={(event) => { event.preventDefault(); void load(event.dataTransfer?.files[0]); }}>
        <div class="gutter" aria-hidden="true" ref={gutter}>
          {lines.map((_, i) => <div class={wrong.has(i + 1) ? "wrong" : ""}>{wrong.has(i + 1) ? "✕" : ""} {i + 1}</div>)}
        </div>
        <textarea ref={area} aria-label="Job file" aria-invalid={problems.length > 0} aria-describedby="problems" spellcheck={false} wrap="off" rows={Math.min(28, Math.max(10, lines.length + 1))}
          value={text} onInput={(event) => change(event.currentTarget.value)}
          onScroll={(event) => { if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop; }} />
      </div>
      <div id="problems" role="alert">
        {message !== null && <p class="problem">{message}</p>}
        {problems.length > 0 && (
          <ul class="problems">
            {problems.map((problem) => (
              <li>{problem.line !== null && <button class="plain" onClick={() => goTo(problem.line as number)}>line {problem.line}</button>} {problem.field && <b>{problem.field}: </b>}{problem.message}</li>
            ))}
          </ul>
        )}
      </div>
      <div class="choices">
        {!isPlanOnly && <label class="file">Open a file <input type="file" accept=".yaml,.yml,.json" onChange={(event) => void load(event.currentTarget.files?.[0])} /></label>}
        <button class={isPlanOnly ? "first" : ""} disabled={isBusy} onClick={() => void doPlan()}>Plan it</button>
        {!isPlanOnly && <button disabled={isBusy} onClick={() => void doSubmit(true)}>Submit held</button>}
        {!isPlanOnly && <button class="first" disabled={isBusy} onClick={() => void doSubmit(false)}>Submit</button>}
      </div>
      {plan !== null && <PlanResult plan={plan} />}
    </div>
  );
}

function PlanResult({ plan }: { plan: Plan }) {
  const all = plan.decision.length;
  return (
    <div class="plan" role="region" aria-label="Plan">
      <p class={`callout ${plan.placed === all ? "good" : "warn"}`} role="status">
        <b>{plan.placed === all ? `All ${counted(all, "task")} would start at once.` : `${plan.placed} of ${counted(all, "task")} would start at once.`}</b>{" "}
        {plan.reason !== null && <>The rest would wait: {plan.reason}<span class="hint">{remedyFor(plan.reason)}</span></>}
      </p>
      {groupsOf(plan.decision).map((group) => <CandidatesPicture group={group} />)}
      <h3>What it would do to its neighbours</h3>
      {plan.neighbours.length === 0
        ? <Empty>{plan.placed === 0 ? "It would be placed nowhere, so nobody notices." : "It would have no neighbours: nobody is disturbed."}</Empty>
        : <Table label="Neighbours" rows={plan.neighbours.slice(0, 50)} keyOf={(each) => `${each.job}.${each.task}.${each.server}`} columns={[
            { title: "Neighbour", cell: (each) => <TaskLink task={each} /> },
            { title: "Server", cell: (each) => <Link href={paths.server(each.server)}>{each.server}</Link> },
            { title: "Slack now, then", cell: changed },
          ]} />}
    </div>
  );
}

function changed(each: AffectedTask): string {
  return RESOURCES.filter((resource) => each.slack_after[resource] !== each.slack_before[resource] && each.slack_after[resource] !== null)
    .sort((a, b) => (each.slack_after[a] as number) - (each.slack_after[b] as number))
    .map((resource) => `${shortTitleOf(resource)} ${signed(each.slack_before[resource] ?? 99)} → ${signed(each.slack_after[resource] as number)}`)
    .slice(0, 4).join(", ") || "nothing changes";
}
