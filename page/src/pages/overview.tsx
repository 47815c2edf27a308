// The cluster within a minute: does it do what jobs expect, who hurts whom, why jobs wait, where it is tight.
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { useAnswer } from "../api/cache";
import { type ContentionQuery, useContention } from "../api/contention";
import type { Interference, QueueEntry, Sharing, Status, Violation } from "../api/types";
import { observedLoss, predictedLoss, remedyOf, worstPairs } from "../model/interference";
import { paths } from "../model/paths";
import { causeOf, partOf } from "../model/performance";
import { remedyFor } from "../model/reasons";
import { titleOf } from "../model/resources";
import { counted, percent, whole } from "../model/text";
import { Bar, Empty, Heading, JobLink, Loaded, Panel, Time, useNow } from "../parts/basics";
import { SharingTile } from "../pictures/sharing_tile";
import { SlackPicture } from "../pictures/slack_picture";

export const kManyServers = 4_000;

export function Overview() {
  const status = useAnswer<Status>("/status", { job: true, server: true, queue: true });
  const sharing = useAnswer<Sharing>("/sharing", { job: true, server: true, violation: true });
  return (
    <>
      <Heading title="Overview" />
      {status.data?.warning && <p class="problem" role="alert">{status.data.warning}</p>}
      <div class="tiles">
        {sharing.data !== null && <SharingTile sharing={sharing.data} />}
        <Loaded answer={status}>{(data) => <StatusTiles status={data} />}</Loaded>
      </div>
      <div class="two">
        <WhoHurtsWhom />
        <WhyJobsWait />
      </div>
      <Tightness status={status.data} />
    </>
  );
}

function StatusTiles({ status }: { status: Status }) {
  const used = status.units - status.free_units;
  const servers = Object.values(status.servers).reduce((a, b) => a + b, 0);
  const troubled = Object.entries(status.servers).filter(([state]) => state !== "up").map(([state, n]) => `${n} ${state}`);
  const bad = Object.entries(status.ended_badly).map(([state, n]) => `${whole(n as number)} ${state}`);
  return (
    <>
      <div class="tile">
        <h2>Units in use</h2>
        <p class="figure">{whole(used)}<small> of {whole(status.units)}</small></p>
        <Bar parts={[{ value: used, tone: "active" }]} total={status.units} />
        <p class="note"><Link href={paths.servers}>{counted(servers, "server")}</Link>{troubled.length > 0 && `, ${troubled.join(", ")}`}</p>
      </div>
      <div class="tile">
        <h2>Jobs</h2>
        <p class="figure">{whole(status.jobs.running ?? 0)}<small> running</small></p>
        <p class="note">
          <Link href={paths.queue}>{whole(status.waiting)} waiting</Link>
          {bad.length > 0 && <> · <Link href={`${paths.jobs}?state=failed,lost`}>{bad.join(", ")}</Link></>}
        </p>
      </div>
    </>
  );
}

function WhoHurtsWhom() {
  const interference = useAnswer<Interference>("/interference?limit=50", { violation: true, job: true });
  const violations = useAnswer<Violation[]>("/violations", { violation: true });
  return (
    <Panel title="Who hurts whom" aside={<Link href={paths.interference}>All applications</Link>}>
      <Loaded answer={interference}>
        {(data) => {
          const pairs = worstPairs(data, 5);
          if (pairs.length === 0) {
            return <Empty>No application hurts another. {data.applications.length === 0 && "Submit a job that names its application, with a profile, to see what it does to others."}</Empty>;
          }
          return (
            <ul class="pairs">
              {pairs.map((pair, i) => (
                <li>
                  <Link href={paths.pair(pair.application, pair.beside)}><b>{pair.beside}</b> hurts <b>{pair.application}</b></Link>
                  <span class="how">through {titleOf(pair.resource)}</span>
                  <Bar parts={[{ value: Math.max(predictedLoss(pair), observedLoss(pair)), tone: pair.observed ? "bad" : "warn" }]} total={1} />
                  <span class="how">
                    {pair.observed !== null && <b>measured: {pair.application} reaches {percent(pair.observed.performance)} of what is expected; </b>}
                    profiles predict {percent(1 - predictedLoss(pair))}{pair.observed === null && " where they meet"}
                    {pair.observed !== null && (i === 0 || remedyOf(pairs[i - 1]) !== remedyOf(pair)) && <span class="hint">What to do: {remedyOf(pair)}</span>}
                  </span>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
      {violations.data !== null && violations.data.length > 0 && (
        <>
          <h3>Below target now</h3>
          <ul class="plainlist">
            {violations.data.slice(0, 5).map((violation) => (
              <li>
                <Link href={paths.job(violation.number ?? violation.job, "performance")}>Task {violation.task} of job {violation.number ?? violation.job.slice(0, 8)}</Link>
                {" "}on <Link href={paths.server(violation.server)}>{violation.server}</Link> reaches {percent(partOf(violation))}
                {violation.causes.length > 0 && <>; likely cause: {causeOf(violation.causes[0])}</>}
              </li>
            ))}
          </ul>
          {violations.data.length > 5 && <p class="hint">and {counted(violations.data.length - 5, "more task")}.</p>}
        </>
      )}
    </Panel>
  );
}

function WhyJobsWait() {
  const queue = useAnswer<QueueEntry[]>("/queue?limit=6", { queue: true, job: true });
  const now = useNow();
  return (
    <Panel title="Why jobs wait" aside={<Link href={paths.queue}>The queue</Link>}>
      <Loaded answer={queue}>
        {(entries) => entries.length === 0
          ? <Empty>No job waits. <Link href={paths.submit}>Submit one</Link>, or with <code>tarcil submit</code>.</Empty>
          : (
            <ul class="waiting">
              {entries.slice(0, 6).map((entry) => (
                <li>
                  <JobLink job={entry} /> <b class="name">{entry.name}</b>
                  <span class="how">{entry.expected_start === null ? "start not known yet" : <>should start <Time at={entry.expected_start} now={now} /></>}</span>
                  <p>{entry.reason ?? "just submitted"}</p>
                  <p class="hint">{remedyFor(entry.reason)}</p>
                </li>
              ))}
            </ul>
          )}
      </Loaded>
    </Panel>
  );
}

// Of very many servers, racks: a picture of all is one click away.
function Tightness({ status }: { status: Status | null }) {
  const [by, setBy] = useState<ContentionQuery["by"] | null>(null);
  const servers = status === null ? 0 : Object.values(status.servers).reduce((a, b) => a + b, 0);
  const asked = by ?? (servers > kManyServers ? "rack" : "server");
  return (
    <Panel title="Where it is tight" wide
      aside={<>{servers > kManyServers && <button class="plain" onClick={() => setBy(asked === "rack" ? "server" : "rack")}>by {asked === "rack" ? "server" : "rack"}</button>}
        <Link href={paths.servers}>Servers</Link></>}>
      {status !== null && <TightPicture by={asked} />}
    </Panel>
  );
}

function TightPicture({ by }: { by: ContentionQuery["by"] }) {
  const rows = useContention({ by });
  return (
    <Loaded answer={rows}>
      {(data) => data.length === 0
        ? <Empty>No server has joined. Start a monitor: <code>tarcil serve monitor</code>, or <code>tarcil up --servers 4</code> to try it here.</Empty>
        : <SlackPicture rows={data} order="slack" rowHeight={18} />}
    </Loaded>
  );
}
