// One server: what runs there, who presses on what, who has more than it tolerates, and what the operator may do.
import { Link } from "wouter-preact";
import { steerServer } from "../api/actions";
import { useAnswer } from "../api/cache";
import type { ServerDetails, ServerTask, Violation } from "../api/types";
import { paths } from "../model/paths";
import { RESOURCES, type Resource, greatest, shortTitleOf, titleOf } from "../model/resources";
import { bytes, counted, ranges, signed } from "../model/text";
import { Bar, Empty, Field, Heading, Loaded, Panel, State, TaskLink } from "../parts/basics";
import { ActionButton } from "../parts/doing";
import { Table, TableBox } from "../parts/table";

export function Server({ name, isOperator }: { name: string; isOperator: boolean }) {
  const server = useAnswer<ServerDetails>(`/servers/${encodeURIComponent(name)}`, {
    server: (event) => event.name === name, violation: (event: { server: string; violations: Violation[] }) => event.server === name, job: true,
  });
  return <Loaded answer={server}>{(data) => <Details server={data} isOperator={isOperator} />}</Loaded>;
}

function Details({ server, isOperator }: { server: ServerDetails; isOperator: boolean }) {
  const { name } = server;
  return (
    <>
      <Heading title={name}>
        <State state={server.state} />
        {isOperator && (
          <span class="buttons">
            {server.cordoned || server.draining
              ? <ActionButton label="Uncordon" done={`${name} may have new tasks.`} doing={() => steerServer(name, "uncordon")} />
              : <ActionButton label="Cordon" done={`${name} gets no new tasks.`} doing={() => steerServer(name, "cordon")} />}
            {!server.draining && <ActionButton label="Drain" isGrave done={`${name} is being drained.`} doing={() => steerServer(name, "drain")}
              question={`Drain ${name}? It gets no new tasks, and its ${counted(server.tasks.length, "task")} go elsewhere: those that run are started again there.`} />}
          </span>
        )}
      </Heading>
      {server.reason !== null && <p class="callout warn"><b>Why: </b>{server.reason}</p>}
      <dl class="fields">
        <Field name="Platform"><Link href={`${paths.servers}?platform=${encodeURIComponent(server.platform)}`}>{server.platform}</Link></Field>
        <Field name="Rack"><Link href={`${paths.servers}?rack=${encodeURIComponent(server.rack)}`}>{server.rack}</Link></Field>
        <Field name="Units">{server.rus - server.free} of {server.rus} in use</Field>
        <Field name="Memory claimed">{bytes(server.memory_allocated_bytes)} of {bytes(server.memory_allocatable_bytes)}</Field>
        <Field name="Disk claimed">{bytes(server.disk_allocated_bytes)} of {bytes(server.disk_allocatable_bytes)}</Field>
        {server.missing.length > 0 && <Field name="Cannot">{server.missing.join(", ")}</Field>}
      </dl>
      <Panel title="Pressure there" aside="0 to 99, on a task that is placed there">
        <Contention server={server} />
      </Panel>
      <Panel title="Tasks" aside={counted(server.tasks.length, "task")}>
        {server.tasks.length === 0
          ? <Empty>No task runs here. {server.cordoned ? "It is cordoned: uncordon it to let it have some." : "It is free for whatever is submitted."}</Empty>
          : <Tasks server={server} />}
      </Panel>
    </>
  );
}

function limitOf(server: ServerDetails, resource: Resource): { slack: number; task: ServerTask } | null {
  let found: { slack: number; task: ServerTask } | null = null;
  for (const task of server.tasks) {
    if (task.tolerated[resource] >= 99) continue;
    const others = Math.min(99, Math.max(0, server.contention[resource] - task.charged[resource]));
    const slack = task.tolerated[resource] - others;
    if (found === null || slack < found.slack) found = { slack, task };
  }
  return found;
}

function Contention({ server }: { server: ServerDetails }) {
  return (
    <TableBox label="Pressure by resource">
      <table class="pressures">
        <thead><tr><th scope="col">Resource</th><th scope="col" class="num">Pressure</th><th scope="col">Tasks, and what else is there</th><th scope="col">Who tolerates least</th></tr></thead>
        <tbody>
          {RESOURCES.map((resource) => {
            const all = server.contention[resource], background = server.background[resource];
            const absent = server.absent[resource], limit = limitOf(server, resource);
            const causes = server.tasks.filter((task) => task.charged[resource] > 0).sort((a, b) => b.charged[resource] - a.charged[resource]).slice(0, 3);
            return (
              <tr class={absent === undefined ? "" : "unmeasured"}>
                <th scope="row" title={absent === undefined ? undefined : `not measured: ${absent}`}>{titleOf(resource)}{absent !== undefined && <span class="tag hatch">not measured</span>}</th>
                <td class="num">{all}</td>
                <td>
                  <Bar parts={[{ value: all - (background ?? 0), tone: "active" }, { value: background ?? 0, tone: "warn" }]} total={99} />
                  <span class="how">{causes.map((task) => `job ${task.number ?? "?"}.${task.task}: ${task.charged[resource]}`).join(", ")}</span>
                </td>
                <td>{limit === null ? <span class="dim">nobody to hurt</span>
                  : <span class={limit.slack < 0 ? "bad-text" : ""}>job {limit.task.number ?? "?"}.{limit.task.task}: slack {signed(limit.slack)}</span>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </TableBox>
  );
}

function pressuresText(values: Record<Resource, number>): string {
  const found = greatest(values);
  return found.length === 0 ? "nothing" : found.slice(0, 4).map((each) => `${shortTitleOf(each.resource)} ${each.value}`).join(", ");
}

function Tasks({ server }: { server: ServerDetails }) {
  return (
    <Table label="Tasks on the server" rows={server.tasks} keyOf={(task) => `${task.job}.${task.task}.${task.rus[0]}`} columns={[
      { title: "Job", cell: (task) => <TaskLink task={task} /> },
      { title: "Units", cell: (task) => ranges(task.rus) },
      { title: "Causes", cell: (task) => pressuresText(task.charged) },
      { title: "By", cell: (task) => (task.measured.length > 0 ? "measured in part" : "profile") },
      { title: "Tolerates less than 99 of", cell: (task) => RESOURCES.filter((resource) => task.tolerated[resource] < 99).map((resource) => `${shortTitleOf(resource)} ${task.tolerated[resource]}`).join(", ") || "nothing: bears all" },
      { title: "Has too much of", cell: (task) => (task.over.length === 0 ? <span class="dim">nothing</span> : <b class="bad-text">{task.over.map(titleOf).join(", ")}</b>) },
    ]} />
  );
}
