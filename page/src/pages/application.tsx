// One application: its profile entry by entry, where each is from, how far it may be off, and what was observed in runs.
import { useAnswer } from "../api/cache";
import type { Interference, Profile } from "../api/types";
import { observedLoss, predictedLoss, worseLoss } from "../model/interference";
import { paths } from "../model/paths";
import { RESOURCES, titleOf } from "../model/resources";
import { counted, metricValue, percent, whole } from "../model/text";
import { Bar, Empty, Field, Heading, Loaded, Panel, Time, useNow } from "../parts/basics";
import { Table, TableBox } from "../parts/table";
import { Link } from "wouter-preact";

export function Application({ name }: { name: string }) {
  const profile = useAnswer<Profile>(`/profiles/${encodeURIComponent(name)}`);
  const interference = useAnswer<Interference>("/interference?limit=100", { violation: true, job: true });
  const isUnknown = profile.error?.status === 404;
  return (
    <>
      <Heading title={name}><Link href={paths.interference}>All applications</Link></Heading>
      {isUnknown
        ? <Panel title="Profile"><Empty>No profile is stored under this name; its jobs bring their own. <code>tarcil profile import FILE</code> stores one for all.</Empty></Panel>
        : <Loaded answer={profile}>{(data) => <Details profile={data} />}</Loaded>}
      {interference.data !== null && <Neighbours name={name} data={interference.data} />}
    </>
  );
}

function entryOf(profile: Profile, resource: string, kind: string) {
  return profile.entries.find((entry) => entry.resource === resource && entry.kind === kind);
}

function Entry({ profile, resource, kind }: { profile: Profile; resource: string; kind: string }) {
  const entry = entryOf(profile, resource, kind);
  if (entry === undefined) return null;
  return <span class="how">{entry.origin}{entry.expected_error !== null && `, off by ${whole(entry.expected_error)} or so`}</span>;
}

function Details({ profile }: { profile: Profile }) {
  const now = useNow();
  const { observed } = profile;
  return (
    <>
      <dl class="fields">
        {profile.stored !== null && <Field name="Stored"><Time at={profile.stored} now={now} /> by {profile.user}, revision {profile.revision}</Field>}
        {profile.note !== "" && <Field name="Note">{profile.note}</Field>}
        <Field name="Observed">{observed === null ? "not yet" : `${counted(observed.runs, "run")} by ${observed.user}`}</Field>
        {Object.entries(profile.platforms).map(([platform, factor]) => <Field name={`On ${platform}`}>{percent(factor)} of the best</Field>)}
      </dl>
      <Panel title="What it causes, and what it tolerates" aside="0 to 99, of a whole reference server">
        <TableBox label="Causes and tolerates">
          <table class="pressures">
            <thead><tr><th scope="col">Resource</th><th scope="col" class="num">Causes</th><th scope="col">Because</th><th scope="col" class="num">Observed</th>
              <th scope="col" class="num">Tolerates</th><th scope="col">Because</th></tr></thead>
            <tbody>
              {RESOURCES.map((resource) => {
                const seen = observed?.caused[resource];
                return (
                  <tr>
                    <th scope="row">{titleOf(resource)}</th>
                    <td class="num">{profile.caused[resource]}</td>
                    <td><Bar parts={[{ value: profile.caused[resource], tone: "active" }]} total={99} /><Entry profile={profile} resource={resource} kind="caused" /></td>
                    <td class="num">{seen === undefined ? <span class="dim">—</span> : `${whole(seen.mean)} ± ${whole(seen.spread)}`}</td>
                    <td class="num">{profile.tolerated[resource]}</td>
                    <td><Bar parts={[{ value: profile.tolerated[resource], tone: "good" }]} total={99} /><Entry profile={profile} resource={resource} kind="tolerated" /></td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </TableBox>
      </Panel>
      {observed !== null && observed.performances.length > 0 && (
        <Panel title="How it performs">
          <Table label="Performance by platform" rows={observed.performances} keyOf={(each) => `${each.platform} ${each.metric} ${each.rus}`} columns={[
            { title: "Platform", cell: (each) => each.platform },
            { title: "Units", class: "num", cell: (each) => each.rus },
            { title: "By", cell: (each) => each.metric },
            { title: "In the mean", class: "num", cell: (each) => metricValue(each.mean) },
            { title: "Spread", class: "num", cell: (each) => metricValue(each.spread) },
            { title: "Runs", class: "num", cell: (each) => each.runs },
          ]} />
        </Panel>
      )}
    </>
  );
}

function Neighbours({ name, data }: { name: string; data: Interference }) {
  const suffers = data.pairs.filter((pair) => pair.application === name && worseLoss(pair) > 0).sort((a, b) => worseLoss(b) - worseLoss(a));
  const hurts = data.pairs.filter((pair) => pair.beside === name && worseLoss(pair) > 0).sort((a, b) => worseLoss(b) - worseLoss(a));
  const list = (title: string, pairs: typeof suffers, other: "application" | "beside", none: string) => (
    <Panel title={title}>
      {pairs.length === 0 ? <Empty>{none}</Empty> : (
        <ul class="pairs">
          {pairs.slice(0, 12).map((pair) => (
            <li><Link href={paths.pair(pair.application, pair.beside)}><b>{pair[other]}</b></Link><span class="how">through {titleOf(pair.resource)}</span>
              <Bar parts={[{ value: worseLoss(pair), tone: pair.observed ? "bad" : "warn" }]} total={1} />
              <span class="how">predicted {percent(1 - predictedLoss(pair))}{pair.observed !== null && `, observed ${percent(1 - observedLoss(pair))}`}</span></li>
          ))}
        </ul>
      )}
    </Panel>
  );
  return <div class="two">{list("It suffers from", suffers, "beside", "Nothing that is known slows it down.")}{list("It hurts", hurts, "application", "It disturbs nothing that is known.")}</div>;
}
