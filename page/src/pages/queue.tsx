// What waits, in order: what each wants, why it waits, when it should start, and what can be done about it.
import { Link } from "wouter-preact";
import { setPriority, steerJob } from "../api/actions";
import { useAnswer } from "../api/cache";
import type { QueueEntry, Status } from "../api/types";
import { paths } from "../model/paths";
import { remedyFor } from "../model/reasons";
import { counted, whole } from "../model/text";
import { Empty, Heading, JobLink, Loaded, Panel, Time, useNow } from "../parts/basics";
import { ActionButton } from "../parts/doing";
import { Table } from "../parts/table";

const kShown = 500;

function wants(entry: QueueEntry): string {
  const units = `${entry.rus_per_task} ${entry.rus_per_task === 1 ? "unit" : "units"}`;
  return `${whole(entry.queued)} × ${units}${entry.schedule === "gang" ? " at once" : ""}`;
}

export function Queue() {
  const queue = useAnswer<QueueEntry[]>(`/queue?limit=${kShown}`, { queue: true, job: true });
  const status = useAnswer<Status>("/status", { job: true, server: true, queue: true });
  const now = useNow();
  return (
    <>
      <Heading title="Queue">{status.data !== null && counted(status.data.waiting, "job waits", "jobs wait")}</Heading>
      <Panel>
        <Loaded answer={queue}>
          {(entries) => entries.length === 0
            ? <Empty>No job waits: whatever was submitted runs, is held, or is over. See <Link href={paths.jobs}>all jobs</Link>, or <Link href={paths.submit}>submit one</Link>.</Empty>
            : <Table label="Waiting jobs" rows={entries} keyOf={(entry) => entry.id} columns={[
                { title: "Place", class: "num", cell: (entry) => entry.ahead + 1 },
                { title: "Job", class: "named", cell: (entry) => <><JobLink job={entry} /> <span class="name">{entry.name}</span></> },
                { title: "User", cell: (entry) => entry.user },
                { title: "Priority", class: "num", cell: (entry) => `${entry.priority}${entry.lifted_priority !== entry.priority ? ` (${entry.lifted_priority})` : ""}` },
                { title: "Wants", cell: wants },
                { title: "Should start", cell: (entry) => (entry.expected_start === null ? <span class="dim">not known yet</span> : <Time at={entry.expected_start} now={now} />) },
                { title: "Why it waits, and what to do", class: "wide", cell: (entry) => <>{entry.reason ?? "just submitted"}<span class="hint">{remedyFor(entry.reason)}</span></> },
                {
                  title: "", class: "doing", cell: (entry) => {
                    const id = entry.id;
                    return (
                      <span class="buttons">
                        <ActionButton label="Sooner" done={`Priority of job ${entry.number ?? ""} is ${Math.min(100, entry.priority + 10)}.`}
                          doing={() => setPriority(id, Math.min(100, entry.priority + 10))} />
                        <ActionButton label="Hold" done={`Job ${entry.number ?? ""} is held.`} doing={() => steerJob(id, "hold")} />
                      </span>
                    );
                  },
                },
              ]} />}
        </Loaded>
      </Panel>
      {queue.data !== null && queue.data.length === kShown && <p class="hint">The first {kShown} are shown; <code>tarcil queue --all</code> prints all.</p>}
      <p class="hint">A job should start within the time shown with a probability of 0.95. The number in brackets is its priority as raised by waiting.</p>
    </>
  );
}
