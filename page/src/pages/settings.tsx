// How slots are sampled and judged, what that promises, and what other settings would.
import { useState } from "preact/hooks";
import { useAnswer } from "../api/cache";
import { query } from "../api/client";
import type { SampleSize, Settings as Values } from "../api/types";
import { promiseOf } from "../model/promise";
import { counted, percent } from "../model/text";
import { Command, Field, Heading, Loaded, Panel } from "../parts/basics";
import { Table } from "../parts/table";
import { LastDay } from "./replay";

const CONFIDENCES = ["0.95", "0.99", "0.999", "0.9999"];
const RARITIES = ["0.2", "0.1", "0.05", "0.02", "0.01"];

export function Settings({ isOperator }: { isOperator: boolean }) {
  const settings = useAnswer<Values>("/settings");
  return (
    <>
      <Heading title="Settings" />
      <Loaded answer={settings}>
        {(data) => (
          <>
            <Panel title="How slots are sampled">
              <p class="lead">{promiseOf(data)}</p>
              <dl class="fields">
                <Field name="Target">{percent(data.target)} of the best speed</Field>
                <Field name="Confidence">{data.confidence}</Field>
                <Field name="Rarity (p)">{data.rarity}</Field>
                <Field name="Draws for one task (R)">{data.ratio === null ? `at most ${data.draws}, at least ${data.floor}` : `${data.ratio}, fixed`}</Field>
                <Field name="Cap">{data.cap === null ? "none" : data.cap}</Field>
              </dl>
            </Panel>
            <Panel title="How slots are judged">
              <dl class="fields">
                <Field name="Satisfaction">{data.model}</Field>
                <Field name="Contention">{data.contention}</Field>
                <Field name="Ranking">by {data.ranking}</Field>
                <Field name="Margin">{counted(data.margin, "point")}</Field>
                <Field name="Noise floor">{counted(data.noise_floor, "point")}</Field>
                <Field name="Neighbours">{data.protect_neighbours ? "protected" : "not protected"}</Field>
                <Field name="Neighbour floor">S of {data.neighbour_floor}</Field>
                <Field name="Throttling">{data.throttling}</Field>
              </dl>
            </Panel>
            <WhatWouldChange settings={data} />
            {isOperator && <LastDay settings={data} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function WhatWouldChange({ settings }: { settings: Values }) {
  const [confidence, setConfidence] = useState(String(settings.confidence));
  const [rarity, setRarity] = useState(String(settings.rarity));
  const choices = (known: string[], own: number) => [...new Set([...known, String(own)])].sort((a, b) => Number(a) - Number(b));
  const ps = choices(RARITIES, settings.rarity);
  const table = useAnswer<SampleSize[]>(`/settings/table${query({ p: ps.join(","), tasks: "1,8,100", confidence })}`);
  const drawn = table.data?.find((row) => row.p === Number(rarity) && row.tasks === 1)?.samples;
  return (
    <Panel title="What would change">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>Confidence <select value={confidence} onChange={(event) => setConfidence(event.currentTarget.value)}>{choices(CONFIDENCES, settings.confidence).map((each) => <option>{each}</option>)}</select></label>
        <label>Rarity <select value={rarity} onChange={(event) => setRarity(event.currentTarget.value)}>{ps.map((each) => <option>{each}</option>)}</select></label>
      </form>
      <p class="lead" role="status">
        {drawn !== undefined && <>A decision for one task would draw at most <b>{drawn}</b> slots, not {settings.draws}. {promiseOf({ ...settings, rarity: Number(rarity), confidence: Number(confidence) })}</>}
      </p>
      <Loaded answer={table}>
        {(rows) => (
          <Table label="Draws by rarity and tasks" rows={rows} keyOf={(row) => `${row.p} ${row.tasks}`} columns={[
            { title: "Share acceptable (p)", class: "num", cell: (row) => row.p },
            { title: "Tasks", class: "num", cell: (row) => row.tasks },
            { title: "Draws a task (R)", class: "num", cell: (row) => Number(row.ratio.toFixed(2)) },
            { title: "Draws", class: "num", cell: (row) => row.samples },
            { title: "Guarantee", class: "num", cell: (row) => percent(row.guarantee) },
          ]} />
        )}
      </Loaded>
      <p>An operator sets it; running agents follow at once: <Command>{`tarcil tune --rarity ${rarity} --confidence ${confidence}`}</Command></p>
    </Panel>
  );
}
