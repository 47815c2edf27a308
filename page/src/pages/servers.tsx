// All servers: the picture of least slack, filtered, and the list.
import { useMemo, useState } from "preact/hooks";
import { Link, useLocation, useSearch } from "wouter-preact";
import { query } from "../api/client";
import { type ContentionQuery, useContention } from "../api/contention";
import type { ContentionRow } from "../api/types";
import { paths } from "../model/paths";
import { greatest, least, shortTitleOf } from "../model/resources";
import { type SlackOrder, ordered } from "../model/slack";
import { counted, signed, whole } from "../model/text";
import { Empty, Heading, Loaded, Panel, State } from "../parts/basics";
import { LongTable } from "../parts/table";
import { SlackPicture } from "../pictures/slack_picture";

const kRowHeight = 32;

export function Servers() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const given = new URLSearchParams(search);
  const platform = given.get("platform") ?? "", rack = given.get("rack") ?? "", bucket = given.get("bucket") ?? "", part = given.get("name") ?? "";
  const by = (given.get("by") ?? "server") as ContentionQuery["by"];
  const order = (given.get("order") ?? "slack") as SlackOrder;
  const change = (values: Record<string, string>) =>
    navigate(`${paths.servers}${query({ ...Object.fromEntries(given), ...values })}`, { replace: true });
  const platforms = useContention({ by: "platform" });
  const racks = useContention({ by: "rack" });
  const buckets = useContention({ by: "bucket" });
  const rows = useContention({ by, platform, rack, bucket });
  const [zoom, setZoom] = useState<Set<string> | null>(null);
  const shown = useMemo(
    () => (rows.data ?? []).filter((row) => (part === "" || row.name.includes(part)) && (zoom === null || zoom.has(row.name))), [rows.data, part, zoom]);
  const sorted = useMemo(() => ordered(shown, order), [shown, order]);
  const isNarrow = platform !== "" || rack !== "" || bucket !== "" || part !== "" || zoom !== null;
  const word = by === "server" ? "server" : by;
  return (
    <>
      <Heading title="Servers">{rows.data !== null && counted(shown.reduce((sum, row) => sum + row.servers, 0), "server")}</Heading>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>Platform
          <select value={platform} onChange={(event) => change({ platform: event.currentTarget.value })}>
            <option value="">all</option>{(platforms.data ?? []).map((row) => <option>{row.name}</option>)}
          </select></label>
        <label>Rack
          <select value={rack} onChange={(event) => change({ rack: event.currentTarget.value })}>
            <option value="">all</option>{(racks.data ?? []).map((row) => <option>{row.name}</option>)}
          </select></label>
        <label>Bucket
          <select value={bucket} onChange={(event) => change({ bucket: event.currentTarget.value })}>
            <option value="">all</option>{bucketsOf(buckets.data ?? []).map((row) => <option value={row.name}>{bucketTitle(row)}</option>)}
          </select></label>
        <label>Name has <input size={10} value={part} onInput={(event) => change({ name: event.currentTarget.value })} /></label>
        <label>Show by
          <select value={by} onChange={(event) => { setZoom(null); change({ by: event.currentTarget.value }); }}><option>server</option><option>rack</option><option>platform</option><option>bucket</option></select></label>
        <label>Order
          <select value={order} onChange={(event) => change({ order: event.currentTarget.value })}><option value="slack">least slack first</option><option value="name">name</option></select></label>
        {isNarrow && <button type="button" class="plain" onClick={() => { setZoom(null); navigate(paths.servers, { replace: true }); }}>Show all</button>}
      </form>
      <Panel title="How much more pressure is tolerated" wide>
        <Loaded answer={rows}>
          {() => shown.length === 0
            ? <Empty>{isNarrow ? "No server is like that. Loosen the filters above." : <>No server has joined. Start a monitor: <code>tarcil serve monitor</code>.</>}</Empty>
            : <SlackPicture rows={shown} order={order} onZoom={(some) => setZoom(new Set(some.map((row) => row.name)))} />}
        </Loaded>
      </Panel>
      {shown.length > 0 && (
        <LongTable label="Servers" rows={sorted} rowHeight={kRowHeight} keyOf={(row) => row.name} columns={[
          { title: word, class: "c-name", cell: (row) => nameOf(row, by) },
          { title: "State", class: "c-state", cell: (row) => (row.servers === 1 ? <State state={Object.keys(row.states)[0] ?? "up"} /> : statesOf(row)) },
          { title: "Platform", class: "c-user", cell: (row) => row.platform },
          { title: "Rack", class: "c-user", cell: (row) => row.rack },
          { title: "Free units", class: "c-took", cell: (row) => `${whole(row.free_units)} of ${whole(row.units)}` },
          { title: "Least slack", class: "c-time", cell: (row) => slackOf(row) },
          { title: "Most contended", class: "c-why", cell: (row) => greatest(row.contention).slice(0, 3).map((each) => `${shortTitleOf(each.resource)} ${each.value}`).join(", ") },
        ]} />
      )}
    </>
  );
}

// By number; what they are like is said by what they are most contended on.
function bucketsOf(rows: ContentionRow[]): ContentionRow[] {
  return [...rows].sort((a, b) => Number(a.name) - Number(b.name));
}

function bucketTitle(row: ContentionRow): string {
  const most = greatest(row.contention)[0];
  return `${row.name}, ${row.platform ?? ""}: ${counted(row.servers, "server")}${most === undefined ? "" : `, ${shortTitleOf(most.resource)} up to ${most.value}`}`;
}

function nameOf(row: ContentionRow, by: string) {
  if (by === "server") return <Link href={paths.server(row.name)}>{row.name}</Link>;
  return <Link href={`${paths.servers}${query({ [by]: row.name })}`}>{row.name}</Link>;
}

function statesOf(row: ContentionRow): string {
  return Object.entries(row.states).map(([state, n]) => `${whole(n)} ${state}`).join(", ");
}

function slackOf(row: ContentionRow) {
  const found = least(row.slack);
  if (found === null) return <span class="dim">nobody to hurt</span>;
  return <span class={found.value < 0 ? "bad-text" : ""}>{shortTitleOf(found.resource)} {signed(found.value)}</span>;
}
