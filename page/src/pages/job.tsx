// One job: its tasks, why they are where they are, how they perform, what they press, what they write.
import { useMemo, useState } from "preact/hooks";
import { Link, useLocation } from "wouter-preact";
import { setPriority, steerJob } from "../api/actions";
import { useAnswer } from "../api/cache";
import type { Explanation, JobStatus, JobSummary, PerformanceHistory, ServerDetails, Task } from "../api/types";
import { groupsOf } from "../model/decisions";
import { draftOf } from "../model/job_file";
import { JOB_VIEWS, type JobView, paths } from "../model/paths";
import { causeOf, timelineOf } from "../model/performance";
import { remedyFor } from "../model/reasons";
import { RESOURCES, titleOf } from "../model/resources";
import { isFinal } from "../model/states";
import { bytes, counted, duration, percent, ranges } from "../model/text";
import { Bar, Empty, Field, Heading, Loaded, Panel, State, Time, useNow } from "../parts/basics";
import { ActionButton, attempt } from "../parts/doing";
import { Table, TableBox } from "../parts/table";
import { CandidatesPicture } from "../pictures/candidates_picture";
import { PerformancePicture } from "../pictures/performance_picture";
import { Files } from "./files";
import { Logs } from "./logs";
import { JobEditor } from "./submit";

const kDefaultDeviation = 0.1;
const TITLES: Record<JobView, string> = { tasks: "Tasks", why: "Why here", performance: "Performance", pressure: "Pressure", logs: "Logs", files: "Files" };

export function Job({ job, view }: { job: string; view: JobView }) {
  const mine = (event: JobSummary) => event.id === job || String(event.number) === job;
  const status = useAnswer<JobStatus>(`/jobs/${encodeURIComponent(job)}`, { job: mine });
  const hasExplanation = view !== "tasks" && view !== "logs" && view !== "files";
  const explanation = useAnswer<Explanation>(hasExplanation ? `/jobs/${encodeURIComponent(job)}/explain` : null, { job: mine, violation: true });
  return (
    <Loaded answer={status}>
      {(data) => (
        <>
          <Head job={data} />
          <nav class="tabs" aria-label="Of this job">
            {JOB_VIEWS.map((each) => (
              <Link href={paths.job(job, each)} class={each === view ? "here" : ""} aria-current={each === view ? "page" : undefined}>{TITLES[each]}</Link>
            ))}
          </nav>
          {view === "tasks" && <Tasks job={data} />}
          {view === "why" && <Loaded answer={explanation}>{(why) => <Why job={data} why={why} />}</Loaded>}
          {view === "performance" && <Loaded answer={explanation}>{(why) => <Performance job={data} why={why} />}</Loaded>}
          {view === "pressure" && <Loaded answer={explanation}>{(why) => <Pressure why={why} />}</Loaded>}
          {view === "logs" && <Logs job={data} />}
          {view === "files" && <Files job={data} />}
        </>
      )}
    </Loaded>
  );
}

function Head({ job }: { job: JobStatus }) {
  const now = useNow();
  const id = job.id;
  const isOver = isFinal(job.state);
  const isHeld = (job.reason ?? "").startsWith("held");
  const name = `job ${job.number ?? job.id.slice(0, 8)}`;
  return (
    <>
      <Heading title={<><span class="dim">{job.number ?? job.id.slice(0, 8)}</span> {job.name}</>}>
        <State state={job.state} />
        <span class="buttons">
          {!isOver && <PriorityForm id={id} name={name} />}
          {!isOver && !isHeld && <ActionButton label="Hold" done={`No further task of ${name} starts.`} doing={() => steerJob(id, "hold")} />}
          {isHeld && <ActionButton label="Release" done={`Tasks of ${name} may start.`} doing={() => steerJob(id, "release")} />}
          {isOver && job.state !== "done" && <ActionButton label="Run again" done={`${name} runs again.`} doing={() => steerJob(id, "rerun")} />}
          {!isOver && <ActionButton label="Cancel job" isGrave question={`Cancel ${name} (${job.name})? Its running tasks are ended.`} done={`${name} is cancelled.`}
            doing={() => steerJob(id, "cancel")} />}
        </span>
      </Heading>
      <dl class="fields">
        <Field name="User">{job.user}</Field>
        <Field name="Submitted"><Time at={job.submitted} now={now} /></Field>
        {job.finished !== null && <Field name="Finished"><Time at={job.finished} now={now} /></Field>}
        <Field name="Tasks">{counts(job)}</Field>
        {job.state === "queued" && <Field name="Ahead">{counted(job.ahead, "job")}</Field>}
        {job.state === "queued" && <Field name="Should start">{job.expected_start === null ? "not known yet" : <Time at={job.expected_start} now={now} />}</Field>}
      </dl>
      {(job.reason !== null || job.state === "queued") && (
        <p class={`callout ${isOver ? "bad" : "warn"}`}>
          <b>{isOver ? "How it ended: " : "Why it waits: "}</b>{job.reason ?? "it has just been submitted"}
          {job.state !== "done" && <span class="hint">{remedyFor(job.reason)}</span>}
        </p>
      )}
    </>
  );
}

function PriorityForm({ id, name }: { id: string; name: string }) {
  const [value, setValue] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    if (value !== "") void attempt(() => setPriority(id, Number(value)), `Priority of ${name} is ${value}.`).then((isDone) => isDone && setValue(""));
  };
  return (
    <form class="inline" onSubmit={submit}>
      <label>Priority <input type="number" min={0} max={100} required value={value} onInput={(event) => setValue(event.currentTarget.value)} /></label>
      <button type="submit">Set</button>
    </form>
  );
}

function counts(job: JobStatus): string {
  const by = new Map<string, number>();
  for (const task of job.tasks) by.set(task.state, (by.get(task.state) ?? 0) + 1);
  const text = [...by].map(([state, n]) => `${n} ${state}`).join(", ");
  const all = job.task_count ?? job.tasks.length;
  return job.tasks.length < all ? `${all}; of the first ${job.tasks.length}: ${text}` : `${all} (${text})`;
}

function outcome(task: Task): string {
  if (task.oom_killed) return "killed at its memory limit: raise limits.memory";
  if (task.problem !== null) return task.problem;
  if (task.signal !== null) return `ended by signal ${task.signal}`;
  if (task.exit_code !== null) return `exit code ${task.exit_code}`;
  return task.previous === null ? "" : `before: ${task.previous}`;
}

function Tasks({ job }: { job: JobStatus }) {
  const now = useNow();
  const [extra, setExtra] = useState<string | null>(null);
  const more = useAnswer<JobStatus>(extra);
  const tasks = extra !== null && more.data !== null ? more.data.tasks : job.tasks;
  const next = extra !== null && more.data !== null ? more.data.next : job.next;
  return (
    <Panel>
      <Table label="Tasks" rows={tasks} keyOf={(task) => task.index} columns={[
        { title: "Task", class: "num", cell: (task) => task.index },
        { title: "State", cell: (task) => <State state={task.state} /> },
        { title: "Server", cell: (task) => (task.server === null ? <span class="dim">none yet</span> : <Link href={paths.server(task.server)}>{task.server}</Link>) },
        { title: "Units", cell: (task) => ranges(task.rus) },
        { title: "S", class: "num", cell: (task) => task.s?.toFixed(3) ?? "" },
        { title: "Q", class: "num", cell: (task) => task.q?.toFixed(3) ?? "" },
        { title: "Started", cell: (task) => <Time at={task.started} now={now} /> },
        { title: "Took", cell: (task) => (task.started === null ? "" : duration((task.finished === null ? now : Date.parse(task.finished)) - Date.parse(task.started))) },
        { title: "Memory", class: "num", cell: (task) => (task.peak_memory_bytes === null ? "" : bytes(task.peak_memory_bytes)) },
        { title: "Outcome", cell: outcome },
        { title: "", cell: (task) => <Link href={`${paths.job(job.number ?? job.id, "logs")}?task=${task.index}`}>log</Link> },
      ]} />
      {(extra !== null || (next !== null && next !== undefined)) && (
        <p class="choices">
          {extra !== null && <button onClick={() => setExtra(null)}>First tasks</button>}
          {next !== null && next !== undefined && <button onClick={() => setExtra(`/jobs/${job.id}?first=${next}`)}>Tasks from {next} on</button>}
        </p>
      )}
    </Panel>
  );
}

function Why({ job, why }: { job: JobStatus; why: Explanation }) {
  const groups = useMemo(() => groupsOf(why.decision), [why]);
  const firstServer = job.tasks.find((task) => task.server !== null && !isFinal(task.state))?.server ?? null;
  const server = useAnswer<ServerDetails>(firstServer === null ? null : `/servers/${encodeURIComponent(firstServer)}`);
  const there = server.data?.tasks.find((task) => task.job === job.id) ?? null;
  const [isPlanning, setPlanning] = useState(false);
  return (
    <>
      {groups.length === 0 && <Panel><Empty>{why.reason === null ? "No decision has been made yet: agents are looking." : `No slot was looked at: ${why.reason}.`}</Empty></Panel>}
      {groups.map((group) => (
        <Panel title={group.decision.decision != null ? `Decision ${group.decision.decision}` : "Decision"}>
          <CandidatesPicture group={group} />
        </Panel>
      ))}
      <Panel title="Plan it with a change" aside={!isPlanning && <button onClick={() => setPlanning(true)}>Change and plan</button>}>
        {isPlanning
          ? <JobEditor key={there === null ? "plain" : "there"} initial={draftOf(job, why, there)} isPlanOnly />
          : <p class="hint">What would become of it with another target, fewer units, or spread over servers: nothing is submitted.</p>}
      </Panel>
    </>
  );
}

function Performance({ job, why }: { job: JobStatus; why: Explanation }) {
  const servers = new Set(job.tasks.map((task) => task.server));
  const history = useAnswer<PerformanceHistory>(`/jobs/${job.id}/performance`, { violation: true, server: (event: { name: string }) => servers.has(event.name) });
  const interesting = new Set([...why.troubles.map((each) => each.task), ...why.steps.map((each) => each.task)]);
  const tasks = [...job.tasks].filter((task) => task.started !== null).sort((a, b) => Number(interesting.has(b.index)) - Number(interesting.has(a.index)) || a.index - b.index);
  const [chosen, setChosen] = useState<number | null>(null);
  const task = tasks.find((each) => each.index === chosen) ?? tasks[0];
  const timeline = useMemo(() => task && timelineOf(history.data, why, task.index, task.started, Date.now()), [history.data, why, task?.index, task?.started]);
  if (task === undefined || timeline === undefined) return <Panel><Empty>No task has started: there is nothing to measure yet.</Empty></Panel>;
  const trouble = why.troubles.find((each) => each.task === task.index);
  return (
    <Panel title="Performance against what is expected" aside={
      <label>Task <select value={task.index} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
        {tasks.map((each) => <option value={each.index}>{each.index}{interesting.has(each.index) ? " (with violation or steps)" : ""}</option>)}
      </select></label>}>
      <PerformancePicture timeline={timeline} deviation={kDefaultDeviation} />
      {trouble !== undefined && (
        <>
          <h3>Likely causes</h3>
          <ul class="reasons">
            {trouble.causes.map((cause) => (
              <li><Bar parts={[{ value: cause.weight, tone: "bad" }]} total={1} />
                <span><b>{causeOf(cause)}</b>{cause.evidence !== "" && `: ${cause.evidence}`}</span></li>
            ))}
          </ul>
        </>
      )}
      <p class="hint">The dashed line is what the job expects; the band below it is what it may miss ({percent(kDefaultDeviation)} by default).
        {timeline.unheardUntil !== null && <> What was measured before <Time at={new Date(timeline.unheardUntil).toISOString()} now={timeline.now} /> is not shown: the gateway was started then.</>} Only jobs with <code>performance</code> in their job file are watched.</p>
    </Panel>
  );
}

function Pressure({ why }: { why: Explanation }) {
  const byTask = why.decision.filter((each) => each.charged != null);
  const measured = byTask.flatMap((each) => (each.measured ?? []).map((resource) => ({ task: each.task, resource, value: each.charged?.[resource] ?? 0 })));
  const shown = RESOURCES.filter((resource) => why.declared[resource] > 0 || measured.some((each) => each.resource === resource));
  if (shown.length === 0) {
    return <Panel><Empty>Nothing is known of what it presses on. Give it a profile: <code>tarcil profile run --application NAME --output NAME.yaml -- COMMAND</code> measures one.</Empty></Panel>;
  }
  return (
    <Panel title="Declared and measured pressure" aside={why.profile_assumed ? "profile assumed until it is measured" : undefined}>
      <TableBox label="Declared and measured pressure">
        <table class="pressures">
          <thead><tr><th scope="col">Resource</th><th scope="col" class="num">Declared</th><th scope="col">0 to 99</th><th scope="col" class="num">Measured</th></tr></thead>
          <tbody>
            {shown.map((resource) => {
              const values = measured.filter((each) => each.resource === resource).map((each) => each.value);
              const top = values.length === 0 ? null : Math.max(...values);
              return (
                <tr>
                  <th scope="row">{titleOf(resource)}</th>
                  <td class="num">{why.declared[resource]}</td>
                  <td>
                    <Bar parts={[{ value: why.declared[resource], tone: "active" }]} total={99} />
                    {top !== null && <Bar parts={[{ value: top, tone: top > why.declared[resource] + 5 ? "bad" : "good" }]} total={99} />}
                  </td>
                  <td class="num">{top === null ? <span class="dim">not measured</span> : `${Math.min(...values)} to ${top}`}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </TableBox>
      <p class="hint">Declared is what the profile says that one task causes on a whole reference server; measured, what its tasks were seen to cause. Placement goes by what is measured, once it is.</p>
    </Panel>
  );
}

export function JobRoute({ job, view }: { job: string; view?: string }) {
  const [, navigate] = useLocation();
  const known = view === undefined ? "tasks" : JOB_VIEWS.find((each) => each === view);
  if (known === undefined) return <Panel><Empty>A job has no page “{view}”. <button class="plain" onClick={() => navigate(paths.job(job))}>Show the job</button></Empty></Panel>;
  return <Job key={job} job={job} view={known} />;
}
