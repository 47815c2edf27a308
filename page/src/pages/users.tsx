// Who has used how much of the cluster.
import { Link } from "wouter-preact";
import { useAnswer } from "../api/cache";
import type { Usage } from "../api/types";
import { paths } from "../model/paths";
import { whole } from "../model/text";
import { Bar, Empty, Heading, Loaded, Panel } from "../parts/basics";
import { Table } from "../parts/table";

export function Users() {
  const usage = useAnswer<Usage[]>("/users", { job: true });
  return (
    <>
      <Heading title="Users" />
      <Panel>
        <Loaded answer={usage}>
          {(rows) => {
            if (rows.length === 0) return <Empty>No task has ended yet: usage is counted when tasks end.</Empty>;
            const most = Math.max(...rows.map((row) => row.ru_seconds));
            return (
              <Table label="Usage" rows={[...rows].sort((a, b) => b.ru_seconds - a.ru_seconds)} keyOf={(row) => row.user} columns={[
                { title: "User", cell: (row) => <Link href={`${paths.jobs}?user=${encodeURIComponent(row.user)}`}>{row.user}</Link> },
                { title: "Shares", class: "num", cell: (row) => row.shares },
                { title: "Unit hours", class: "num", cell: (row) => (row.ru_seconds / 3600).toFixed(2) },
                { title: "", class: "wide", cell: (row) => <Bar parts={[{ value: row.ru_seconds, tone: "active" }]} total={most} /> },
                { title: "Starts", class: "num", cell: (row) => whole(row.attempts) },
                { title: "Done", class: "num", cell: (row) => whole(row.jobs.done) },
                { title: "Failed", class: "num", cell: (row) => whole(row.jobs.failed) },
                { title: "Cancelled", class: "num", cell: (row) => whole(row.jobs.cancelled) },
                { title: "Lost", class: "num", cell: (row) => whole(row.jobs.lost) },
              ]} />
            );
          }}
        </Loaded>
      </Panel>
      <p class="hint">Unit hours are resource units times how long tasks held them; tasks that still run are not counted yet. Shares say how much a user gets beside others whose jobs wait:
        an operator sets them with <code>tarcil user set NAME --shares N</code>.</p>
    </>
  );
}
