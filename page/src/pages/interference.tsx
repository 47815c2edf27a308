// Applications: who hurts whom, and what is known of each.
import { useState } from "preact/hooks";
import { Link, useLocation, useSearch } from "wouter-preact";
import { useAnswer } from "../api/cache";
import type { Interference, InterferencePair, Profile, Violation } from "../api/types";
import { remedyOf, sentenceOf, worseLoss } from "../model/interference";
import { paths } from "../model/paths";
import { partOf } from "../model/performance";
import { greatest, shortTitleOf } from "../model/resources";
import { counted, percent, whole } from "../model/text";
import { Empty, Heading, Loaded, Panel, Time, useNow } from "../parts/basics";
import { Table } from "../parts/table";
import { InterferencePicture } from "../pictures/interference_picture";

export function Applications() {
  const interference = useAnswer<Interference>("/interference?limit=100", { violation: true, job: true });
  const profiles = useAnswer<Profile[]>("/profiles");
  const [order, setOrder] = useState<"tasks" | "suffers" | "name">("suffers");
  const given = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const chosen = interference.data?.pairs.find((pair) => pair.application === given.get("application") && pair.beside === given.get("beside")) ?? null;
  return (
    <>
      <Heading title="Applications" />
      <Panel title="Who hurts whom" wide aside={
        <label>Order <select value={order} onChange={(event) => setOrder(event.currentTarget.value as typeof order)}>
          <option value="suffers">suffers most first</option><option value="tasks">most tasks first</option><option value="name">name</option></select></label>}>
        <Loaded answer={interference}>
          {(data) => data.applications.length === 0
            ? <Empty>No application is known. Submit a job with <code>application</code> and a <code>profile</code>, or store one: <code>tarcil profile import FILE</code>.</Empty>
            : (
              <div class="beside-picture">
                <InterferencePicture data={data} order={order} chosen={chosen} onChoose={(pair) => navigate(paths.pair(pair.application, pair.beside), { replace: true })} />
                <PairDetails pair={chosen} />
              </div>
            )}
        </Loaded>
      </Panel>
      <Panel title="Profiles">
        <Loaded answer={profiles}>
          {(data) => data.length === 0
            ? <Empty>No profile is stored. <code>tarcil profile run --application NAME --output NAME.yaml -- COMMAND</code> measures one, <code>tarcil profile import NAME.yaml</code> stores it.</Empty>
            : <Profiles profiles={data} />}
        </Loaded>
      </Panel>
    </>
  );
}

function PairDetails({ pair }: { pair: InterferencePair | null }) {
  const violations = useAnswer<Violation[]>("/violations", { violation: true });
  if (pair === null) return <div class="details"><h3>No pair is chosen</h3><p class="hint">Choose a cell: a row suffers from a column.</p></div>;
  const involved = (violations.data ?? []).filter((violation) => violation.causes.some((cause) => cause.resource === pair.resource && cause.neighbour !== null));
  return (
    <div class="details">
      <h3>{pair.application} beside {pair.beside}</h3>
      <p>{sentenceOf(pair)}</p>
      <p class={`callout ${worseLoss(pair) > 0 ? "warn" : "good"}`}>{remedyOf(pair)}</p>
      <p><Link href={paths.application(pair.application)}>Profile of {pair.application}</Link> · <Link href={paths.application(pair.beside)}>Profile of {pair.beside}</Link></p>
      {pair.observed !== null && (
        <>
          <h3>Tasks that suffer through {shortTitleOf(pair.resource)} now</h3>
          {involved.length === 0
            ? <p class="hint">None any more.</p>
            : <ul class="plainlist">{involved.slice(0, 20).map((violation) => (
                <li><Link href={paths.job(violation.number ?? violation.job, "performance")}>Task {violation.task} of job {violation.number ?? violation.job.slice(0, 8)}</Link> on{" "}
                  <Link href={paths.server(violation.server)}>{violation.server}</Link>: {percent(partOf(violation))}
                  <span class="hint">{violation.causes.map((cause) => cause.neighbour).filter((each) => each !== null).slice(0, 2).join("; ")}</span></li>
              ))}</ul>}
        </>
      )}
    </div>
  );
}

function errorsOf(profile: Profile): string {
  const inferred = profile.entries.filter((entry) => entry.expected_error !== null);
  if (inferred.length === 0) return "";
  return `${counted(inferred.length, "entry", "entries")} inferred, off by ${whole(Math.max(...inferred.map((entry) => entry.expected_error as number)))} at most`;
}

function originsOf(profile: Profile): string {
  const by = new Map<string, number>();
  for (const entry of profile.entries) by.set(entry.origin, (by.get(entry.origin) ?? 0) + 1);
  return [...by].sort((a, b) => b[1] - a[1]).map(([origin, n]) => `${n} ${origin}`).join(", ");
}

function Profiles({ profiles }: { profiles: Profile[] }) {
  const now = useNow();
  const text = (values: Profile["caused"] | undefined) => values === undefined ? "" : greatest(values).slice(0, 3).map((each) => `${shortTitleOf(each.resource)} ${each.value}`).join(", ") || "nothing";
  return (
    <Table label="Profiles" rows={profiles} keyOf={(profile) => `${profile.application} ${profile.state ?? ""} ${profile.user ?? ""}`} columns={[
      { title: "Application", cell: (profile) => <Link href={paths.application(profile.application)}>{profile.application}</Link> },
      { title: "State", cell: (profile) => profile.state ?? "stored" },
      { title: "Causes most", cell: (profile) => text(profile.caused) },
      { title: "Where its entries are from", cell: (profile) => (profile.entries === undefined ? profile.reason ?? "" : originsOf(profile)) },
      { title: "Expected error", cell: (profile) => (profile.entries === undefined ? "" : errorsOf(profile)) },
      { title: "Stored", cell: (profile) => <Time at={profile.stored ?? null} now={now} /> },
    ]} />
  );
}
