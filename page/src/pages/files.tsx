// Files that are kept of a job's tasks: listed task by task, saved one by one.
import { useState } from "preact/hooks";
import { saveFile } from "../api/files";
import { useAnswer } from "../api/cache";
import type { JobStatus, JobSummary, KeptFile, KeptFiles } from "../api/types";
import { isFinal } from "../model/states";
import { bytes } from "../model/text";
import { Empty, Loaded, Panel } from "../parts/basics";
import { ActionButton } from "../parts/doing";
import { Table } from "../parts/table";

type OfTask = KeptFiles["tasks"][number];
interface Row {
  of: OfTask;
  file: KeptFile | null; // null: there is none, `whyNone` says why
}

function whyNone(of: OfTask): string {
  if (of.problem !== null) return of.problem;
  if (!isFinal(of.state)) return "its files are kept when it has ended";
  return of.files === null ? "it was never started" : "it left no such file";
}

function rowsOf(tasks: OfTask[]): Row[] {
  return tasks.flatMap((of): Row[] => (of.files !== null && of.files.length > 0 ? of.files.map((file) => ({ of, file })) : [{ of, file: null }]));
}

export function Files({ job }: { job: JobStatus }) {
  const [first, setFirst] = useState(0);
  const kept = useAnswer<KeptFiles>(`/jobs/${job.id}/files?first=${first}`, { job: (event: JobSummary) => event.id === job.id });
  return (
    <Panel>
      <Loaded answer={kept}>
        {(data) => data.results.length === 0
          ? <Empty>The job keeps no files. Write, for example, <code>results: [out/*.csv]</code> into its job file: what its tasks leave there is kept when they end.</Empty>
          : (
            <>
              <Table label="Kept files" rows={rowsOf(data.tasks)} keyOf={({ of, file }) => `${of.task} ${file?.path ?? ""}`} columns={[
                { title: "Task", class: "num", cell: ({ of }) => of.task },
                { title: "File", class: "wide", cell: ({ of, file }) => (file === null ? <span class="dim">{whyNone(of)}</span> : <span class="name">{file.path}</span>) },
                { title: "Size", class: "num", cell: ({ file }) => (file === null ? "" : bytes(file.bytes)) },
                { title: "Mode", cell: ({ file }) => file?.mode ?? "" },
                { title: "", cell: ({ of, file }) => (file === null ? "" : <ActionButton label="Save" done={`${file.path} is saved.`} doing={() => saveFile(job.id, of.task, of.attempt, file)} />) },
              ]} />
              {(first > 0 || data.next !== null) && (
                <p class="choices">
                  {first > 0 && <button onClick={() => setFirst(0)}>First tasks</button>}
                  {data.next !== null && <button onClick={() => setFirst(data.next as number)}>Tasks from {data.next} on</button>}
                </p>
              )}
              <p class="hint">Kept is what <code>results</code> of the job file names: {data.results.join(", ")}. <code>tarcil job fetch {job.number ?? job.id}</code> copies all of it.</p>
            </>
          )}
      </Loaded>
    </Panel>
  );
}
